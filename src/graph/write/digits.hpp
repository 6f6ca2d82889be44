// SPDX-License-Identifier: Apache-2.0
// Writes numbers as text into a stream, in blocks. The last block needs a flush(), which may throw;
// a destructor must not.
#pragma once

#include <charconv>
#include <ostream>
#include <string_view>
#include <type_traits>

namespace tutti::graph {

class digits {
 public:
  explicit digits(std::ostream& out) : out_(out) {}
  digits(const digits&) = delete;
  digits& operator=(const digits&) = delete;

  template <class Number>
  requires std::is_arithmetic_v<Number>
  void put(Number value) {
    make_room();
    at_ = std::to_chars(at_, buffer_ + sizeof buffer_, value).ptr;
  }
  void put(char c) {
    make_room();
    *at_++ = c;
  }
  void put(std::string_view words) {
    flush();
    out_ << words;
  }
  void flush() {
    out_.write(buffer_, at_ - buffer_);
    at_ = buffer_;
  }

 private:
  // The length of the longest number in its shortest form.
  static constexpr std::ptrdiff_t longest = 64;
  void make_room() {
    if (buffer_ + sizeof buffer_ - at_ < longest) flush();
  }

  std::ostream& out_;
  char buffer_[1 << 14];
  char* at_ = buffer_;
};

}  // namespace tutti::graph
