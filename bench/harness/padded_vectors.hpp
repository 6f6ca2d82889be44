// SPDX-License-Identifier: Apache-2.0
// A vector of doubles for each rank, none on a line of another's.
#pragma once

#include <cstddef>
#include <vector>

#include "tutti/platform/config.hpp"

namespace tutti::bench {

class padded_vectors {
 public:
  padded_vectors(std::size_t count, std::size_t width)
      // A line more than needed: vectors at a distance of a power of two would share the sets of a
      // cache.
      : lines_each_(width / doubles_of_line + 2), lines_(count * lines_each_) {}

  double* operator[](std::size_t i) { return lines_[i * lines_each_].values; }
  const double* operator[](std::size_t i) const { return lines_[i * lines_each_].values; }

 private:
  static constexpr std::size_t doubles_of_line = cache_line / sizeof(double);
  struct alignas(cache_line) line {
    double values[doubles_of_line] = {};
  };

  const std::size_t lines_each_;
  std::vector<line> lines_;
};

}  // namespace tutti::bench
