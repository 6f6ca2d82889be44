// SPDX-License-Identifier: Apache-2.0
// Tokens: a run of identifier characters is a number if all of it reads as one, and a word
// otherwise.
#include "vcode/language/lexer.hpp"

#include <fmt/format.h>

#include "vcode/vcode.hpp"

namespace tutti::vcode {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr bool is_word_character(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("-+*/%<>=!._").find(c) != std::string_view::npos;
}

std::size_t digits(std::string_view text, std::size_t from) {
  while (from < text.size() && is_digit(text[from])) ++from;
  return from;
}

// [sign] digits, or [sign] digits '.' [digits] [e [sign] digits]
token_kind kind_of_word(std::string_view text) {
  const std::size_t start = text[0] == '-' || text[0] == '+' ? 1 : 0;
  std::size_t at = digits(text, start);
  if (at == start) return token_kind::word;
  if (at == text.size()) return token_kind::integer;
  if (text[at] != '.') return token_kind::word;
  at = digits(text, at + 1);
  if (at == text.size()) return token_kind::real;
  if (text[at] != 'e' && text[at] != 'E') return token_kind::word;
  ++at;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  const std::size_t exponent = at;
  at = digits(text, at);
  return at == text.size() && at > exponent ? token_kind::real : token_kind::word;
}

std::string shown(char c) {
  const auto code = static_cast<unsigned char>(c);
  return code > 32 && code < 127 ? fmt::format("'{}'", c) : fmt::format("with code {}", code);
}

}  // namespace

void lexer::advance(std::size_t count) {
  for (const char c : rest_.substr(0, count)) {
    if (c == '\n') {
      ++at_.line;
      at_.column = 1;
    } else {
      ++at_.column;
    }
  }
  rest_.remove_prefix(count);
}

void lexer::skip() {
  while (!rest_.empty()) {
    const char c = rest_[0];
    if (c == ' ' || c == '\t' || c == '\n') {
      advance(1);
    } else if (c == '{') {
      const std::size_t end = rest_.find('}');
      if (end == std::string_view::npos) {
        throw source_error(file_, at_.line, at_.column, "this comment has no '}'");
      }
      advance(end + 1);
    } else if (c == '\r') {
      // A file from another system has a carriage return on every line; one warning is enough.
      if (warnings_.empty()) {
        warnings_.push_back(
            fmt::format("{}:{}:{}: carriage returns are ignored", file_, at_.line, at_.column));
      }
      advance(1);
    } else {
      return;
    }
  }
}

token lexer::word(place where) {
  std::size_t size = 0;
  while (size < rest_.size() && is_word_character(rest_[size])) ++size;
  const std::string_view text = rest_.substr(0, size);
  advance(size);
  return {kind_of_word(text), text, where};
}

token lexer::string(place where) {
  const std::size_t end = rest_.find('"', 1);
  if (end == std::string_view::npos) {
    throw source_error(file_, where.line, where.column, "this string has no closing '\"'");
  }
  const std::string_view text = rest_.substr(1, end - 1);
  advance(end + 1);
  return {token_kind::string, text, where};
}

token lexer::next() {
  skip();
  const place where = at_;
  if (rest_.empty()) return {token_kind::end, {}, where};
  const char c = rest_[0];
  if (is_word_character(c)) return word(where);
  if (c == '"') return string(where);
  if (c == '(' || c == ')') {
    const std::string_view text = rest_.substr(0, 1);
    advance(1);
    return {c == '(' ? token_kind::open : token_kind::close, text, where};
  }
  throw source_error(file_, where.line, where.column,
                     fmt::format("unexpected character {}", shown(c)));
}

}  // namespace tutti::vcode
