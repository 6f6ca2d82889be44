// SPDX-License-Identifier: Apache-2.0
// A barrier in the counting unit, or in the mask unit, which has its registers: the provider `harp`.
//
// An arrival is one write, a departure one read at least. The unit's two copies are used in turn; departure is sensed by
// the copy's number of completed episodes, not by its flag: with arrivals by memory the flag may be that of the last use.
// One barrier owns the unit.
#pragma once

#include <array>
#include <vector>

#include "cosim/device.hpp"
#include "cosim/registers.hpp"
#include "tutti/barrier/any.hpp"
#include "tutti/platform/array.hpp"

namespace tutti::hardware {

struct harp_options {
  arrival_path arrival = arrival_path::csr;
  departure_path departure = departure_path::csr;
};

class harp_barrier final : public any_barrier {
 public:
  // Finds out what the device is, resets and configures it. Throws std::runtime_error if the device is not such a unit, is
  // of another version, or lacks a path; std::invalid_argument if the participants are none or more than it has.
  harp_barrier(device& unit, rank_t participants, harp_options with = {});
  ~harp_barrier() override;

  void arrive_and_wait(rank_t rank) override;
  bool arrive_and_wait(rank_t rank, deadline until) override;
  void episodes(rank_t rank, std::uint64_t count) override;
  rank_t participants() const noexcept override { return n_; }

  // Who has not arrived at the episode that `rank` waits in: for the message when its deadline has passed.
  std::vector<rank_t> missing(rank_t rank) const;
  // The unit's error register; 0: no misuse seen.
  std::uint64_t errors() { return unit_.read(error); }

 private:
  struct alignas(cache_line) participant {
    std::atomic<std::uint64_t> arrivals{0};
  };

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
  array<participant> participants_;
};

}  // namespace tutti::hardware
