// SPDX-License-Identifier: Apache-2.0
// The functions on bytes and texts, some of which compilers call by themselves. Handlers may call
// them too, so this file is compiled without floating-point registers, as the kernel is.
#include <cstddef>
#include <cstdint>

namespace {

using word = std::uint64_t __attribute__((may_alias, aligned(1)));
constexpr std::size_t step = sizeof(word);

// The compiler may not recognise these loops and call the function that contains them.
#define TUTTI_KEEP_LOOP asm volatile("" ::: "memory")

void copy_up(unsigned char* to, const unsigned char* from, std::size_t bytes) noexcept {
  std::size_t i = 0;
  for (; i + 4 * step <= bytes; i += 4 * step) {
    const word* in = reinterpret_cast<const word*>(from + i);
    word* out = reinterpret_cast<word*>(to + i);
    const std::uint64_t a = in[0], b = in[1], c = in[2], d = in[3];
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
  }
  for (; i < bytes; ++i) {
    to[i] = from[i];
    TUTTI_KEEP_LOOP;
  }
}

void copy_down(unsigned char* to, const unsigned char* from, std::size_t bytes) noexcept {
  for (; bytes >= step; bytes -= step) {
    *reinterpret_cast<word*>(to + bytes - step) =
        *reinterpret_cast<const word*>(from + bytes - step);
    TUTTI_KEEP_LOOP;
  }
  for (; bytes > 0; --bytes) {
    to[bytes - 1] = from[bytes - 1];
    TUTTI_KEEP_LOOP;
  }
}

}  // namespace

extern "C" {

void* memmove(void* to, const void* from, std::size_t bytes) {
  auto* out = static_cast<unsigned char*>(to);
  auto* in = static_cast<const unsigned char*>(from);
  if (reinterpret_cast<std::uintptr_t>(out) - reinterpret_cast<std::uintptr_t>(in) < bytes)
    copy_down(out, in, bytes);
  else
    copy_up(out, in, bytes);
  return to;
}

void* memcpy(void* to, const void* from, std::size_t bytes) {
  copy_up(static_cast<unsigned char*>(to), static_cast<const unsigned char*>(from), bytes);
  return to;
}

void* memset(void* to, int value, std::size_t bytes) {
  auto* out = static_cast<unsigned char*>(to);
  const std::uint64_t pattern = 0x0101010101010101u * static_cast<unsigned char>(value);
  std::size_t i = 0;
  for (; i + step <= bytes; i += step) {
    *reinterpret_cast<word*>(out + i) = pattern;
    TUTTI_KEEP_LOOP;
  }
  for (; i < bytes; ++i) {
    out[i] = static_cast<unsigned char>(value);
    TUTTI_KEEP_LOOP;
  }
  return to;
}

int memcmp(const void* left, const void* right, std::size_t bytes) {
  auto* a = static_cast<const unsigned char*>(left);
  auto* b = static_cast<const unsigned char*>(right);
  std::size_t i = 0;
  while (i + step <= bytes &&
         *reinterpret_cast<const word*>(a + i) == *reinterpret_cast<const word*>(b + i))
    i += step;
  for (; i < bytes; ++i)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

void* memchr(const void* in, int value, std::size_t bytes) {
  auto* at = static_cast<const unsigned char*>(in);
  for (std::size_t i = 0; i < bytes; ++i)
    if (at[i] == static_cast<unsigned char>(value)) return const_cast<unsigned char*>(at + i);
  return nullptr;
}

std::size_t strlen(const char* text) {
  std::size_t bytes = 0;
  for (; text[bytes] != '\0'; ++bytes) TUTTI_KEEP_LOOP;
  return bytes;
}

int strcmp(const char* a, const char* b) {
  for (; *a == *b && *a != '\0'; ++a) ++b;
  return static_cast<unsigned char>(*a) - static_cast<unsigned char>(*b);
}
int strncmp(const char* a, const char* b, std::size_t most) {
  std::size_t i = 0;
  while (i < most && a[i] == b[i] && a[i] != '\0') ++i;
  return i == most ? 0 : static_cast<unsigned char>(a[i]) - static_cast<unsigned char>(b[i]);
}
char* strchr(const char* text, int wanted) {
  for (;; ++text) {
    if (*text == static_cast<char>(wanted)) return const_cast<char*>(text);
    if (*text == '\0') return nullptr;
  }
}
char* strncpy(char* to, const char* text, std::size_t bytes) {
  std::size_t length = 0;
  while (length < bytes && text[length] != '\0') ++length;
  memcpy(to, text, length);
  memset(to + length, 0, bytes - length);
  return to;
}

wchar_t* wmemchr(const wchar_t* in, wchar_t value, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    if (in[i] == value) return const_cast<wchar_t*>(in + i);
  return nullptr;
}

}  // extern "C"
