// SPDX-License-Identifier: Apache-2.0
// Makes a plan from the options.
#include "workloads/synthetic/program/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "bench/harness/peer_program.hpp"
#include "cli/lists.hpp"

namespace tutti::synthetic {
namespace {

// The values of N in tables I and II of Berger and Stamatakis 2010.
constexpr std::uint64_t regions_without_work = 10'000'000, regions_with_work = 100'000;
constexpr std::uint64_t longest = std::uint64_t{1} << 30;
constexpr std::uint32_t most_threads = 1024;

std::string program_of(const bench::crew_provider& peer) { return "synthetic-" + peer.family; }

// All known peers, with the programs of this benchmark instead of those of `tutti bench`.
std::vector<bench::crew_provider> known_peers() {
  std::vector<bench::crew_provider> known = bench::known_region_peers();
  for (auto& peer : known) {
    if (!peer.in_process()) peer.executable = bench::find_peer_program(program_of(peer));
  }
  return known;
}

bool can_run(const bench::crew_provider& peer) {
  return peer.in_process() || !peer.executable.empty();
}

bench::placement parse_pin(const std::string& text) {
  try {
    return bench::make_placement(text);
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument(fmt::format("--pin: {}", e.what()));
  }
}

}  // namespace

std::vector<bench::crew_provider> peers() {
  std::vector<bench::crew_provider> those = known_peers();
  std::erase_if(those, [](const bench::crew_provider& p) { return !can_run(p); });
  return those;
}

std::vector<bench::missing_crew> missing_peers() {
  std::vector<bench::missing_crew> missing;
  for (const auto& m : bench::missing_region_peers()) missing.push_back(m);
  for (const auto& peer : known_peers()) {
    const bool is_told = std::any_of(missing.begin(), missing.end(),
                                     [&](const auto& m) { return m.family == peer.family; });
    if (can_run(peer) || is_told) continue;
    missing.push_back({peer.family, bench::missing_peer_program(program_of(peer))});
  }
  return missing;
}

std::string name_of(const bench::crew_provider& who) {
  const std::string name = who.family == who.name ? who.name : who.family + " " + who.name;
  return who.wait.empty() ? name : name + ", " + who.wait;
}

plan make_plan(const request& r) {
  using namespace cli;
  plan p;
  p.length = parse_integer("--length", r.length, 0, longest);
  p.regions = p.length == 0 ? regions_without_work : regions_with_work;
  if (!r.regions.empty()) p.regions = parse_integer("--regions", r.regions, 1, UINT64_MAX);
  p.threads = parse_counts("--threads", r.threads, most_threads);
  p.where = parse_pin(r.pin);
  p.run.seconds = parse_number("--seconds", r.seconds, 0.1, 86400);
  p.run.seed = parse_integer("--seed", r.seed, 0, UINT64_MAX);
  p.providers = bench::choose_teams(split("--barrier", r.barriers), split("--wait", r.waits));
  for (auto& peer : bench::choose(peers(), missing_peers(), split("--peers", r.peers))) {
    p.providers.push_back(std::move(peer));
  }
  if (p.providers.empty()) {
    throw std::invalid_argument("there is nothing to measure: --barrier and --peers are both none");
  }
  return p;
}

}  // namespace tutti::synthetic
