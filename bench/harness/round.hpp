// SPDX-License-Identifier: Apache-2.0
// One round: a team runs one subject for some milliseconds, with the floor measured right before and after by two
// of the same threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/neighbour.hpp"
#include "bench/harness/scenario.hpp"
#include "bench/harness/subject.hpp"
#include "bench/harness/team.hpp"

namespace tutti::bench {

// loop: back to back. delayed: every rank is late by its own time before each episode, arrival and departure are
// recorded for each. phases: calm, then something else, then calm again, on rank 0's clock.
enum class pattern { loop, delayed, phases };

struct round_request {
  pattern kind = pattern::loop;
  rank_t threads = 2;
  std::vector<int> cpus;  // of each rank; empty: unpinned
  std::uint64_t episodes = 1000;
  std::uint64_t warm_up = 100;
  std::uint64_t batches = 1;  // of a loop: each gives a sample
  // Of a loop, unless 0: goes on in one batch until so much time has passed, for `episodes` at most. Where a few
  // episodes are thousands of times as long as the others, a fixed number of them would measure the luck of a
  // round that meets none.
  double least_ns = 0;
  std::uint64_t chunk = 1;   // episodes between two looks at that time
  bool own_cores = true;     // each rank has a core to itself: the start may spin
  bool with_floor = true;    // measure the floor before and after, if there are two CPUs
  double skew_ns = 0;        // of delayed: uniform in [0, skew_ns) for each rank and episode
  course late;               // of delayed: the last rank is late by this in every episode;
  bool rotating = false;     // or another rank in each episode
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
  double waiter_cpu_ns =
      0;  // of delayed: processor time an episode and waiter, without the work and what makes late
  double cpus_used = 0;     // of delayed: processor time of all ranks over the time
  double episode_ns = 0;    // of delayed: from episode to episode, work and lateness included
  double recover_ns = -1;   // of phases: until the calm was back; negative: it did not come back
  double watched_ns = 0;    // of phases: how long it was waited for
  double floor_before = 0;  // one-way transfer, ns; 0: not measured
  double floor_after = 0;
  bool neighbours_ran = true;

  // The floor of the round; none when it was not measured or changed while the round ran.
  std::optional<double> floor() const;
};

// Two measurements of the floor that differ by more than this are of two regimes of the machine.
inline constexpr double regime_factor = 1.6;

// The lower of the two; none if either is missing (0) or they are of two regimes.
std::optional<double> floor_between(double before, double after);

// Both throw std::runtime_error when a thread cannot be placed.
round_outcome run_round(const round_request& request, team& threads, subject& barrier,
                        neighbours& busy);

// Publishes plain data through the barrier and reads it on the other side. Returns what was wrong; empty: nothing.
std::string check_barrier(const round_request& request, team& threads, subject& barrier);

}  // namespace tutti::bench
