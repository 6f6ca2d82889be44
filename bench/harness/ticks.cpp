// SPDX-License-Identifier: Apache-2.0
// Calibration of the finest clock.
#include "harness/ticks.hpp"

#include <algorithm>
#include <array>

namespace tutti::bench {
namespace {

double calibrate() {
  constexpr std::uint64_t interval_ns = 20'000'000;
  const std::uint64_t begin_ns = platform::now_ns();
  const std::uint64_t begin = ordered_ticks();
  std::uint64_t end_ns = begin_ns;
  while (end_ns - begin_ns < interval_ns) end_ns = platform::now_ns();
  const std::uint64_t end = ordered_ticks();
  return static_cast<double>(end_ns - begin_ns) / static_cast<double>(end - begin);
}

double measure_timer() {
  std::array<std::uint64_t, 1001> costs{};
  for (auto& cost : costs) {
    const std::uint64_t first = ordered_ticks();
    cost = ordered_ticks() - first;
  }
  const auto middle = costs.begin() + costs.size() / 2;
  std::nth_element(costs.begin(), middle, costs.end());
  return to_ns(*middle);
}

}  // namespace

double ns_per_tick() {
  static const double value = calibrate();
  return value;
}

double timer_cost_ns() {
  static const double value = measure_timer();
  return value;
}

std::uint64_t from_ns(double ns) { return static_cast<std::uint64_t>(ns / ns_per_tick()); }

void spin_for_ns(double ns) {
  const std::uint64_t end = ticks() + from_ns(ns);
  while (ticks() < end) {
  }
}

}  // namespace tutti::bench
