// SPDX-License-Identifier: Apache-2.0
// The lock of the kernel's own data: its owner runs with interrupts off, so no handler of the same
// core finds it locked.
#pragma once

#include <atomic>

#include "kernel/arch/machine.hpp"
#include "kernel/core/holding.hpp"

namespace tutti::kernel {

// Turns interrupts off, and back to what they were.
class without_interrupts {
 public:
  without_interrupts() noexcept : were_on_(machine::are_interrupts_on()) {
    machine::interrupts_off();
  }
  ~without_interrupts() {
    if (were_on_) machine::interrupts_on();
  }
  without_interrupts(const without_interrupts&) = delete;
  without_interrupts& operator=(const without_interrupts&) = delete;

 private:
  bool were_on_;
};

class spin_lock {
 public:
  // Precondition: interrupts are off.
  void lock() noexcept {
    // acquire: pairs with unlock(), so that what the last owner wrote is seen.
    while (is_locked_.exchange(1, std::memory_order_acquire) != 0) machine::pause();
  }
  void unlock() noexcept {
    // release: publishes what was written under the lock to the next owner.
    is_locked_.store(0, std::memory_order_release);
  }

 private:
  // A word: not every processor exchanges a byte.
  std::atomic<u32> is_locked_{0};
};

class locked {
 public:
  explicit locked(spin_lock& lock) noexcept : lock_(lock) {}

 private:
  without_interrupts off_;
  holding<spin_lock> lock_;
};

}  // namespace tutti::kernel
