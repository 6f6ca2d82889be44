// SPDX-License-Identifier: Apache-2.0
// Calibration of the finest clock.
#include "bench/harness/ticks.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

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
  // The counter of a virtual machine may advance by 26 at a time: the mean of the middle half is
  // finer than that.
  std::sort(costs.begin(), costs.end());
  const auto begin = costs.begin() + costs.size() / 4, end = costs.end() - costs.size() / 4;
  return to_ns(std::accumulate(begin, end, std::uint64_t{0})) / static_cast<double>(end - begin);
}

// A chain in which each step needs the one before.
void turn(std::uint64_t steps) {
  std::uint64_t state = steps;
  for (std::uint64_t i = 0; i < steps; ++i) {
    state = state * 6364136223846793005u + 1;
    asm volatile("" : "+r"(state));
  }
}

// The least of many: what others take of the CPU only ever adds.
double measure_step() {
  constexpr std::uint64_t steps = 20000;
  double least = std::numeric_limits<double>::max();
  for (int attempt = 0; attempt < 50; ++attempt) {
    const std::uint64_t begin = ordered_ticks();
    turn(steps);
    least = std::min(least, to_ns(ordered_ticks() - begin));
  }
  return least / steps;
}

double cpu_ns(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
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

void work_for_ns(double ns) {
  static const double step_ns = measure_step();
  turn(static_cast<std::uint64_t>(ns / step_ns));
}

double thread_cpu_ns() { return cpu_ns(CLOCK_THREAD_CPUTIME_ID); }

double process_cpu_ns() { return cpu_ns(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace tutti::bench
