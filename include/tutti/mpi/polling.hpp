// SPDX-License-Identifier: Apache-2.0
// How a participant passes the time between two checks for packets. MPI offers nothing to sleep on.
// The participant polls while its core is its own, yields when cores are scarce or the wait lasts,
// and naps in waits so long that a nap does not matter. With active patience it never naps; with
// passive patience it naps after the first check; a patience given as a time says how long it polls
// or yields before it naps.
#pragma once

#include <atomic>
#include <cstdint>

#include "tutti/platform/native.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti::mpi {

class polling {
 public:
  // `is_crowded`: there are more participants than CPUs on this machine.
  polling(bool is_crowded, patience p) noexcept
      : patience_(p.chosen()),
        polls_left_(is_crowded || patience_.is_passive() ? 0 : polls),
        start_ns_(is_a_time() ? native::now_ns() : 0) {}

  void pass() noexcept {
    if (polls_left_ > 0) {
      --polls_left_;
      return native::relax();
    }
    if (!is_time_to_nap()) return native::yield();
    // Nothing wakes this sleep, so it lasts until its deadline.
    native::park(word_, 0, native::now_ns() + nap_ns);
  }

 private:
  // About 200 us: most of each poll is MPI's own check.
  static constexpr std::uint32_t polls = 2000;
  // 10 ms and more.
  static constexpr std::uint32_t yields_before_nap = 20000;
  static constexpr std::uint64_t nap_ns = 50'000;

  bool is_a_time() const noexcept {
    return !patience_.is_active() && !patience_.is_balanced() && !patience_.is_passive();
  }
  bool is_time_to_nap() noexcept {
    if (patience_.is_active()) return false;
    if (patience_.is_balanced()) return ++yields_ >= yields_before_nap;
    return patience_.is_passive() || native::now_ns() - start_ns_ >= patience_.ns();
  }

  const patience patience_;
  std::uint32_t polls_left_;
  const std::uint64_t start_ns_;
  std::uint32_t yields_ = 0;
  std::atomic<std::uint32_t> word_{0};
};

}  // namespace tutti::mpi
