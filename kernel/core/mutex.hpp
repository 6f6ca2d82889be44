// SPDX-License-Identifier: Apache-2.0
// A mutex for threads: a waiter gives its core away.
#pragma once

#include <atomic>

#include "kernel/arch/machine.hpp"
#include "kernel/core/holding.hpp"

namespace tutti::kernel {

class mutex {
 public:
  void lock() noexcept {
    if (!try_lock()) wait();
  }
  bool try_lock() noexcept {
    u32 expected = is_free;
    // acquire: pairs with unlock(), so that what the last owner wrote is seen. relaxed: it failed.
    return word_.compare_exchange_strong(expected, is_taken, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  void unlock() noexcept {
    // release: publishes what was written under the lock to the next owner.
    if (word_.exchange(is_free, std::memory_order_release) == is_awaited) wake();
  }

 private:
  static constexpr u32 is_free = 0, is_taken = 1, is_awaited = 2;
  void wait() noexcept;
  void wake() noexcept;

  std::atomic<u32> word_{is_free};
};

}  // namespace tutti::kernel
