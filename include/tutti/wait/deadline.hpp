// SPDX-License-Identifier: Apache-2.0
// How long a wait may last. `no_deadline` is known at compile time, so that a wait without one pays nothing.
#pragma once

#include <cstdint>

#include "tutti/platform/futex.hpp"

namespace tutti {

struct no_deadline {
  static constexpr std::uint64_t ns() noexcept { return platform::forever_ns; }
  template <class Memory>
  static constexpr bool passed() noexcept {
    return false;
  }
};

// An instant of the monotonic clock, in nanoseconds.
class deadline {
 public:
  explicit constexpr deadline(std::uint64_t ns) noexcept : ns_(ns) {}
  constexpr std::uint64_t ns() const noexcept { return ns_; }
  template <class Memory>
  bool passed() const noexcept {
    return Memory::now_ns() >= ns_;
  }

 private:
  std::uint64_t ns_;
};

}  // namespace tutti
