// SPDX-License-Identifier: Apache-2.0
// Prints vectors, both at the end of a program and for WRITE and FWRITE.
#include "vcode/io/format.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <memory>

#include "vcode/vcode.hpp"

namespace tutti::vcode {
namespace {

void append_integer(std::string& text, std::int32_t number) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  text.append(digits.data(), end);
}

void append_real(std::string& text, double number) {
  std::array<char, 40> digits{};
  const int size = std::snprintf(digits.data(), digits.size(), "%.14e", number);
  text.append(digits.data(), static_cast<std::size_t>(size));
}

template <class T, class Append>
void append_all(std::string& text, const void* elements, std::size_t count, const char* brackets,
                Append&& append) {
  const T* const data = static_cast<const T*>(elements);
  text += brackets[0];
  for (std::size_t i = 0; i < count; ++i) {
    text += ' ';
    append(text, data[i]);
  }
  text += ' ';
  text += brackets[1];
  text += '\n';
}

std::string_view shown_kind(const vector_value& value) {
  constexpr std::string_view names[] = {"Int", "Float", "Bool", "Segdes", "pair"};
  return names[value.index()];
}

std::string pair_type(const vector_value& value) {
  const auto* const whole = std::get_if<std::shared_ptr<pair>>(&value);
  if (whole == nullptr) return std::string(shown_kind(value));
  return "pair(" + pair_type((*whole)->first) + "," + pair_type((*whole)->second) + ")";
}

}  // namespace

void append_text(std::string& text, kind type, const void* elements, std::size_t count) {
  switch (type) {
    case kind::real: return append_all<double>(text, elements, count, "()", append_real);
    case kind::boolean:
      return append_all<std::uint8_t>(text, elements, count, "()",
                                      [](std::string& to, std::uint8_t b) { to += b ? 'T' : 'F'; });
    case kind::segdes: return append_all<std::int32_t>(text, elements, count, "[]", append_integer);
    case kind::character: {
      const auto* const codes = static_cast<const std::int32_t*>(elements);
      for (std::size_t i = 0; i < count; ++i) text += static_cast<char>(codes[i]);
      return;
    }
    default: return append_all<std::int32_t>(text, elements, count, "()", append_integer);
  }
}

std::string to_text(const vector_value& value) {
  std::string text;
  switch (value.index()) {
    case 0: {
      const auto& v = std::get<0>(value);
      append_text(text, kind::integer, v.data(), v.size());
      break;
    }
    case 1: {
      const auto& v = std::get<1>(value);
      append_text(text, kind::real, v.data(), v.size());
      break;
    }
    case 2: {
      const auto& v = std::get<2>(value);
      append_text(text, kind::boolean, v.data(), v.size());
      break;
    }
    case 3: {
      const auto& v = std::get<segments>(value).lengths;
      append_text(text, kind::segdes, v.data(), v.size());
      break;
    }
    default: text = pair_type(value) + " \n";
  }
  return text;
}

}  // namespace tutti::vcode
