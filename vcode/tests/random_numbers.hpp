// SPDX-License-Identifier: Apache-2.0
// Random numbers of the tests, the same for the same seed.
#pragma once

#include <random>

namespace tutti::vcode {

template <class Integer>
class random_numbers {
 public:
  explicit random_numbers(unsigned seed) : generator_(seed) {}

  Integer below(Integer limit) {
    return std::uniform_int_distribution<Integer>(0, limit - 1)(generator_);
  }
  std::mt19937& generator() noexcept { return generator_; }

 private:
  std::mt19937 generator_;
};

}  // namespace tutti::vcode
