// SPDX-License-Identifier: Apache-2.0
// The rare cases of text.hpp: long numbers, and errors about bad ones.
#include "src/graph/read/text.hpp"

#include <algorithm>
#include <cstdlib>

namespace tutti::graph {

namespace {

// Whether a positive number that no type of the machine holds is below 1, and not above it.
bool is_below_one(std::string_view token) {
  const std::size_t mantissa = std::min(token.find_first_of("eE"), token.size());
  const std::size_t point = std::min(token.find('.'), mantissa);
  const std::size_t first = token.find_first_of("123456789");
  std::string_view power = token.substr(std::min(mantissa + 1, token.size()));
  if (power.starts_with('+')) power.remove_prefix(1);
  std::int64_t exponent = 0;
  const bool fits = std::from_chars(power.data(), power.data() + power.size(), exponent).ec !=
                    std::errc::result_out_of_range;
  if (!fits || std::abs(exponent) > std::numeric_limits<std::int64_t>::max() / 2)
    return power.starts_with('-');
  return exponent + static_cast<std::int64_t>(point) < static_cast<std::int64_t>(first);
}

}  // namespace

std::string text::shown(std::string_view token) {
  constexpr std::size_t most = 24;
  constexpr char hex[] = "0123456789abcdef";
  std::string result;
  for (const char c : token.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f)
      result += c;
    else
      (result += "\\x") += {hex[byte >> 4], hex[byte & 15]};
  }
  return token.size() > most ? result + "..." : result;
}

void text::bad_token(const char* first, const char* what, const char* wanted) {
  at_ = first;
  const std::string_view token = word();
  if (token.empty()) fail(std::string("the line ends where ") + what + " should be");
  fail(std::string(what) + " must be " + wanted + ", not '" + shown(token) + "'");
}

float text::long_real(const char* first, const char* digits, const char* what, bool whole_only) {
  const char* const wanted = whole_only ? "a whole number" : "a finite number";
  at_ = digits;
  const std::string_view token = word();
  // from_chars would also accept "inf", "nan" and a second sign.
  const bool begins_well = !token.empty() && (is_digit(token[0]) || token[0] == '.');
  if (!begins_well || (whole_only && token.find_first_not_of("0123456789") != token.npos))
    bad_token(first, what, wanted);
  const char* const last = token.data() + token.size();
  float value = 0;
  const auto [stop, error] = std::from_chars(token.data(), last, value);
  if (stop != last || error == std::errc::invalid_argument) bad_token(first, what, wanted);
  if (error == std::errc::result_out_of_range) {
    // A number that is too small becomes the nearest float, which may be 0; one that is too large
    // is an error.
    long double wide = 0;
    const bool lost = std::from_chars(token.data(), last, wide).ec != std::errc();
    const bool is_tiny = lost && is_below_one(token);
    if (!is_tiny && (lost || wide > static_cast<long double>(std::numeric_limits<float>::max()))) {
      at_ = first;
      fail(std::string(what) + ", '" + shown(word()) + "', is too large for a float");
    }
    value = is_tiny ? 0 : static_cast<float>(wide);
  }
  return *first == '-' ? -value : value;
}

}  // namespace tutti::graph
