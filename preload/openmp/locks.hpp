// SPDX-License-Identifier: Apache-2.0
// The lock of the runtime and of the program's omp_lock_t and critical regions.
#pragma once

#include <cstdint>
#include <mutex>

#include "preload/openmp/atomic.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::openmp {

// It has four bytes, as libgomp's locks have, because the program owns the memory of its locks and
// has reserved no more. Waiters poll for a moment, then sleep.
class small_lock {
 public:
  constexpr small_lock() noexcept = default;
  bool try_lock() noexcept {
    std::uint32_t free = 0;
    // acquire: pairs with unlock. relaxed: a failure reads nothing.
    return word_.compare_exchange_strong(free, 1, acquire, relaxed);
  }
  void lock() noexcept {
    if (!try_lock()) lock_slowly();
  }
  void unlock() noexcept {
    // release: publishes what was written under the lock; pairs with lock.
    if (word_.exchange(0, release) == 2) wake_one();
  }
  // Frees a lock that a thread of the parent process may have held when this process was forked.
  void reset() noexcept {
    // relaxed: there is only one thread.
    word_.store(0, relaxed);
  }

 private:
  void lock_slowly() noexcept;
  void wake_one() noexcept;
  // 0: free, 1: taken, 2: taken, and threads may sleep.
  atomic<std::uint32_t> word_{0};
};
static_assert(sizeof(small_lock) == 4);

// Holds a lock until the end of the scope.
using locked = std::lock_guard<small_lock>;

}  // namespace tutti::openmp
