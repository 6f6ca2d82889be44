// SPDX-License-Identifier: Apache-2.0
// What wait policies learn of a CPU (platform/cpu.hpp) on which no other process runs: for
// platforms whose threads are fibers of one thread. The platform adds visited_by_another().
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti::platform {

class undisturbed_cpu {
 public:
  bool has_other_process() const noexcept { return false; }
  bool is_shunned(std::uint64_t) const noexcept { return false; }
  bool is_contested(std::uint64_t) const noexcept { return false; }
  bool may_try_yielding(std::uint64_t, std::uint32_t) const noexcept { return true; }
  int times_before_yield(std::uint64_t) const noexcept { return 0; }
  std::uint64_t ran_since(int) const noexcept { return 0; }
  void note_foreign_slice(std::uint64_t, std::uint64_t, std::uint64_t) const noexcept {}
  void note_preemption(std::uint64_t, std::uint64_t) const noexcept {}
  void note_short_yield() const noexcept {}
  void note_wait() noexcept { ++waits_; }
  std::uint32_t waits() const noexcept { return waits_; }

 protected:
  // Notes that thread `me` waits here. Returns true if another thread did so before it.
  bool visit(std::size_t me) noexcept {
    const std::size_t last = last_waiter_;
    last_waiter_ = me + 1;
    return last != 0 && last != last_waiter_;
  }

 private:
  std::size_t last_waiter_ = 0;  // Its number + 1; 0: nobody yet.
  std::uint32_t waits_ = 0;
};

}  // namespace tutti::platform
