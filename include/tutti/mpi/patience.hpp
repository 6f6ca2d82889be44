// SPDX-License-Identifier: Apache-2.0
// How a participant passes the time between two looks at MPI, which offers nothing to sleep on: it polls while its core is
// its own, yields when cores are short or the wait lasts, and naps in waits so long that a nap does not show.
#pragma once

#include <atomic>
#include <cstdint>

#include "tutti/platform/native.hpp"

namespace tutti::mpi {

class patience {
 public:
  // `is_crowded`: more participants than cores on this node.
  explicit patience(bool is_crowded) noexcept : polls_left_(is_crowded ? 0 : polls) {}

  void pass() noexcept {
    if (polls_left_ > 0) {
      --polls_left_;
      return native::relax();
    }
    native::yield();
    if (++yields_ < yields_before_nap) return;
    // Nobody rings it: this sleeps until its deadline.
    native::park(bell_, 0, native::now_ns() + nap_ns);
  }

 private:
  static constexpr std::uint32_t polls = 2000;  // some 200 us: MPI's own look costs most of each
  static constexpr std::uint32_t yields_before_nap = 20000;  // 10 ms and more
  static constexpr std::uint64_t nap_ns = 50'000;

  std::uint32_t polls_left_;
  std::uint32_t yields_ = 0;
  std::atomic<std::uint32_t> bell_{0};
};

}  // namespace tutti::mpi
