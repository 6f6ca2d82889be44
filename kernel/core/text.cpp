// SPDX-License-Identifier: Apache-2.0
#include "kernel/core/text.hpp"

namespace tutti::kernel::text {

namespace {
bool ends_word(char c) noexcept { return c == '\0' || c == ' '; }

// Returns the end of the word NAME in the line, where '=', a blank or the end is, or null.
const char* find_word(const char* line, const char* name) noexcept {
  const u64 bytes = length(name);
  for (const char* at = line; *at != '\0'; ++at) {
    if (at != line && at[-1] != ' ') continue;
    if (is_same(at, name, bytes) && (at[bytes] == '=' || ends_word(at[bytes]))) return at + bytes;
  }
  return nullptr;
}
}  // namespace

const char* value_of(const char* line, const char* name) noexcept {
  const char* end = find_word(line, name);
  return end != nullptr && *end == '=' ? end + 1 : nullptr;
}

bool has_word(const char* line, const char* name) noexcept {
  return find_word(line, name) != nullptr;
}

bool is_value(const char* line, const char* name, const char* wanted) noexcept {
  const char* value = value_of(line, name);
  const u64 bytes = length(wanted);
  return value != nullptr && is_same(value, wanted, bytes) && ends_word(value[bytes]);
}

u64 number_of(const char* line, const char* name, u64 otherwise) noexcept {
  const char* value = value_of(line, name);
  if (value == nullptr || *value < '0' || *value > '9') return otherwise;
  u64 number = 0;
  for (; *value >= '0' && *value <= '9'; ++value)
    number = 10 * number + static_cast<u64>(*value - '0');
  return number;
}

}  // namespace tutti::kernel::text
