// SPDX-License-Identifier: Apache-2.0
// What a run of `tutti bench barrier`, `team` or `reduce` measures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/contenders/contender.hpp"
#include "bench/harness/placement.hpp"
#include "bench/harness/round.hpp"
#include "bench/harness/scenario.hpp"
#include "bench/harness/sweeps.hpp"

namespace tutti::bench {

// loop: back to back. last_in_last_out: of an episode, from the last arrival to the last departure.
// latency: of an episode after serial code of rank 0. cpu_time: processor time an episode of each
// of those who wait. episode: from episode to episode, lateness and work included. recover: until
// the calm is back.
enum class metric { loop, last_in_last_out, latency, cpu_time, episode, recover };

std::string_view name_of(metric m);
metric parse_metric(std::string_view text);  // throws std::invalid_argument

// Kernel threads, and ranks on them: more ranks than threads are fibers, which only tutti has.
struct shape {
  rank_t threads = 2;
  rank_t ranks = 2;
  bool operator==(const shape&) const = default;
  bool has_fibers() const { return ranks != threads; }
};

struct plan {
  // What the lines of --json are called: barrier, region or reduce.
  std::string benchmark = "barrier";
  std::vector<contender> contenders;
  std::vector<episode_kind> kinds{{operation::barrier, 0}};
  std::vector<shape> shapes;
  std::vector<placement> placements;
  std::vector<scenario> scenarios;
  // Empty: what suits each scenario.
  std::vector<metric> metrics;
  run_length length;
};

// The sizes of loops unless told otherwise.
inline constexpr std::uint64_t elements_of_loops[] = {1000, 10'000, 100'000, 1'000'000};

// empty, reduce2; of fibers the barrier inside a region too.
std::vector<episode_kind> kinds_of_regions();
// barrier, reduce1, reduce2, ...
std::vector<episode_kind> kinds_of_reductions();

// The metrics of one scenario that the plan asks for. `crowded`: with more threads than cores.
std::vector<metric> metrics_of(const plan& p, const episode_kind& kind, const scenario& s,
                               bool crowded);

// The rounds that measure `m` of such an episode in this scenario.
pattern pattern_of(metric m, const episode_kind& kind, const scenario& s);

// Whether a contender can do this in this scenario: fibers inside a region share the thread that a
// gap would keep busy.
bool suits(const contender& who, const episode_kind& kind, const shape& size, const scenario& when);

}  // namespace tutti::bench
