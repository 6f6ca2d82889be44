// SPDX-License-Identifier: Apache-2.0
// Options that all subcommands of `tutti bench` understand alike.
#include "bench_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "lists.hpp"

namespace tutti::command {

std::vector<rank_t> default_counts(const std::vector<rank_t>& multiples_of_cores) {
  const auto cores = static_cast<rank_t>(bench::make_placement("core").cpus.size());
  std::vector<rank_t> threads{2, cores};
  for (const rank_t multiple : multiples_of_cores) threads.push_back(multiple * cores);
  std::erase_if(threads, [](rank_t n) { return n < 2; });
  std::sort(threads.begin(), threads.end());
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  return threads;
}

std::vector<bench::placement> parse_pins(const std::string& text) {
  const auto names = split("--pin", text);
  const auto is_name = [](const std::string& item) {
    return item.find_first_of("0123456789") == std::string::npos;
  };
  std::vector<bench::placement> placements;
  try {
    if (!std::all_of(names.begin(), names.end(), is_name)) return {bench::make_placement(text)};
    for (const auto& name : names) placements.push_back(bench::make_placement(name));
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument(fmt::format("--pin: {}", e.what()));
  }
  return placements;
}

void add_scenario(std::vector<bench::scenario>& scenarios, const std::string& name) {
  bench::scenario s = bench::parse_scenario(name);
  const auto same = [&](const bench::scenario& known) { return known.name == s.name; };
  if (std::none_of(scenarios.begin(), scenarios.end(), same)) scenarios.push_back(std::move(s));
}

std::vector<bench::scenario> parse_scenarios(const optional_text& names,
                                             const optional_text& neighbours) {
  std::vector<bench::scenario> scenarios;
  if (names) {
    for (const auto& name : split("--scenario", *names)) add_scenario(scenarios, name);
  }
  if (neighbours) {
    for (const auto& kind : split("--neighbour", *neighbours)) {
      if (kind != "none" && kind != "one" && kind != "all") {
        throw std::invalid_argument(fmt::format("--neighbour: '{}' is not none, one or all", kind));
      }
      add_scenario(scenarios, kind == "none" ? "free" : "neighbour_" + kind);
    }
  }
  return scenarios;
}

bench::run_length parse_length(const optional_text& rounds, const optional_text& seconds,
                               const std::string& seed) {
  bench::run_length length;
  if (rounds) length.rounds = parse_integer("--rounds", *rounds, 1, 1000000);
  length.seconds = seconds ? parse_number("--time", *seconds, 0.1, 86400) : 12;
  length.seed = parse_integer("--seed", seed, 0, UINT64_MAX);
  return length;
}

}  // namespace tutti::command
