// SPDX-License-Identifier: Apache-2.0
// One round: some milliseconds of episodes, all that is asked about them, and what was measured.
// Here are the rounds of barriers, on a team of the harness's threads, with the floor measured
// right before and after by two of the same threads; runtime_round.hpp has those of runtimes, which
// bring their own threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/neighbour.hpp"
#include "bench/harness/scenario.hpp"
#include "bench/harness/team.hpp"
#include "bench/harness/timed_barrier.hpp"

namespace tutti::bench {

// barrier: of the harness's threads. region: one that a runtime opens and ends. collective: a
// barrier or a reduction inside a region of a runtime, which stays open.
enum class operation { barrier, region, collective };

// What is repeated. A region with elements is a parallel loop over them. With a width, each rank's
// so many doubles are summed too: for the caller of a region, for all ranks of a collective.
struct episode_kind {
  operation what = operation::barrier;
  unsigned width = 0;
  std::uint64_t elements = 0;
  bool operator==(const episode_kind&) const = default;
};

// barrier; empty, reduce2, axpy1000; barrier, reduce1, reduce2, ...
std::string name_of(const episode_kind& kind);

// loop: back to back. delayed: every rank is late by its own time before each episode, arrival and
// departure are recorded for each. phases: calm, then something else, then calm again, on rank 0's
// clock. after_gap: regions, or collectives, for which rank 0 comes from serial code.
enum class pattern { loop, delayed, phases, after_gap };

struct round_request {
  episode_kind what;
  pattern kind = pattern::loop;
  rank_t threads = 2;
  rank_t ranks = 2;       // of runtimes; more than threads: fibers on them
  std::vector<int> cpus;  // of each thread; empty: unpinned
  std::uint64_t episodes = 1000;
  std::uint64_t warm_up = 100;
  std::uint64_t batches = 1;  // of a loop: each gives a sample
  // Unless this is 0, a loop goes on in one batch until so much time has passed, for `episodes` at
  // most. Where a few episodes are thousands of times as long as the others, a fixed number of them
  // would measure the luck of a round that meets none.
  double least_ns = 0;
  std::uint64_t chunk = 1;   // episodes between two looks at that time
  bool own_cores = true;     // each rank has a core to itself: the start may spin
  bool with_floor = true;    // measure the floor before and after, if there are two CPUs
  double skew_ns = 0;        // of delayed: uniform in [0, skew_ns) for each rank and episode
  course late;               // of delayed: the last rank is late by this in every episode;
  bool rotating = false;     // or another rank in each episode
  course gap;                // of after_gap: serial code of rank 0 before each episode
  double least_work_ns = 0;  // of delayed: every rank works in every episode, for a time that is
  double most_work_ns = 0;   // uniform between these; 0: it does not
  phase_kind phases = phase_kind::none;
  std::uint64_t seed = 1;     // of what is random
  neighbour_plan neighbours;  // beside the round
  std::vector<std::int64_t>
      offsets;  // each rank's clock minus that of rank 0, in ticks; empty: unknown
};

struct round_outcome {
  std::vector<double>
      samples;      // ns an episode: one for each batch of a loop, one for each delayed episode
  double mean = 0;  // ns an episode over the whole round
  std::uint64_t episodes = 0;  // that were timed
  double duration_ns = 0;      // of what was timed
  double start_spread_ns = 0;  // between the first and the last to begin
  // In delayed rounds: processor time an episode and waiter, without the work and what makes late.
  // In after_gap: that of each other thread, the gap included. Negative: not known.
  double waiter_cpu_ns = -1;
  double cpus_used = 0;     // of delayed: processor time of all ranks over the time
  double episode_ns = 0;    // of delayed: from episode to episode, work and lateness included
  double recover_ns = -1;   // of phases: until the calm was back; negative: it did not come back
  double watched_ns = 0;    // of phases: how long it was waited for
  double floor_before = 0;  // one-way transfer, ns; 0: not measured
  double floor_after = 0;
  bool neighbours_ran = true;
  std::string fault;  // what was wrong with the episodes; empty: nothing

  // The floor of the round; none when it was not measured or changed while the round ran.
  std::optional<double> floor() const;
};

// Two measurements of the floor that differ by more than this are of two regimes of the machine.
inline constexpr double regime_factor = 1.6;

// Says which rank left a barrier before the other had come to it. Each step has two barriers;
// between them `reader` has read of `writer` the step `read` instead of `step`.
std::string early_leave(std::uint64_t read, std::uint64_t step, rank_t reader, rank_t writer);

// The lower of the two; none if either is missing (0) or they are of two regimes.
std::optional<double> floor_between(double before, double after);

// Both throw std::runtime_error when a thread cannot be placed.
round_outcome run_round(const round_request& request, team& threads, timed_barrier& barrier,
                        neighbours& busy);

// Publishes plain data through the barrier and reads it on the other side. Returns what was wrong;
// empty: nothing.
std::string check_barrier(const round_request& request, team& threads, timed_barrier& barrier);

}  // namespace tutti::bench
