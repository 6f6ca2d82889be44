// SPDX-License-Identifier: Apache-2.0
// tutti::team as a provider of regions and of reductions.
#include "bench/crew/tutti_team.hpp"

#include <algorithm>

#include "bench/crew/providers.hpp"
#include "bench/harness/names.hpp"
#include "bench/harness/placement.hpp"
#include "bench/reduce/tutti_meetings.hpp"
#include "bench/region/tutti_regions.hpp"
#include "tutti/registry.hpp"

namespace tutti::bench {
namespace {

constexpr std::string_view default_name = "default";

std::string summary_of(const std::string& algorithm) {
  for (const auto& info : algorithms) {
    if (info.name == algorithm) return std::string(info.summary);
  }
  return "what tutti::team chooses";
}

crew_provider team_provider(const std::string& name, const std::string& wait) {
  const auto with_names = [name, wait](crew_size size) {
    if (name != default_name) size.algorithm = name;
    size.wait = wait;
    return size;
  };
  crew_provider p;
  p.family = "tutti";
  p.name = name;
  p.wait = wait;
  p.summary = summary_of(name);
  p.has_regions = p.has_meetings = p.has_fibers = true;
  p.makers.regions = [with_names](const crew_size& size) {
    return make_tutti_regions(with_names(size));
  };
  p.makers.meetings = [with_names](const crew_size& size) {
    return make_tutti_meetings(with_names(size));
  };
  return p;
}

}  // namespace

team_options options_of(const crew_size& size) {
  team_options options;
  options.threads = size.threads;
  options.ranks = size.ranks;
  options.barrier = size.algorithm;
  options.wait = size.wait;
  options.place = platform::placement::none;
  return options;
}

void place_threads(tutti::team& team, const std::vector<int>& cpus) {
  team.run([&](member& me) {
    pin_this_thread(cpus.empty() ? any_cpu : cpus[me.thread() % cpus.size()]);
  });
}

std::vector<crew_provider> choose_teams(const std::vector<std::string>& algorithm_list,
                                        const std::vector<std::string>& wait_list) {
  std::vector<std::string> known{std::string(default_name)};
  for (const auto& info : algorithms) known.emplace_back(info.name);
  const auto names = choose_names(algorithm_list, known, "barrier of teams");
  std::vector<crew_provider> chosen;
  if (std::find(names.begin(), names.end(), default_name) != names.end()) {
    chosen.push_back(team_provider(std::string(default_name), "adaptive"));
  }
  for (const auto& wait : choose_waits(wait_list)) {
    for (const auto& name : names) {
      if (name != default_name) chosen.push_back(team_provider(name, wait));
    }
  }
  return chosen;
}

}  // namespace tutti::bench
