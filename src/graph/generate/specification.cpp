// SPDX-License-Identifier: Apache-2.0
// Parses specifications and reports every error in them.
#include "src/graph/generate/specification.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "tutti/platform/misuse.hpp"

namespace tutti::graph {

namespace {

std::string quoted(std::string_view word) { return "'" + std::string(word) + "'"; }

template <class Named>
std::string names_of(std::span<const Named> all, std::string before = {}) {
  for (const Named& each : all) (before += before.empty() ? "" : ", ") += each.name;
  return before;
}

const generator_key* find(std::span<const generator_key> keys, std::string_view name) {
  const auto found = std::find_if(keys.begin(), keys.end(),
                                  [&](const generator_key& key) { return key.name == name; });
  return found == keys.end() ? nullptr : &*found;
}

const generator_key* find(const generator& which, std::string_view name) {
  const generator_key* const key = find(which.keys, name);
  return key != nullptr ? key : find(common_keys(), name);
}

// A whole number below 2^64; it may also be written as 1e6 or 25e5.
bool parse_whole(std::string_view text, std::uint64_t& value) {
  const char* const last = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc()) return false;
  if (stop == last) return true;
  if (*stop != 'e' || stop + 1 == last) return false;
  unsigned zeros = 0;
  const auto exponent = std::from_chars(stop + 1, last, zeros);
  if (exponent.ec != std::errc() || exponent.ptr != last || zeros > 19) return false;
  for (; zeros > 0; --zeros) {
    if (value > std::numeric_limits<std::uint64_t>::max() / 10) return false;
    value *= 10;
  }
  return true;
}

std::string shown(double number) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, number).ptr};
}

}  // namespace

specification::specification(std::string_view text) : text_(text) {
  const std::string_view all = text_;
  const std::size_t colon = all.find(':');
  const std::string_view name = all.substr(0, colon);
  for (const generator& each : generators())
    if (each.name == name) which_ = &each;
  if (which_ == nullptr)
    refuse("unknown generator " + quoted(name) + " (known: " + names_of(generators()) + ")");

  std::string_view rest = colon == all.npos ? std::string_view() : all.substr(colon + 1);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view pair = rest.substr(0, comma);
    rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
    const std::size_t equals = pair.find('=');
    if (equals == pair.npos)
      refuse("generator " + quoted(name) + " takes KEY=VALUE, not " + quoted(pair));
    const std::string_view key = pair.substr(0, equals);
    if (find(*which_, key) == nullptr)
      refuse("generator " + quoted(name) + " has no key " + quoted(key) +
             " (known: " + names_of(common_keys(), names_of(which_->keys)) + ")");
    if (is_given(key)) refuse("generator " + quoted(name) + " has key " + quoted(key) + " twice");
    given_.emplace_back(key, pair.substr(equals + 1));
  }
  for (const generator_key& key : which_->keys)
    if (key.normally.empty() && !is_given(key.name))
      refuse("generator " + quoted(name) + " needs " + std::string(key.name) +
             "=...: " + std::string(key.meaning));
}

bool specification::is_given(std::string_view key) const noexcept {
  return std::any_of(given_.begin(), given_.end(),
                     [&](const auto& pair) { return pair.first == key; });
}

std::string_view specification::value_of(std::string_view key) const {
  for (const auto& [name, value] : given_)
    if (name == key) return value;
  return find(*which_, key)->normally;
}

void specification::bad_value(std::string_view key, const std::string& wanted) const {
  refuse("generator " + quoted(which_->name) + ": " + std::string(key) + " must be " + wanted +
         ", not " + quoted(value_of(key)));
}

std::uint64_t specification::whole(std::string_view key, std::uint64_t least,
                                   std::uint64_t most) const {
  std::uint64_t value = 0;
  if (!parse_whole(value_of(key), value) || value < least || value > most)
    bad_value(key, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return value;
}

double specification::real(std::string_view key, double least, double most) const {
  const std::string_view text = value_of(key);
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  // The condition is written so that a NaN is out of range.
  if (error != std::errc() || stop != text.data() + text.size() ||
      !(value >= least && value <= most))
    bad_value(key, "a number from " + shown(least) + " to " + shown(most));
  return value;
}

std::size_t specification::choice(std::string_view key,
                                  std::initializer_list<std::string_view> choices) const {
  const auto found = std::find(choices.begin(), choices.end(), value_of(key));
  if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
  std::string known;
  for (const std::string_view each : choices) (known += known.empty() ? "one of " : ", ") += each;
  bad_value(key, known);
}

vertex_t specification::vertices(std::string_view key) const {
  return static_cast<vertex_t>(whole(key, 0, most_vertices));
}

std::uint64_t specification::seed() const {
  return whole("seed", 0, std::numeric_limits<std::uint64_t>::max());
}

}  // namespace tutti::graph
