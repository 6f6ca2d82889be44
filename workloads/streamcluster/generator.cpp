// SPDX-License-Identifier: Apache-2.0
// Points that need no file: random points, and the rows of a matrix in memory.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "workloads/streamcluster/random.hpp"
#include "workloads/streamcluster/sources.hpp"

namespace tutti::streamcluster {
namespace {

class generator final : public source {
 public:
  generator(std::uint64_t count, std::size_t dimensions, std::uint64_t seed)
      : count_(count), dimensions_(dimensions), seed_(seed) {}

  std::size_t dimensions() const override { return dimensions_; }

  bool next(std::span<float> point) override {
    if (at_ == count_) return false;
    const std::uint64_t first = at_++ * dimensions_;
    for (std::size_t j = 0; j < dimensions_; ++j) {
      point[j] = static_cast<float>(random_at(seed_, first + j) >> 40) * 0x1p-24F;
    }
    return true;
  }

 private:
  const std::uint64_t count_;
  const std::size_t dimensions_;
  const std::uint64_t seed_;
  std::uint64_t at_ = 0;
};

class matrix_rows final : public source {
 public:
  matrix_rows(std::span<const float> matrix, std::size_t dimensions)
      : rest_(matrix), dimensions_(dimensions) {}

  std::size_t dimensions() const override { return dimensions_; }

  bool next(std::span<float> point) override {
    if (rest_.empty()) return false;
    std::copy_n(rest_.begin(), dimensions_, point.begin());
    rest_ = rest_.subspan(dimensions_);
    return true;
  }

 private:
  std::span<const float> rest_;
  const std::size_t dimensions_;
};

void require_dimensions(std::size_t dimensions) {
  if (dimensions == 0) throw std::invalid_argument("points need at least one dimension");
}

}  // namespace

std::unique_ptr<source> generate(std::uint64_t count, std::size_t dimensions, std::uint64_t seed) {
  require_dimensions(dimensions);
  return std::make_unique<generator>(count, dimensions, seed);
}

std::unique_ptr<source> rows(std::span<const float> matrix, std::size_t dimensions) {
  require_dimensions(dimensions);
  if (matrix.size() % dimensions != 0) {
    throw std::invalid_argument("a matrix of " + std::to_string(matrix.size()) +
                                " numbers cannot be divided into rows of " +
                                std::to_string(dimensions));
  }
  return std::make_unique<matrix_rows>(matrix, dimensions);
}

}  // namespace tutti::streamcluster
