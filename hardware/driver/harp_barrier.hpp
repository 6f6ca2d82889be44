// SPDX-License-Identifier: Apache-2.0
// The provider `harp`: a barrier in the counting unit, or in the mask unit, which has the same
// registers. One barrier owns the unit.
#pragma once

#include <atomic>
#include <vector>

#include "hardware/driver/harp_protocol.hpp"
#include "hardware/driver/polled_barrier.hpp"

namespace tutti::hardware {

class harp_barrier final : public polled_barrier<harp_barrier> {
 public:
  // Throws as harp_protocol does.
  harp_barrier(device& unit, rank_t participants, harp_options with = {});
  ~harp_barrier() override;

  rank_t participants() const noexcept override { return protocol_.participants(); }

  // Returns the ranks that have not arrived at the episode in which `rank` waits, for the message
  // after a deadline.
  std::vector<rank_t> missing(rank_t rank) const { return protocol_.missing(rank); }
  // Returns the unit's error register; 0 means that the unit has seen no misuse.
  std::uint64_t errors() { return protocol_.errors(); }

 private:
  friend polled_barrier<harp_barrier>;
  void arrive(rank_t rank) { protocol_.arrive(rank); }
  bool may_depart(rank_t rank) { return protocol_.may_depart(rank); }

  harp_protocol<std::atomic<std::uint64_t>> protocol_;
};

}  // namespace tutti::hardware
