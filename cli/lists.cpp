// SPDX-License-Identifier: Apache-2.0
// Values of options: lists and numbers, each error in one sentence.
#include "cli/lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace tutti::cli {
namespace {

template <class Number>
bool read(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

template <class Number>
Number read_within(std::string_view option, std::string_view text, Number least, Number most,
                   std::string_view kind) {
  Number number{};
  if (read_number(text, number) && number >= least && number <= most) return number;
  throw std::invalid_argument(
      fmt::format("{}: '{}' is not {} from {} to {}", option, text, kind, least, most));
}

// How many letters must change, come or go to make one word of the other.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> split(std::string_view option, std::string_view text) {
  std::vector<std::string> items;
  while (true) {
    const std::size_t comma = text.find(',');
    items.emplace_back(text.substr(0, comma));
    if (items.back().empty()) {
      throw std::invalid_argument(fmt::format("{}: an item of the list is empty", option));
    }
    if (comma == std::string_view::npos) return items;
    text.remove_prefix(comma + 1);
  }
}

std::vector<std::string> names(std::string_view option, std::string_view text) {
  std::vector<std::string> all;
  for (std::string& item : split(option, text))
    if (std::find(all.begin(), all.end(), item) == all.end()) all.push_back(std::move(item));
  return all;
}

std::vector<std::uint32_t> parse_counts(std::string_view option, std::string_view text,
                                        std::uint32_t most) {
  std::vector<std::uint32_t> counts;
  for (const auto& item : split(option, text)) {
    const auto count = read_within<std::uint32_t>(option, item, 1, most, "a whole number");
    if (std::find(counts.begin(), counts.end(), count) == counts.end()) counts.push_back(count);
  }
  return counts;
}

bool read_number(std::string_view text, double& number) {
  return read(text, number) && std::isfinite(number);
}
bool read_number(std::string_view text, std::uint32_t& number) { return read(text, number); }
bool read_number(std::string_view text, std::uint64_t& number) { return read(text, number); }

double parse_number(std::string_view option, std::string_view text, double least, double most) {
  return read_within<double>(option, text, least, most, "a number");
}

std::uint64_t parse_integer(std::string_view option, std::string_view text, std::uint64_t least,
                            std::uint64_t most) {
  return read_within<std::uint64_t>(option, text, least, most, "a whole number");
}

std::uint64_t parse_bytes(std::string_view option, std::string_view text, std::uint64_t least,
                          std::uint64_t most) {
  constexpr std::string_view units = "KMGT";
  std::string_view digits = text;
  if (digits.ends_with("iB")) digits.remove_suffix(2);
  const std::size_t unit = digits.empty() ? units.npos : units.find(digits.back());
  if (unit == units.npos) return parse_integer(option, text, least, most);
  digits.remove_suffix(1);
  const unsigned shift = 10 * (static_cast<unsigned>(unit) + 1);
  const std::uint64_t bytes = parse_integer(option, digits, 0, most >> shift) << shift;
  if (bytes < least) return parse_integer(option, std::to_string(bytes), least, most);
  return bytes;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  const auto nearest = std::min_element(known.begin(), known.end(),
                                        [&](const std::string& one, const std::string& other) {
                                          return distance(word, one) < distance(word, other);
                                        });
  if (nearest == known.end() || distance(word, *nearest) > 1 + word.size() / 4) return {};
  return fmt::format(": did you mean '{}'?", *nearest);
}

}  // namespace tutti::cli
