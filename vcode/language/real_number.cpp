// SPDX-License-Identifier: Apache-2.0
// Reads numbers by std::from_chars, and adds what it lacks: '+', "0x", and values out of range.
#include "vcode/language/real_number.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>

namespace tutti::vcode {
namespace {

bool is_hexadecimal(std::string_view text) {
  return text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

// Decides whether a number out of range, without sign and "0x", is too large or too small: the
// place of its first digit other than 0 and its exponent tell.
double limit_of(std::string_view text, bool is_hex) {
  constexpr std::int64_t far = std::int64_t{1} << 60;
  const std::size_t mark = std::min(text.find_first_of(is_hex ? "pP" : "eE"), text.size());
  const std::string_view digits = text.substr(0, mark);
  const std::size_t first = digits.find_first_not_of("0.");
  if (first == std::string_view::npos) return 0;
  const std::size_t point = std::min(digits.find('.'), digits.size());
  std::int64_t magnitude =
      (static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first)) * (is_hex ? 4 : 1);
  if (mark + 1 < text.size()) {
    std::string_view exponent = text.substr(mark + 1);
    const bool is_negative = exponent[0] == '-';
    if (is_negative || exponent[0] == '+') exponent.remove_prefix(1);
    std::int64_t value = 0;
    const auto read = std::from_chars(exponent.data(), exponent.data() + exponent.size(), value);
    if (read.ec != std::errc() || value > far) value = far;
    magnitude += is_negative ? -value : value;
  }
  return magnitude > 0 ? std::numeric_limits<double>::infinity() : 0;
}

}  // namespace

std::optional<double> read_real(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  const bool is_hex = is_hexadecimal(text);
  if (is_hex) text.remove_prefix(2);
  // std::from_chars would take a second sign, also in the exponent of a hexadecimal number, and
  // "inf" after "0x".
  if (text.starts_with('-') || text.find("+-") != text.npos) return std::nullopt;
  if (is_hex && std::string_view(".0123456789abcdefABCDEF").find(text[0]) == text.npos) {
    return std::nullopt;
  }
  double value = 0;
  const auto [stopped, error] =
      std::from_chars(text.data(), text.data() + text.size(), value,
                      is_hex ? std::chars_format::hex : std::chars_format::general);
  if (error == std::errc::invalid_argument || stopped != text.data() + text.size()) {
    return std::nullopt;
  }
  if (error == std::errc::result_out_of_range) value = limit_of(text, is_hex);
  return is_negative ? -value : value;
}

}  // namespace tutti::vcode
