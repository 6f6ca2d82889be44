// SPDX-License-Identifier: Apache-2.0
// One round of a crew: some milliseconds of regions back to back, or of episodes inside one region. Rank 0 reads the
// clock. Every timed episode is accounted for afterwards.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "bench/crew/crew.hpp"
#include "bench/harness/course.hpp"
#include "bench/harness/ticks.hpp"

namespace tutti::bench {

// What is repeated. Outside: a region, and with a width the sum of so many doubles of each rank; or with elements a parallel
// loop over them. Inside of one region: a barrier, or with a width a reduction whose result goes to all.
struct episode_kind {
  bool inside = false;
  unsigned width = 0;
  std::uint64_t elements = 0;
  bool operator==(const episode_kind&) const = default;
};

// empty, reduce2, axpy1000; barrier, reduce1, reduce2, ...
std::string name_of(const episode_kind& kind);

inline constexpr unsigned width_of_reducing_regions = 2;
inline constexpr unsigned widths_of_reductions[] = {1, 2, 8, 1024};

struct crew_request {
  episode_kind kind;
  crew_size size;
  std::uint64_t episodes = 1000;
  std::uint64_t warm_up = 100;
  std::uint64_t batches = 1;  // each gives a sample
  double least_ns = 0;        // unless 0: one batch that goes on for so long, `episodes` at most
  std::uint64_t chunk = 1;    // episodes between two looks at that time
  course gap;  // serial code of rank 0 before each episode; then each episode is a sample, or, with
               // least_ns, their mean is
  std::uint64_t seed = 1;  // of the gaps
};

struct crew_outcome {
  std::vector<double> samples;  // ns an episode, one for each batch
  std::uint64_t episodes = 0;   // that were timed
  double duration_ns = 0;       // of these
  double worker_cpu_ns =
      -1;  // with gaps: processor time an episode of each other thread; negative: not known
  std::string fault;  // what was wrong with the episodes; empty: nothing
};

// Throw std::runtime_error when a thread cannot be placed.
crew_outcome run_round(const crew_request& request, region_crew& crew);
crew_outcome run_round(const crew_request& request, meeting_crew& crew);

// Whether its regions run on every rank, begin after and end before what stands around them, and add right; whether
// nobody leaves an episode before all are in it. Returns what was wrong; empty: nothing.
std::string check(const crew_request& request, region_crew& crew);
std::string check(const crew_request& request, meeting_crew& crew);

// What rank 0 notes of episodes that follow serial code: their latency, and the processor time of
// the others.
class gap_clock {
 public:
  explicit gap_clock(const crew_request& request);
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
  crew_outcome outcome() const;

  // Episodes before those that count: waits may learn how long they usually are.
  static constexpr std::uint64_t settling = 20;

 private:
  void start();

  const crew_request& request_;
  std::mt19937_64 random_;
  std::vector<double> latencies_;
  std::uint64_t episodes_ = 0;
  std::uint64_t begin_ = 0;  // of the timed ones, ticks
  std::uint64_t end_ = 0;
  double others_begin_ = 0;  // processor time, ns
  double others_end_ = 0;
};

// One rank's part of a round inside a region, for ranks that share no memory.
class meeting_round {
 public:
  meeting_round(const crew_request& request, ledger& shares);
  // Returns how many episodes were timed.
  std::uint64_t run(crew_member& me);
  // What was wrong with a rank's episodes, after it has run.
  std::string fault(rank_t rank, std::uint64_t timed) const;
  // Of rank 0, without the faults.
  crew_outcome outcome(std::uint64_t timed) const;

 private:
  void episodes(crew_member& me, std::uint64_t count);
  std::uint64_t run_batches(crew_member& me);
  std::uint64_t run_timed(crew_member& me);
  std::uint64_t run_with_gaps(crew_member& me);
  void mark(const crew_member& me);

  const crew_request& request_;
  ledger& shares_;
  std::vector<std::uint64_t> marks_;  // rank 0's clock: before, and after each batch
  bool last_chunk_[2] =
      {};           // of chunks in turn: a slot is written again only when all have read it
  gap_clock gaps_;  // rank 0's
  crew_outcome of_gaps_;
};

}  // namespace tutti::bench
