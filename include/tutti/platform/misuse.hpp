// SPDX-License-Identifier: Apache-2.0
// How a build with checks (TUTTI_CHECKS) reports that a program breaks a primitive's contract.
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

// A line of the user's source. std::source_location is not used because clang 14 lacks it with
// libstdc++.
struct source_place {
  const char* file = "";
  unsigned line = 0;
  static constexpr source_place here(const char* file = __builtin_FILE(),
                                     unsigned line = __builtin_LINE()) noexcept {
    return {file, line};
  }
};

// The place of the user's call, taken as a default argument, and whether the source that contains
// the call is compiled with checks. The setting is a value and no part of a type: sources with and
// without checks share objects and functions, and each call is checked as its own source says.
// A compiler that inlines a call without checks leaves no code for them.
struct call_site {
  // Null in a source without checks.
  const char* file = nullptr;
  std::uint64_t line = 0;
  static constexpr call_site here(const char* file = __builtin_FILE(),
                                  unsigned line = __builtin_LINE(),
                                  bool checks = TUTTI_CHECKS != 0) noexcept {
    return checks ? call_site{file, line} : call_site{};
  }
  constexpr bool checks() const noexcept { return file != nullptr; }
  constexpr source_place at() const noexcept { return {file, static_cast<unsigned>(line)}; }
};

// Receives a sentence and the place. It may throw. If it returns, the program continues although
// its behaviour is undefined from there on.
using misuse_handler = void (*)(const std::string& what, const source_place& where);

// Prints the place and the sentence on stderr and aborts the program, as assert does.
[[noreturn]] inline void abort_on_misuse(const std::string& what, const source_place& where) {
  std::fprintf(stderr, "%s:%u: tutti: %s\n", where.file, where.line, what.c_str());
  std::abort();
}

// The handler in use. Replace it to throw or to log instead, before the first thread uses tutti.
TUTTI_API inline misuse_handler on_misuse = abort_on_misuse;

// Rejects a value that can never be right, in every build. Throws std::invalid_argument with
// "tutti: " before `what`. In a program without exceptions that prints the sentence and ends the
// program; freestanding builds trap.
[[noreturn]] inline void refuse(const std::string& what) {
#if defined(__GLIBCXX__)
  // One program may have sources with exceptions and others without, and the linker keeps one copy
  // of this function. So it has one text, and libstdc++ throws.
  std::__throw_invalid_argument(("tutti: " + what).c_str());
#elif defined(__cpp_exceptions)
  throw std::invalid_argument("tutti: " + what);
#else
  std::fprintf(stderr, "tutti: %s\n", what.c_str());
  std::abort();
#endif
}

#else

[[noreturn]] inline void refuse(const char* /*what*/) { __builtin_trap(); }

#endif

// Calls refuse(what) unless the condition on a value holds, in every build.
constexpr void require(bool holds, const char* what) {
  if (!holds) refuse(what);
}

}  // namespace tutti
