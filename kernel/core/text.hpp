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

inline bool ends_word(char c) noexcept { return c == '\0' || c == ' '; }
// Calls visit(word, its length) for each word of the line.
template <class Visit>
void for_each_word(const char* line, Visit visit) noexcept {
  while (*line != '\0') {
    const char* const word = line;
    while (!ends_word(*line)) ++line;
    if (line != word) visit(word, static_cast<u64>(line - word));
    if (*line != '\0') ++line;
  }
}
// Whether a list such as "NAME=A|B OTHER=N" has the word: N stands for a number below 2^64, T for a
// number of threads, which is 1 to 65,535, and * for anything.
bool is_listed(const char* word, u64 bytes, const char* list) noexcept;

// Returns what follows "NAME=" in a line of words, up to its end or the next blank, or null.
const char* value_of(const char* line, const char* name) noexcept;
// Whether the value of NAME is `wanted`.
bool is_value(const char* line, const char* name, const char* wanted) noexcept;
// The value of NAME as a number, or `otherwise`.
u64 number_of(const char* line, const char* name, u64 otherwise) noexcept;

}  // namespace tutti::kernel::text
