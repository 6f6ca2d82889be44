// SPDX-License-Identifier: Apache-2.0
// Counts of what a run did.
#pragma once

#include <cstdint>

namespace tutti::vcode {

struct run_statistics {
  std::uint64_t instructions = 0;
  // Instructions that touched the elements of a vector.
  std::uint64_t vector_instructions = 0;
  // Elements that those instructions produced.
  std::uint64_t elements = 0;
  // Bytes of vectors read and written in memory.
  std::uint64_t bytes = 0;
  // Passes over memory; fused instructions share one.
  std::uint64_t passes = 0;
  // Instructions that had no pass of their own.
  std::uint64_t fused = 0;
  // Episodes in which the threads agreed.
  std::uint64_t barriers = 0;
  // Bytes.
  std::uint64_t arena_peak = 0;
};

}  // namespace tutti::vcode
