// SPDX-License-Identifier: Apache-2.0
// When a call lets MPI work on what it has begun although it does not wait for long. The rank that
// comes last, and the root of a broadcast, do not wait at all. A large message that such a rank
// sends would stand still if it made progress only while it waits (progressing.hpp).
//
// A call makes progress if the last call that did lies at least `every_ns` back, so a program that
// works between two calls makes some in each of them. Reading the clock in every call would be a
// noticeable part of a barrier of 70 ns. So a call looks at the clock after 1, 2, 4 ... calls
// that have not, and at least after `most_calls`: in a loop of calls and work, progress is made at
// the latest in every second turn, and soon after work in a long row of calls.
#pragma once

#include <cstdint>

#include "tutti/platform/minmax.hpp"

namespace tutti::preload {

class progress_pace {
 public:
  static constexpr std::uint64_t every_ns = 100'000;
  static constexpr std::uint32_t most_calls = 32;

  // Whether this call looks at the clock. Then it calls is_due().
  bool looks() noexcept { return --calls_to_look_ == 0; }
  // `since`: the time since the last progress, in the unit of `every`.
  bool is_due(std::uint64_t since, std::uint64_t every) noexcept {
    const bool is_so = since >= every;
    calls_between_looks_ = is_so ? 1 : smaller(2 * calls_between_looks_, most_calls);
    calls_to_look_ = calls_between_looks_;
    return is_so;
  }

 private:
  std::uint32_t calls_to_look_ = 1, calls_between_looks_ = 1;
};

}  // namespace tutti::preload
