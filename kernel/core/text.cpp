// SPDX-License-Identifier: Apache-2.0
#include "kernel/core/text.hpp"

namespace tutti::kernel::text {

namespace {
bool is_number(const char* s, u64 bytes, u64 least, u64 most) noexcept {
  constexpr u64 greatest = ~u64{0};
  u64 number = 0;
  for (u64 i = 0; i < bytes; ++i) {
    if (s[i] < '0' || s[i] > '9') return false;
    const u64 digit = static_cast<u64>(s[i] - '0');
    if (number > greatest / 10 || 10 * number > greatest - digit) return false;
    number = 10 * number + digit;
  }
  return bytes > 0 && least <= number && number <= most;
}

// Whether one of the values "A|B" of a list's word is this one.
bool is_among(const char* value, u64 bytes, const char* values, const char* end) noexcept {
  for (const char* at = values; at < end;) {
    const char* next = at;
    while (next < end && *next != '|') ++next;
    const u64 length = static_cast<u64>(next - at);
    if (length == bytes && is_same(at, value, bytes)) return true;
    if (length == 1 && (*at == '*' || (*at == 'N' && is_number(value, bytes, 0, ~u64{0})) ||
                        (*at == 'T' && is_number(value, bytes, 1, 65'535))))
      return true;
    at = next + 1;
  }
  return false;
}

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

bool is_listed(const char* word, u64 bytes, const char* list) noexcept {
  bool is_found = false;
  for_each_word(list, [&](const char* known, u64 size) {
    u64 name = 0;
    while (known[name] != '=') ++name;
    const u64 begin = name + 1;
    if (bytes >= begin && is_same(word, known, begin) &&
        is_among(word + begin, bytes - begin, known + begin, known + size))
      is_found = true;
  });
  return is_found;
}

const char* value_of(const char* line, const char* name) noexcept {
  const char* end = find_word(line, name);
  return end != nullptr && *end == '=' ? end + 1 : nullptr;
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
