// SPDX-License-Identifier: Apache-2.0
// Names of scenarios.
#include "harness/scenario.hpp"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

namespace tutti::bench {
namespace {

constexpr double longest_delay_ns = 1e9;

[[noreturn]] void bad_scenario(std::string_view text) {
  throw std::invalid_argument(fmt::format(
      "there is no scenario '{}': use free, skew_TIME, imbalance_TIME, neighbour_one or "
      "neighbour_all, with a TIME such as 500ns, 10us or 1ms (at most 1000ms)",
      text));
}

double parse_time_ns(std::string_view text, std::string_view whole) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) bad_scenario(whole);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  double factor = 0;
  if (unit == "ns") factor = 1;
  if (unit == "us") factor = 1e3;
  if (unit == "ms") factor = 1e6;
  const double ns = number * factor;
  if (!(ns > 0 && ns <= longest_delay_ns)) bad_scenario(whole);
  return ns;
}

}  // namespace

scenario parse_scenario(std::string_view text) {
  constexpr std::string_view skew = "skew_";
  constexpr std::string_view imbalance = "imbalance_";
  scenario s{std::string(text), 0, 0, neighbour_kind::none};
  if (text == "free") return s;
  if (text == "neighbour_one") {
    s.busy = neighbour_kind::one;
  } else if (text == "neighbour_all") {
    s.busy = neighbour_kind::all;
  } else if (text.starts_with(skew)) {
    s.skew_ns = parse_time_ns(text.substr(skew.size()), text);
  } else if (text.starts_with(imbalance)) {
    s.late_ns = parse_time_ns(text.substr(imbalance.size()), text);
  } else {
    bad_scenario(text);
  }
  return s;
}

std::vector<int> busy_cpus(const scenario& s, const std::vector<int>& cores) {
  if (s.busy == neighbour_kind::none) return {};
  return s.busy == neighbour_kind::one ? std::vector{cores.front()} : cores;
}

}  // namespace tutti::bench
