// SPDX-License-Identifier: Apache-2.0
// A lock for calls of MPI. One thread at a time in the whole program calls MPI, as
// MPI_THREAD_SERIALIZED requires, even when threads use different communicators. If MPI runs for a
// single thread, taking the lock costs one branch that is always predicted.
#pragma once

#include <atomic>

#include "tutti/platform/config.hpp"
#include "tutti/platform/native.hpp"

namespace tutti::mpi {

class turn {
 public:
  // `is_contended`: MPI runs with MPI_THREAD_SERIALIZED or more.
  explicit turn(bool is_contended) noexcept : is_contended_(is_contended) {}

  bool try_lock() noexcept {
    if (!is_contended_) return true;
    // relaxed: only a look; acquire: pairs with unlock, so that what the last owner did is seen.
    return !taken_.load(relaxed) && !taken_.exchange(true, acquire);
  }
  void lock() noexcept {
    while (!try_lock()) native::yield();
  }
  void unlock() noexcept {
    // release: publishes what was done in the turn to the next owner.
    if (is_contended_) taken_.store(false, release);
  }

 private:
  const bool is_contended_;
  alignas(cache_line) static inline std::atomic<bool> taken_{false};
};

}  // namespace tutti::mpi
