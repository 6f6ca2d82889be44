// SPDX-License-Identifier: Apache-2.0
// The provider `hbs`: subset barriers in a Hardware Barrier Structure. The owner acts as the
// kernel: it creates and frees barriers. The threads only arrive and read their senses.
#pragma once

#include <mutex>
#include <vector>

#include "hardware/driver/device.hpp"
#include "hardware/driver/hbs_registers.hpp"
#include "hardware/driver/polled_barrier.hpp"
#include "tutti/platform/array.hpp"

namespace tutti::hardware {

class hbs_barrier;

// The structure of one socket.
class hbs_structure {
 public:
  // Throws std::runtime_error if the device is not such a structure, has another version, or is
  // mapped only in part.
  explicit hbs_structure(device& unit);

  const hbs::capabilities& capable() const noexcept { return capable_; }
  device& unit() noexcept { return unit_; }

 private:
  friend class hbs_barrier;
  // Throws std::runtime_error if all barriers are in use.
  rank_t allocate();
  void give_back(rank_t barrier);

  device& unit_;
  hbs::capabilities capable_;
  std::mutex lock_;
  std::vector<bool> used_;
};

class hbs_barrier final : public polled_barrier<hbs_barrier> {
 public:
  // Creates a barrier for `threads`, given by their numbers in the socket; rank r is threads[r].
  // Throws std::invalid_argument if `threads` is empty, repeats a thread, or names one that the
  // socket does not have, and std::runtime_error if all barriers are in use or the
  // structure refuses the barrier.
  hbs_barrier(hbs_structure& structure, std::vector<rank_t> threads);
  ~hbs_barrier() override;

  rank_t participants() const noexcept override { return static_cast<rank_t>(threads_.size()); }

  // Returns the ranks that the structure waits for.
  std::vector<rank_t> missing();

 private:
  struct alignas(cache_line) rank_state {
    std::uint64_t episode = 0;
  };

  friend polled_barrier<hbs_barrier>;
  void arrive(rank_t rank);
  bool may_depart(rank_t rank);

  hbs_structure& structure_;
  std::vector<rank_t> threads_;
  rank_t index_;
  // The bits of the episode's number that the sense shows.
  std::uint64_t episode_mask_;
  array<rank_state> rank_states_;
};

}  // namespace tutti::hardware
