// SPDX-License-Identifier: Apache-2.0
// A parsed specification, such as "kron:scale=18,degree=16", and its typed values.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/graph/generate.hpp"

namespace tutti::graph {

class specification {
 public:
  // Throws std::invalid_argument for an unknown generator, and for a key that is unknown, repeated
  // or missing.
  explicit specification(std::string_view text);

  const generator& which() const noexcept { return *which_; }
  std::string_view text() const noexcept { return text_; }
  bool is_given(std::string_view key) const noexcept;
  // The text that was given for the key, or its default.
  std::string_view value_of(std::string_view key) const;

  // These functions throw std::invalid_argument for a value of another type or out of range.
  std::uint64_t whole(std::string_view key, std::uint64_t least, std::uint64_t most) const;
  double real(std::string_view key, double least, double most) const;
  bool flag(std::string_view key) const { return whole(key, 0, 1) == 1; }
  std::size_t choice(std::string_view key, std::initializer_list<std::string_view> choices) const;
  vertex_t vertices(std::string_view key = "vertices") const;
  std::uint64_t seed() const;

 private:
  [[noreturn]] void bad_value(std::string_view key, const std::string& wanted) const;

  std::string text_;
  const generator* which_ = nullptr;
  std::vector<std::pair<std::string_view, std::string_view>> given_;
};

}  // namespace tutti::graph
