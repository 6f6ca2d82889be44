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
// barrier or a reduction inside a region of a runtime, which stays open. event: a notification; it
// is no episode (bench/events).
enum class operation { barrier, region, collective, event };

// What is repeated. A region with elements is a parallel loop over them. With a width, each rank's
// so many doubles are summed too: for the caller of a region, for all ranks of a collective.
struct episode_kind {
  operation what = operation::barrier;
  unsigned width = 0;
  std::uint64_t elements = 0;
  bool operator==(const episode_kind&) const = default;
};

// The words that seed a rank's random numbers. std::seed_seq takes 32 bits of each: the seed's high
// half is a word of its own, if it is not zero.
std::vector<std::uint32_t> seed_words(std::uint64_t seed, rank_t rank);

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
  // The ranks of a runtime. If they are more than the threads, they are fibers.
  rank_t ranks = 2;
  // The CPU of each thread; empty: unpinned.
  std::vector<int> cpus;
  std::uint64_t episodes = 1000;
  std::uint64_t warm_up = 100;
  // delayed and after_gap: the episodes before those that count, in which waits may learn how long
  // they usually are; at least one.
  std::uint64_t settling = 20;
  // The batches of a loop; each gives a sample.
  std::uint64_t batches = 1;
  // Unless this is 0, a loop goes on in one batch until so much time has passed, for `episodes` at
  // most. Where a few episodes are thousands of times as long as the others, a fixed number of them
  // would measure the luck of a round that meets none.
  double least_ns = 0;
  // Episodes between two looks at that time.
  std::uint64_t chunk = 1;
  // Each rank has a core to itself, so the start may spin.
  bool own_cores = true;
  // Whether to measure the floor before and after, if there are two CPUs.
  bool with_floor = true;
  // delayed: the lateness of each rank in each episode is uniform in [0, skew_ns).
  double skew_ns = 0;
  // delayed: the last rank is late by this in every episode, or another rank in each if `rotating`.
  course late;
  bool rotating = false;
  // after_gap: the serial code of rank 0 before each episode.
  course gap;
  // delayed: every rank works in every episode, for a time that is uniform between these two. It
  // does not work if both are 0.
  double least_work_ns = 0;
  double most_work_ns = 0;
  phase_kind phases = phase_kind::none;
  // The seed of what is random.
  std::uint64_t seed = 1;
  // The neighbours beside the round.
  neighbour_plan neighbours;
  // Each rank's clock minus that of rank 0, in ticks; empty: unknown.
  std::vector<std::int64_t> offsets;
};

struct round_outcome {
  // In ns an episode: one for each batch of a loop, one for each delayed episode.
  std::vector<double> samples;
  // In ns an episode, over the whole round.
  double mean = 0;
  // The episodes that were timed.
  std::uint64_t episodes = 0;
  // How long they took.
  double duration_ns = 0;
  // The time between the first and the last rank to begin.
  double start_spread_ns = 0;
  // In delayed rounds: processor time an episode and waiter, without the work and what makes late.
  // In after_gap: that of each other thread, the gap included. Negative: not known.
  double waiter_cpu_ns = -1;
  // delayed: the processor time of all ranks divided by the time.
  double cpus_used = 0;
  // delayed: the time from episode to episode, work and lateness included.
  double episode_ns = 0;
  // phases: the time until the calm was back; negative: it did not come back.
  double recover_ns = -1;
  // phases: how long the round waited for it.
  double watched_ns = 0;
  // One-way transfers in ns; 0: not measured.
  double floor_before = 0;
  double floor_after = 0;
  bool neighbours_ran = true;
  // What was wrong with the episodes; empty: nothing.
  std::string fault;

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
