// SPDX-License-Identifier: Apache-2.0
// Reads a text of numbers from front to back and keeps the line number for errors. Lines end in \n
// or \r\n; the last one need not.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "tutti/graph/load.hpp"

namespace tutti::graph {

class text {
 public:
  text(std::string_view bytes, const std::string& name)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()), name_(name) {}

  std::uint64_t line() const noexcept { return line_; }
  bool at_end() const noexcept { return at_ == end_; }
  char peek() const noexcept { return at_ == end_ ? '\0' : *at_; }
  std::string_view rest() const noexcept { return {at_, static_cast<std::size_t>(end_ - at_)}; }

  void skip_blanks() noexcept {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
  }
  // Skips blanks. Returns whether the line or the file ends here.
  bool at_line_end() noexcept {
    skip_blanks();
    return ends_here();
  }
  // Moves past the end of this line, which at_line_end() has found.
  void next_line() noexcept {
    if (at_ != end_ && *at_ == '\r') ++at_;
    if (at_ == end_) return;
    ++at_;
    ++line_;
  }
  // Returns the rest of this line without its end, and moves to the next line.
  std::string_view take_line() noexcept {
    const std::string_view all = rest();
    const std::size_t length = all.find('\n');
    std::string_view found = all.substr(0, length);
    at_ = length == all.npos ? end_ : at_ + length + 1;
    if (length != all.npos) ++line_;
    if (found.ends_with('\r')) found.remove_suffix(1);
    return found;
  }

  // Reads a whole number from 0; larger numbers than fit saturate. `what` names the number in
  // errors, for example "a vertex".
  std::uint64_t whole(const char* what) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    skip_blanks();
    const char* const first = at_;
    std::uint64_t value = 0;
    for (; at_ != end_ && is_digit(*at_); ++at_) {
      const auto digit = static_cast<std::uint64_t>(*at_ - '0');
      value = value > (most - digit) / 10 ? most : value * 10 + digit;
    }
    if (at_ == first || !at_token_end()) bad_token(first, what, "a whole number from 0");
    return value;
  }

  // Reads a finite number and rounds it to the nearest float. `whole_only` accepts integers only.
  float real(const char* what, bool whole_only = false) {
    skip_blanks();
    const char* const first = at_;
    const bool negative = at_ != end_ && *at_ == '-';
    if (at_ != end_ && (*at_ == '-' || *at_ == '+')) ++at_;
    const char* const digits = at_;
    std::uint32_t value = 0;
    while (at_ != end_ && is_digit(*at_) && at_ - digits < 8)
      value = value * 10 + static_cast<std::uint32_t>(*at_++ - '0');
    // Every integer up to this one is a float.
    constexpr std::uint32_t exact = 1u << 24;
    if (at_ != digits && value <= exact && at_token_end())
      return negative ? -static_cast<float>(value) : static_cast<float>(value);
    return long_real(first, digits, what, whole_only);
  }

  // Returns the next token of this line as text; empty at the line's end.
  std::string_view word() noexcept {
    skip_blanks();
    const char* const first = at_;
    while (!at_token_end()) ++at_;
    return {first, static_cast<std::size_t>(at_ - first)};
  }

  // Requires that nothing more is on this line, and moves to the next line.
  void end_line(const char* after) {
    if (!at_line_end()) fail(std::string("'") + shown(word()) + "' follows after " + after);
    next_line();
  }

  [[noreturn]] void fail(const std::string& what) const { throw file_error(name_, line_, what); }
  [[noreturn]] void fail_at(std::uint64_t line, const std::string& what) const {
    throw file_error(name_, line, what);
  }

  // The beginning of a token that fits into an error, without characters that would disturb a
  // terminal.
  static std::string shown(std::string_view token);

 private:
  static bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
  // A carriage return that no line end follows is part of a word, which is then invalid.
  bool ends_here() const noexcept {
    return at_ == end_ || *at_ == '\n' || (*at_ == '\r' && (at_ + 1 == end_ || at_[1] == '\n'));
  }
  bool at_token_end() const noexcept { return ends_here() || *at_ == ' ' || *at_ == '\t'; }
  [[noreturn]] void bad_token(const char* first, const char* what, const char* wanted);
  float long_real(const char* first, const char* digits, const char* what, bool whole_only);

  const char* at_;
  const char* end_;
  const std::string& name_;
  std::uint64_t line_ = 1;
};

}  // namespace tutti::graph
