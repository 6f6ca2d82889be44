// SPDX-License-Identifier: Apache-2.0
// Random numbers as a function of a seed, a purpose and an index. The n-th number does not depend
// on which numbers were requested before, and is the same on every machine.
//
// Philox 4x32 with 10 rounds: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011.
#pragma once

#include <array>
#include <cstdint>

namespace tutti::graph {

using random_words = std::array<std::uint32_t, 4>;

constexpr random_words philox(random_words counter, std::array<std::uint32_t, 2> key) noexcept {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {
        static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

// What a random number is for, so that two purposes never share numbers. A new purpose goes to the
// end: the values decide the bits of every generated graph.
enum class purpose : std::uint32_t { point, rewire, kronecker, scramble, uniform, weight, part };

// Returns four random words for an index. `block` numbers further blocks of four for the same
// index.
constexpr random_words random_block(std::uint64_t seed, purpose what, std::uint64_t index,
                                    std::uint32_t block = 0) noexcept {
  return philox({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), block,
                 static_cast<std::uint32_t>(what)},
                {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
}

constexpr std::uint64_t two_words(std::uint32_t high, std::uint32_t low) noexcept {
  return std::uint64_t{high} << 32 | low;
}

// A number 0 .. n-1 from 64 random bits. Some values are more likely than others by n / 2^64.
constexpr std::uint64_t below(std::uint64_t n, std::uint64_t bits) noexcept {
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<wide>(bits) * n >> 64);
}

}  // namespace tutti::graph
