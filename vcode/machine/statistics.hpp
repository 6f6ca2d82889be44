// SPDX-License-Identifier: Apache-2.0
// What a run did, counted.
#pragma once

#include <cstdint>

namespace tutti::vcode {

struct run_statistics {
  std::uint64_t instructions = 0;
  std::uint64_t vector_instructions = 0;  // those that touched the elements of a vector
  std::uint64_t elements = 0;             // that those instructions produced
  std::uint64_t bytes = 0;                // of vectors read and written in memory
  std::uint64_t passes = 0;               // over memory; fused instructions share one
  std::uint64_t fused = 0;                // instructions that had no pass of their own
  std::uint64_t barriers = 0;             // episodes that the threads agreed in
  std::uint64_t arena_peak = 0;           // bytes
};

}  // namespace tutti::vcode
