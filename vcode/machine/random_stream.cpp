// SPDX-License-Identifier: Apache-2.0
// A jump of n multiplies the state by t^n modulo the generator's polynomial t^31 = t^28 + 1, over
// the integers modulo 2^32. Knuth, The Art of Computer Programming 2, 3.2.2 describes such
// generators.
#include "vcode/machine/random_stream.hpp"

namespace tutti::vcode {
namespace {

constexpr std::size_t degree = random_stream::degree;
using polynomial = std::array<std::uint32_t, degree>;

polynomial product(const polynomial& a, const polynomial& b) {
  std::array<std::uint32_t, 2 * degree - 1> wide{};
  for (std::size_t i = 0; i < degree; ++i) {
    for (std::size_t j = 0; j < degree; ++j) wide[i + j] += a[i] * b[j];
  }
  for (std::size_t i = wide.size(); i-- > degree;) {
    wide[i - degree] += wide[i];
    wide[i - 3] += wide[i];
  }
  polynomial result{};
  for (std::size_t i = 0; i < degree; ++i) result[i] = wide[i];
  return result;
}

polynomial power_of_t(std::uint64_t exponent) {
  polynomial result{1};
  polynomial square{0, 1};
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result = product(result, square);
    square = product(square, square);
  }
  return result;
}

}  // namespace

void random_stream::restart(std::uint32_t seed) {
  // A multiplicative generator makes the first words; a seed of 0 would keep it at 0.
  std::int64_t word = static_cast<std::int32_t>(seed == 0 ? 1 : seed);
  for (auto& each : words_) {
    each = static_cast<std::uint32_t>(word);
    word = word * 16807 % 2147483647;
    if (word < 0) word += 2147483647;
  }
  // The first three words count as the latest. The first outputs are dropped, as they depend too
  // much on the seed.
  at_ = 3;
  for (std::size_t i = 0; i < 310; ++i) next();
}

std::int32_t random_stream::next() {
  const std::size_t near = at_ + degree - 3;
  words_[at_] += words_[near < degree ? near : near - degree];
  const std::uint32_t word = words_[at_];
  at_ = at_ + 1 == degree ? 0 : at_ + 1;
  return static_cast<std::int32_t>(word >> 1);
}

void random_stream::jump(std::uint64_t count) {
  const polynomial weights = power_of_t(count);
  // Computes x[n + k] = sum of weights[j] * x[j + k] for all 31 k, from the 61 words that begin
  // with the state.
  std::array<std::uint32_t, 2 * degree - 1> words{};
  for (std::size_t i = 0; i < degree; ++i) words[i] = words_[(at_ + i) % degree];
  for (std::size_t i = degree; i < words.size(); ++i) words[i] = words[i - 3] + words[i - degree];
  for (std::size_t k = 0; k < degree; ++k) {
    std::uint32_t sum = 0;
    for (std::size_t j = 0; j < degree; ++j) sum += weights[j] * words[j + k];
    words_[k] = sum;
  }
  at_ = 0;
}

}  // namespace tutti::vcode
