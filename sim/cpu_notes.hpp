// SPDX-License-Identifier: Apache-2.0
// What waiting threads learn about a simulated CPU. They judge as on a real one (platform/cpu.hpp);
// only what the kernel tells there, the world tells here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tutti/platform/cpu.hpp"

namespace tutti::sim {

class cpu_notes : public platform::cpu_hints {
 public:
  bool visited_by_another() noexcept;
  void note_running() noexcept;
  // For how long the other participants on this CPU have run so far, in nanoseconds, if
  // a long yield would be taken for evidence of another process.
  std::uint64_t times_before_yield(std::uint64_t now_ns, bool asks) const noexcept;
  static std::uint64_t ran_since(std::uint64_t before_ns) noexcept;
  void note_foreign_slice(std::uint64_t began_ns, std::uint64_t now_ns, std::uint64_t own_ns,
                          bool is_proven) noexcept;
  void note_preemption(std::uint64_t began_ns, std::uint64_t now_ns) noexcept;
  bool is_contest_over(std::uint64_t now_ns, std::uint32_t awake) noexcept;
  static bool is_quota_scarce(std::uint64_t now_ns) noexcept;
  bool may_try_yielding(std::uint64_t now_ns, std::uint32_t awake) noexcept;

 private:
  // After a slice of another process a long yield is evidence for so long.
  static constexpr std::uint64_t at_once_ns = 2'000'000;
  // The number of the thread that waited last, plus 1, or 0.
  std::size_t last_waiter_ = 0;
  // The same of the thread that ran here last and woke others.
  std::size_t running_ = 0;
  std::uint64_t noted_at_ = 0;
};

}  // namespace tutti::sim
