// SPDX-License-Identifier: Apache-2.0
// Opens and closes files, and reads vectors from text.
#include "vcode/io/file_table.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>

#include "vcode/io/format.hpp"
#include "vcode/language/real_number.hpp"

namespace tutti::vcode {
namespace {

stream_result failure(std::string text) {
  stream_result made;
  made.error = std::move(text);
  return made;
}

bool is_space(int c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

int skip_space(std::FILE* from) {
  int c = std::getc(from);
  while (is_space(c)) c = std::getc(from);
  return c;
}

stream_result too_long() {
  stream_result made;
  made.is_too_long = true;
  return made;
}

// No number needs more characters.
constexpr std::size_t longest_word = std::size_t{1} << 16;

// Reads up to a blank or the closing bracket, and leaves that character unread. Stops after one
// character more than the longest word.
std::string word(std::FILE* from, int first, char closing) {
  std::string text(1, static_cast<char>(first));
  int c = std::getc(from);
  while (c != EOF && !is_space(c) && c != closing && text.size() <= longest_word) {
    text += static_cast<char>(c);
    c = std::getc(from);
  }
  if (c != EOF) std::ungetc(c, from);
  return text;
}

bool read_element(const std::string& text, kind type, stream_result& to) {
  switch (type) {
    case kind::real: {
      const std::optional<double> number = read_real(text);
      to.reals.push_back(number.value_or(0));
      return number.has_value();
    }
    case kind::boolean:
      to.booleans.push_back(text == "T" ? 1 : 0);
      return text == "T" || text == "F";
    default: {
      std::int32_t number = 0;
      // std::from_chars takes no '+', but would take a '-' after it.
      if (text.starts_with("+-")) return false;
      const char* const begin = text.data() + (text[0] == '+' ? 1 : 0);
      const char* const end = text.data() + text.size();
      const auto [stopped, error] = std::from_chars(begin, end, number);
      to.integers.push_back(number);
      return error == std::errc() && stopped == end && (type != kind::segdes || number >= 0);
    }
  }
}

stream_result read_string(std::FILE* from, std::size_t largest) {
  if (skip_space(from) != '"') return failure("expected a string");
  stream_result made;
  for (int c = std::getc(from); c != '"'; c = std::getc(from)) {
    if (c == EOF) return failure("the string has no end");
    if (made.integers.size() == largest) return too_long();
    made.integers.push_back(static_cast<signed char>(c));
  }
  return made;
}

}  // namespace

file_table::file_table(std::FILE* input, std::FILE* output, std::FILE* error)
    : streams_{input, output, error} {}

file_table::~file_table() {
  flush_all();
  for (std::size_t i = 3; i < streams_.size(); ++i) {
    if (streams_[i] != nullptr) std::fclose(streams_[i]);
  }
  // Do not wait for children that are still running: they may outlive the program.
  for (const pid_t child : children_) waitpid(child, nullptr, WNOHANG);
}

void file_table::flush_all() const {
  if (streams_[1] != nullptr) std::fflush(streams_[1]);
  if (streams_[2] != nullptr) std::fflush(streams_[2]);
}

std::FILE* file_table::find(std::int32_t number) const {
  const auto index = static_cast<std::size_t>(number);
  return number >= 0 && index < streams_.size() ? streams_[index] : nullptr;
}

std::int32_t file_table::add(std::FILE* stream) {
  auto place = std::find(streams_.begin() + 3, streams_.end(), nullptr);
  if (place == streams_.end()) place = streams_.insert(place, nullptr);
  *place = stream;
  return static_cast<std::int32_t>(place - streams_.begin());
}

stream_result file_table::open(const std::string& name, std::int32_t mode) {
  // e: programs that are started later do not inherit it.
  constexpr const char* modes[] = {"re", "we", "ae"};
  if (mode < 1 || mode > 3) {
    return failure(fmt::format("illegal mode {} of a file: 1 reads, 2 writes, 3 appends", mode));
  }
  std::FILE* const opened = std::fopen(name.c_str(), modes[mode - 1]);
  if (opened == nullptr) return failure(std::strerror(errno));
  stream_result made;
  made.number[0] = add(opened);
  return made;
}

stream_result file_table::close(std::int32_t number) {
  std::FILE* const stream = find(number);
  streams_[static_cast<std::size_t>(number)] = nullptr;
  // The caller of run() owns the three standard streams, so close only the number.
  const int status = number < 3 ? std::fflush(stream) : std::fclose(stream);
  return status == 0 ? stream_result() : failure(std::strerror(errno));
}

stream_result file_table::read(std::FILE* from, kind type, std::size_t largest) {
  if (type == kind::character) return read_string(from, largest);
  const char opening = type == kind::segdes ? '[' : '(';
  const char closing = type == kind::segdes ? ']' : ')';
  int c = skip_space(from);
  if (c == EOF) return failure("end of file");
  if (c != opening) return failure(fmt::format("expected '{}'", opening));
  stream_result made;
  std::size_t count = 0;
  while (true) {
    c = skip_space(from);
    if (c == closing) {
      if (type != kind::segdes) return made;
      const std::int64_t elements =
          std::accumulate(made.integers.begin(), made.integers.end(), std::int64_t{0});
      if (elements <= std::numeric_limits<std::int32_t>::max()) return made;
      return failure(fmt::format("the segments have {} elements", elements));
    }
    if (c == EOF) return failure(fmt::format("end of file: expected '{}'", closing));
    if (count++ == largest) return too_long();
    const std::string text = word(from, c, closing);
    if (text.size() > longest_word) {
      return failure(fmt::format("expected {}, found a word of more than {} characters",
                                 name_of(type), longest_word));
    }
    if (!read_element(text, type, made)) {
      return failure(fmt::format("expected {}, found '{}'", name_of(type), text));
    }
  }
}

stream_result file_table::write(std::FILE* to, kind type, const void* elements, std::size_t count) {
  if (!write_text(to, type, elements, count)) return failure(std::strerror(errno));
  return {};
}

stream_result file_table::read_characters(std::FILE* from,
                                          const std::vector<std::int32_t>& delimiters,
                                          std::int32_t most, std::size_t largest) {
  constexpr std::int32_t at_end = -1;
  constexpr std::int32_t at_most = -2;
  stream_result made;
  while (true) {
    if (most >= 0 && made.integers.size() == static_cast<std::size_t>(most)) {
      made.number[0] = at_most;
      return made;
    }
    const int c = std::getc(from);
    if (c == EOF) {
      made.number[0] = at_end;
      return made;
    }
    // CONST CHAR turns bytes above 127 into negative numbers. The status is the byte, 0 to 255, so
    // it never equals at_end or at_most.
    if (std::any_of(delimiters.begin(), delimiters.end(), [c](std::int32_t each) {
          return c == each || (each < 0 && each >= -128 && c == each + 256);
        })) {
      made.number[0] = c;
      return made;
    }
    if (made.integers.size() == largest) return too_long();
    made.integers.push_back(static_cast<signed char>(c));
  }
}

}  // namespace tutti::vcode
