// SPDX-License-Identifier: Apache-2.0
// Where formatted text goes.
#pragma once

#include <cmath>
#include <cstdarg>
#include <cstddef>
#include <cstring>
#include <limits>

// A list of arguments that functions share by reference.
struct va_list_holder {
  va_list list;
};

namespace tutti::kernel {

class sink {
 public:
  virtual void add(const char* text, std::size_t bytes) noexcept = 0;
  void repeat(char c, std::size_t times) noexcept {
    while (times-- > 0) add(&c, 1);
  }

 protected:
  ~sink() = default;
};

// Keeps what has room, with a zero behind it, and counts the rest.
class bounded_text final : public sink {
 public:
  bounded_text(char* to, std::size_t room) noexcept : to_(to), room_(room) {}
  void add(const char* text, std::size_t bytes) noexcept override {
    for (std::size_t i = 0; i < bytes; ++i, ++written_)
      if (written_ + 1 < room_) to_[written_] = text[i];
  }
  // Writes the zero and returns the length of the whole text.
  std::size_t end() noexcept {
    if (room_ > 0) to_[written_ < room_ ? written_ : room_ - 1] = '\0';
    return written_;
  }

 private:
  char* to_;
  std::size_t room_;
  std::size_t written_ = 0;
};

void print_formatted(sink& to, const char* format, va_list values) noexcept;

}  // namespace tutti::kernel
