// SPDX-License-Identifier: Apache-2.0
// What wait policies learn of a CPU (platform/cpu.hpp) on which no other process runs: nothing. A
// platform without other processes adds visited_by_another(), and counts the waits if several
// threads share a CPU.
#pragma once

#include <cstdint>

namespace tutti::platform {

struct undisturbed_cpu {
  bool has_other_process() const noexcept { return false; }
  bool is_shunned(std::uint64_t) const noexcept { return false; }
  bool is_contested(std::uint64_t) const noexcept { return false; }
  bool is_quota_scarce(std::uint64_t) const noexcept { return false; }
  bool is_contest_over(std::uint64_t, std::uint32_t) const noexcept { return false; }
  bool may_try_yielding(std::uint64_t, std::uint32_t) const noexcept { return true; }
  int times_before_yield(std::uint64_t, bool) const noexcept { return 0; }
  bool had_slice_lately(std::uint64_t) const noexcept { return false; }
  std::uint64_t ran_since(int) const noexcept { return 0; }
  void note_foreign_slice(std::uint64_t, std::uint64_t, std::uint64_t, bool) const noexcept {}
  void note_preemption(std::uint64_t, std::uint64_t) const noexcept {}
  void note_short_yield() const noexcept {}
  void note_wait() const noexcept {}
  std::uint32_t waits() const noexcept { return 0; }
};

}  // namespace tutti::platform
