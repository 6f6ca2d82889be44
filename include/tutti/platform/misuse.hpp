// SPDX-License-Identifier: Apache-2.0
// What happens when a primitive is used against its contract in a build with checks (TUTTI_CHECKS).
#pragma once

#include <cstdint>

#include "tutti/export.h"
#include "tutti/platform/config.hpp"

#if TUTTI_HOSTED
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#endif

namespace tutti {

#if TUTTI_HOSTED

// A line of the user's source. std::source_location would do, but clang 14 has none with libstdc++.
struct source_place {
  const char* file = "";
  unsigned line = 0;
  static constexpr source_place here(const char* file = __builtin_FILE(),
                                     unsigned line = __builtin_LINE()) noexcept {
    return {file, line};
  }
};

// Where the user called; taken as a default argument. Empty, and free, in builds without checks.
template <bool Checks>
struct call_site {
  static constexpr call_site here() noexcept { return {}; }
};
template <>
struct call_site<true> {
  source_place at;
  static constexpr call_site here(const char* file = __builtin_FILE(),
                                  unsigned line = __builtin_LINE()) noexcept {
    return {{file, line}};
  }
};

// Called with a sentence and the place. It may throw; if it returns, the program goes on with the misuse.
using misuse_handler = void (*)(const std::string& what, const source_place& where);

// As assert does: says what and where, and ends the program.
[[noreturn]] inline void abort_on_misuse(const std::string& what, const source_place& where) {
  std::fprintf(stderr, "%s:%u: tutti: %s\n", where.file, where.line, what.c_str());
  std::abort();
}

// Replace it to throw or to log instead. Set it before the first thread uses tutti.
TUTTI_API inline misuse_handler on_misuse = abort_on_misuse;

// A value that can never be right, in every build. Throws std::invalid_argument.
[[noreturn]] inline void refuse(const std::string& what) {
  throw std::invalid_argument("tutti: " + what);
}

#else

template <bool Checks>
struct call_site {
  static constexpr call_site here() noexcept { return {}; }
};

[[noreturn]] inline void refuse(const char* /*what*/) { __builtin_trap(); }

#endif

// Of a value given to a constructor, in every build.
constexpr void require(bool holds, const char* what) {
  if (!holds) refuse(what);
}

}  // namespace tutti
