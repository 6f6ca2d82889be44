// SPDX-License-Identifier: Apache-2.0
// Reads text files with one point per line.
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "workloads/streamcluster/files.hpp"

namespace tutti::streamcluster {
namespace {

constexpr std::string_view blanks = " \t\r";

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

class text_source final : public source {
 public:
  text_source(const std::string& file, std::size_t dimensions)
      : name_(file), file_(open_for_reading(file)), dimensions_(dimensions) {
    if (!read_row()) fail_in(name_, "the file has no points");
    if (dimensions_ == 0) dimensions_ = row_.size();
    check_length();
  }

  std::size_t dimensions() const override { return dimensions_; }

  bool next(std::span<float> point) override {
    if (!is_first_ && !read_row()) return false;
    if (!is_first_) check_length();
    is_first_ = false;
    std::copy(row_.begin(), row_.end(), point.begin());
    return true;
  }

 private:
  template <class... Arguments>
  [[noreturn]] void fail(fmt::format_string<Arguments...> text, Arguments&&... arguments) const {
    fail_in(fmt::format("{}:{}", name_, line_number_), text, std::forward<Arguments>(arguments)...);
  }

  // Reads the next line that is not empty or a comment. Returns false at the end.
  bool read_row() {
    while (std::getline(file_, line_)) {
      ++line_number_;
      const std::string_view line = without_blanks(line_);
      if (line.empty() || line.front() == '#') continue;
      parse(line);
      return true;
    }
    if (file_.bad()) fail_in(name_, "reading fails after line {}", line_number_);
    return false;
  }

  void parse(std::string_view rest) {
    row_.clear();
    while (!rest.empty()) {
      row_.push_back(parse_number(rest));
      rest = without_blanks(rest);
      if (rest.empty() || rest.front() != ',') continue;
      rest = without_blanks(rest.substr(1));
      if (rest.empty()) fail("column {} is empty", row_.size() + 1);
    }
  }

  // Removes the number at the front of `rest` and returns it.
  float parse_number(std::string_view& rest) const {
    const std::string_view item = rest.substr(0, rest.find_first_of(" \t\r,"));
    const std::size_t column = row_.size() + 1;
    if (item.empty()) fail("column {} is empty", column);
    float value = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), value);
    const bool whole = end == item.data() + item.size();
    if (error == std::errc::result_out_of_range && whole) {
      value = parse_extreme(item, column);
    } else if (error != std::errc{} || !whole) {
      fail("column {}: '{:.40}' is not a number", column, item);
    }
    if (!std::isfinite(value)) fail("column {}: '{:.40}' is not finite", column, item);
    rest.remove_prefix(item.size());
    return value;
  }

  // A number too small for a float is 0; one that is too large is an error.
  float parse_extreme(std::string_view item, std::size_t column) const {
    double value = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), value);
    if (error != std::errc{} || std::abs(value) > 1) {
      fail("column {}: '{:.40}' is beyond the range of a float", column, item);
    }
    return static_cast<float>(value);
  }

  void check_length() const {
    if (row_.size() == dimensions_) return;
    fail("a point of {} coordinates, where {} are expected", row_.size(), dimensions_);
  }

  const std::string name_;
  std::ifstream file_;
  std::size_t dimensions_;
  std::size_t line_number_ = 0;
  std::string line_;
  std::vector<float> row_;
  bool is_first_ = true;
};

}  // namespace

std::unique_ptr<source> open_text(const std::string& file, std::size_t dimensions) {
  return std::make_unique<text_source>(file, dimensions);
}

}  // namespace tutti::streamcluster
