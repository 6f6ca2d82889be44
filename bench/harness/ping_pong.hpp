// SPDX-License-Identifier: Apache-2.0
// Two pinned threads hand one cache line back and forth: the cost of the shortest message that this
// machine can send from core to core, and by how much the clocks of the two cores differ.
#pragma once

#include <atomic>
#include <cstdint>

#include "tutti/platform/config.hpp"

namespace tutti::bench {

// The clock of the follower minus the clock of the leader, in ticks. The true offset is within the
// bound, as a message cannot arrive before it was sent.
struct clock_offset {
  std::int64_t ticks = 0;
  std::int64_t bound = 0;
};

// One thread calls lead_..., another follow_... at about the same time. May be used again and
// again.
class ping_pong {
 public:
  // One-way transfer in ns: the median over batches of one to two hundred microseconds in all.
  double lead_transfers();
  void follow_transfers();

  clock_offset lead_clocks();
  void follow_clocks();

 private:
  alignas(cache_line) std::atomic<std::uint64_t> line_{0};
  alignas(cache_line) std::uint64_t timestamp_ = 0;  // the follower's, published by line_
};

}  // namespace tutti::bench
