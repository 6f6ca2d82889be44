// SPDX-License-Identifier: Apache-2.0
// One round of a runtime: some milliseconds of regions back to back, or of episodes inside one
// region. Rank 0 reads the clock. Every timed episode is accounted for afterwards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/harness/gap_clock.hpp"
#include "bench/harness/round.hpp"
#include "bench/harness/runtime.hpp"

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
  // Rank 0's clock: before the first batch, and after each.
  std::vector<std::uint64_t> marks_;
  // The chunks take turns: a slot is written again only when all have read it.
  bool last_chunk_[2] = {};
  // Only rank 0 uses this and the next.
  gap_clock gaps_;
  round_outcome of_gaps_;
};

}  // namespace tutti::bench
