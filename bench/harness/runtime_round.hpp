// SPDX-License-Identifier: Apache-2.0
// One round of a runtime: some milliseconds of regions back to back, or of episodes inside one
// region. Rank 0 reads the clock. Every timed episode is accounted for afterwards.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "bench/harness/round.hpp"
#include "bench/harness/runtime.hpp"
#include "bench/harness/ticks.hpp"

namespace tutti::bench {

inline constexpr unsigned width_of_reducing_regions = 2;
inline constexpr unsigned widths_of_reductions[] = {1, 2, 8, 1024};

// Throw std::runtime_error when a thread cannot be placed.
round_outcome run_round(const round_request& request, region_runtime& runtime);
round_outcome run_round(const round_request& request, collective_runtime& runtime);

// Whether its regions run on every rank, begin after and end before what stands around them, and
// add right; whether nobody leaves an episode before all are in it. Returns what was wrong; empty:
// nothing.
std::string check(const round_request& request, region_runtime& runtime);
std::string check(const round_request& request, collective_runtime& runtime);

// What rank 0 notes of episodes that follow serial code: their latency, and the processor time of
// the others.
class gap_clock {
 public:
  explicit gap_clock(const round_request& request);
  // The serial code, then the episode.
  template <class Episode>
  void episode(Episode run) {
    if (episodes_ == settling) start();
    spin_for_ns(at(request_.gap, episodes_, random_));
    const std::uint64_t begin = ordered_ticks();
    run();
    end_ = ordered_ticks();
    if (timed()) latencies_.push_back(to_ns(end_ - begin) - timer_cost_ns());
    ++episodes_;
  }
  std::uint64_t episodes() const { return episodes_; }
  // Since the settling ones.
  bool timed() const { return episodes_ >= settling; }
  bool time_is_up() const {
    return episodes_ > settling && ticks() >= begin_ + from_ns(request_.least_ns);
  }
  // After the last one, on the thread that ran them.
  void stop();
  round_outcome outcome() const;

  // Episodes before those that count: waits may learn how long they usually are.
  static constexpr std::uint64_t settling = 20;

 private:
  void start();

  const round_request& request_;
  std::mt19937_64 random_;
  std::vector<double> latencies_;
  std::uint64_t episodes_ = 0;
  std::uint64_t begin_ = 0;  // of the timed ones, ticks
  std::uint64_t end_ = 0;
  double others_begin_ = 0;  // processor time, ns
  double others_end_ = 0;
};

// A round inside one open region. Ranks that are threads share one object; ranks that are processes
// have one each, and only rank 0's keeps the clock.
class collective_round {
 public:
  collective_round(const round_request& request, checksums& sums);
  // Returns how many episodes were timed.
  std::uint64_t run(runtime_rank& me);
  // What was wrong with a rank's episodes, after it has run.
  std::string fault(rank_t rank, std::uint64_t timed) const;
  // What rank 0 measured, without the faults.
  round_outcome outcome(std::uint64_t timed) const;

 private:
  void episodes(runtime_rank& me, std::uint64_t count);
  std::uint64_t run_batches(runtime_rank& me);
  std::uint64_t run_timed(runtime_rank& me);
  std::uint64_t run_with_gaps(runtime_rank& me);
  void mark(const runtime_rank& me);

  const round_request& request_;
  checksums& sums_;
  std::vector<std::uint64_t> marks_;  // rank 0's clock: before, and after each batch
  // The chunks take turns: a slot is written again only when all have read it.
  bool last_chunk_[2] = {};
  gap_clock gaps_;  // rank 0's
  round_outcome of_gaps_;
};

}  // namespace tutti::bench
