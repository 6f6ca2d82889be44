// SPDX-License-Identifier: Apache-2.0
// Output: print(parts...) writes a line, as one piece.
#pragma once

#include <concepts>

#include "kernel/arch/machine.hpp"
#include "kernel/core/text.hpp"

namespace tutti::kernel {

struct hex {
  u64 value;
};
// A number with three decimals, of thousandths.
struct thousandths {
  u64 value;
};

// A text that is put together on the stack; what does not fit is left out.
class line_of_text {
 public:
  void add(const char* s) noexcept {
    while (*s != '\0') put(*s++);
  }
  void add(char c) noexcept { put(c); }
  void add(bool b) noexcept { add(b ? "true" : "false"); }
  template <std::unsigned_integral T>
  void add(T value) noexcept {
    add_number(value, 10, 1);
  }
  template <std::signed_integral T>
  void add(T value) noexcept {
    if (value < 0) put('-');
    add_number(value < 0 ? u64{0} - static_cast<u64>(value) : static_cast<u64>(value), 10, 1);
  }
  void add(hex h) noexcept {
    add("0x");
    add_number(h.value, 16, 1);
  }
  void add(thousandths t) noexcept {
    add_number(t.value / 1000, 10, 1);
    put('.');
    add_number(t.value % 1000, 10, 3);
  }

  const char* begin() const noexcept { return text_; }
  u64 size() const noexcept { return size_; }

 private:
  void put(char c) noexcept {
    if (size_ < sizeof text_) text_[size_++] = c;
  }
  void add_number(u64 value, u64 base, int least_digits) noexcept {
    char digits[20];
    int n = 0;
    // A division of more than a word takes long on a processor of 32 bits.
    for (; value >> 32 != 0; value /= base) digits[n++] = "0123456789abcdef"[value % base];
    for (u32 low = static_cast<u32>(value), by = static_cast<u32>(base);
         low > 0 || n < least_digits; low /= by)
      digits[n++] = "0123456789abcdef"[low % by];
    while (n > 0) put(digits[--n]);
  }

  char text_[512];
  u64 size_ = 0;
};

// Writes bytes without those of another core between them.
void write_whole(const char* bytes, u64 count) noexcept;

template <class... Parts>
void print(const Parts&... parts) noexcept {
  line_of_text line;
  (line.add(parts), ...);
  line.add('\n');
  write_whole(line.begin(), line.size());
}

}  // namespace tutti::kernel
