// SPDX-License-Identifier: Apache-2.0
// What a rank of the synthetic benchmark computes, which does not depend on the system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>

namespace tutti::synthetic {

struct vectors {
  std::span<const double> v1, v2;
  std::span<double> v3;
};

// Computes v3 = v1 * v2 and returns the sum of the floors of v3.
std::int64_t multiply_and_sum_floors(const vectors& mine);

// Uses integers alone, so that it shares nothing with the function above: the largest n with
// n <= product.
std::int64_t floor_of(double product);

// The numbers of every rank, between -100 and 100, so that floor is not truncation.
class numbers {
 public:
  explicit numbers(std::uint64_t seed) : engine_(seed) {}
  double next() {
    // A std distribution would differ between standard libraries.
    return static_cast<double>(engine_() >> 11) * 0x1p-53 * 200 - 100;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace tutti::synthetic
