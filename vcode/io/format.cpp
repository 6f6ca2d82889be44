// SPDX-License-Identifier: Apache-2.0
// Prints vectors, both at the end of a program and for WRITE and FWRITE.
#include "vcode/io/format.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "vcode/vcode.hpp"

namespace tutti::vcode {
namespace {

void append_integer(std::string& text, std::int32_t number) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  text.append(digits.data(), end);
}

// Prints as %.14e does.
void append_real(std::string& text, double number) {
  std::array<char, 40> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number,
                                 std::chars_format::scientific, 14)
                       .ptr;
  text.append(digits.data(), end);
}

void append_flag(std::string& text, std::uint8_t flag) { text += flag != 0 ? 'T' : 'F'; }

constexpr std::size_t piece_size = std::size_t{1} << 16;

// Calls full(text) from time to time; it may take the text away.
template <class T, class Append, class Full>
void append_all(std::string& text, const void* elements, std::size_t count, const char* brackets,
                Append&& append, Full&& full) {
  const T* const data = static_cast<const T*>(elements);
  text += brackets[0];
  for (std::size_t i = 0; i < count; ++i) {
    text += ' ';
    append(text, data[i]);
    if (text.size() >= piece_size) full(text);
  }
  text += ' ';
  text += brackets[1];
  text += '\n';
}

template <class Full>
void append_pieces(std::string& text, kind type, const void* elements, std::size_t count,
                   Full&& full) {
  switch (type) {
    case kind::real: return append_all<double>(text, elements, count, "()", append_real, full);
    case kind::boolean:
      return append_all<std::uint8_t>(text, elements, count, "()", append_flag, full);
    case kind::segdes:
      return append_all<std::int32_t>(text, elements, count, "[]", append_integer, full);
    case kind::character: {
      const auto* const codes = static_cast<const std::int32_t*>(elements);
      for (std::size_t i = 0; i < count; ++i) {
        text += static_cast<char>(codes[i]);
        if (text.size() >= piece_size) full(text);
      }
      return;
    }
    default: return append_all<std::int32_t>(text, elements, count, "()", append_integer, full);
  }
}

std::string_view shown_kind(const vector_value& value) {
  constexpr std::string_view names[] = {"Int", "Float", "Bool", "Segdes", "pair"};
  return names[value.index()];
}

std::string pair_type(const vector_value& value) {
  // What follows: a part, or text if there is none.
  struct item {
    const vector_value* part;
    std::string_view text;
  };
  std::string text;
  std::vector<item> open{{&value, {}}};
  while (!open.empty()) {
    const item each = open.back();
    open.pop_back();
    if (each.part == nullptr) {
      text += each.text;
    } else if (const auto* const whole = std::get_if<std::shared_ptr<pair>>(each.part)) {
      const pair& parts = pair_of(*whole);
      text += "pair(";
      open.insert(open.end(),
                  {{nullptr, ")"}, {&parts.second, {}}, {nullptr, ","}, {&parts.first, {}}});
    } else {
      text += shown_kind(*each.part);
    }
  }
  return text;
}

}  // namespace

void append_text(std::string& text, kind type, const void* elements, std::size_t count) {
  append_pieces(text, type, elements, count, [](const std::string&) {});
}

const pair& pair_of(const std::shared_ptr<pair>& whole) {
  if (whole == nullptr) throw std::invalid_argument("tutti: a PAIR is a null pointer");
  return *whole;
}

bool write_text(std::FILE* to, kind type, const void* elements, std::size_t count) {
  std::string text;
  bool is_written = true;
  const auto write = [to, &is_written](std::string& piece) {
    is_written = is_written && std::fwrite(piece.data(), 1, piece.size(), to) == piece.size();
    piece.clear();
  };
  append_pieces(text, type, elements, count, write);
  write(text);
  return is_written;
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
