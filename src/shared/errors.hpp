// SPDX-License-Identifier: Apache-2.0
// How the barrier between processes refuses.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "tutti/barrier/shared.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::detail::shared {

using reason = shared_barrier_error::reason;

[[noreturn]] inline void fail(reason why, const std::string& what) {
#if defined(__cpp_exceptions)
  throw shared_barrier_error(why, "tutti: " + what);
#else
  refuse(what);
#endif
}

// Call it at once after what has failed.
[[noreturn]] inline void fail_by_system(const std::string& what) {
  const int error = errno;
  fail(reason::system, what + ": " + std::strerror(error));
}

inline std::string participant_text(rank_t rank, std::int32_t process) {
  return "rank " + std::to_string(rank) + " (process " + std::to_string(process) + ")";
}

}  // namespace tutti::detail::shared
