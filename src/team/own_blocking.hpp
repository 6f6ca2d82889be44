// SPDX-License-Identifier: Apache-2.0
// Calls of the library that block a thread, such as the end of a team inside a region: a virtual
// rank that makes one is not reported for it.
#pragma once

#include <cstdint>

#include "tutti/platform/clock.hpp"

namespace tutti::detail {

// How long this thread has been inside such calls.
inline constinit thread_local std::uint64_t own_blocking_ns = 0;

class own_blocking {
 public:
  own_blocking() = default;
  ~own_blocking() { own_blocking_ns += platform::now_ns() - start_; }
  own_blocking(const own_blocking&) = delete;
  own_blocking& operator=(const own_blocking&) = delete;

 private:
  const std::uint64_t start_ = platform::now_ns();
};

}  // namespace tutti::detail
