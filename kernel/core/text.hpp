// SPDX-License-Identifier: Apache-2.0
// Texts without a library, and the words of the kernel's command line.
#pragma once

#include "kernel/arch/machine.hpp"

namespace tutti::kernel::text {

inline u64 length(const char* s) noexcept {
  u64 n = 0;
  while (s[n] != '\0') ++n;
  return n;
}

inline bool is_same(const char* a, const char* b, u64 bytes) noexcept {
  for (u64 i = 0; i < bytes; ++i)
    if (a[i] != b[i]) return false;
  return true;
}
inline bool is_same(const char* a, const char* b) noexcept {
  return length(a) == length(b) && is_same(a, b, length(a));
}

// Returns what follows "NAME=" in a line of words, up to its end or the next blank, or null.
const char* value_of(const char* line, const char* name) noexcept;
// Whether the line has NAME, alone or with a value.
bool has_word(const char* line, const char* name) noexcept;
// Whether the value of NAME is `wanted`.
bool is_value(const char* line, const char* name, const char* wanted) noexcept;
// The value of NAME as a number, or `otherwise`.
u64 number_of(const char* line, const char* name, u64 otherwise) noexcept;

}  // namespace tutti::kernel::text
