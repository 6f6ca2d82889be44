// SPDX-License-Identifier: Apache-2.0
// The provider `harp`: a barrier in the counting unit, or in the mask unit, which has the same
// registers.
//
// An arrival is one write; a departure takes at least one read. The barrier uses the unit's two
// copies in turn. It detects departure by the copy's number of completed episodes, not by its
// departure flag: with arrivals by memory the flag may still show the copy's previous use. One
// barrier owns the unit.
#pragma once

#include <array>
#include <vector>

#include "hardware/driver/device.hpp"
#include "hardware/driver/polled_barrier.hpp"
#include "hardware/driver/registers.hpp"
#include "tutti/platform/array.hpp"

namespace tutti::hardware {

struct harp_options {
  arrival_path arrival = arrival_path::csr;
  departure_path departure = departure_path::csr;
};

class harp_barrier final : public polled_barrier<harp_barrier> {
 public:
  // Identifies, resets and configures the device. Throws std::runtime_error if the device is not
  // such a unit, has another version, or lacks a path, and std::invalid_argument if there are no
  // participants or more than the unit supports.
  harp_barrier(device& unit, rank_t participants, harp_options with = {});
  ~harp_barrier() override;

  rank_t participants() const noexcept override { return n_; }

  // Returns the ranks that have not arrived at the episode in which `rank` waits, for the message
  // after a deadline.
  std::vector<rank_t> missing(rank_t rank) const;
  // Returns the unit's error register; 0 means that the unit has seen no misuse.
  std::uint64_t errors() { return unit_.read(error); }

 private:
  struct alignas(cache_line) rank_state {
    std::atomic<std::uint64_t> arrivals{0};
  };

  friend polled_barrier<harp_barrier>;
  void arrive(rank_t rank);
  bool may_depart(rank_t rank);
  std::atomic<std::uint64_t>& line(std::size_t first_byte, rank_t rank) {
    return memory_.words[(first_byte + rank * std::size_t{64}) / 8];
  }

  device& unit_;
  const rank_t n_;
  const harp_options with_;
  shared_memory memory_;
  std::uint64_t generation_mask_ = 0;
  array<rank_state> rank_states_;
};

}  // namespace tutti::hardware
