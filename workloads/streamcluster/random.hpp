// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same with every compiler and standard library: SplitMix64 (Steele,
// Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014), by counter or in
// sequence.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace tutti::streamcluster {

// The `counter`-th number of the sequence that `seed` begins.
constexpr std::uint64_t random_at(std::uint64_t seed, std::uint64_t counter) noexcept {
  std::uint64_t z = seed + (counter + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

class random_sequence {
 public:
  explicit random_sequence(std::uint64_t seed) noexcept : seed_(seed) {}

  std::uint64_t next() noexcept { return random_at(seed_, counter_++); }

  // A number in [0, 1), a multiple of 2^-53.
  double unit() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }

  // A number in [0, count). The bias of the remainder is below count / 2^64.
  std::uint64_t below(std::uint64_t count) noexcept { return next() % count; }

  template <class T>
  void shuffle(std::vector<T>& items) noexcept {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::uint64_t seed_;
  std::uint64_t counter_ = 0;
};

}  // namespace tutti::streamcluster
