// SPDX-License-Identifier: Apache-2.0
// A hash of an edge, to be summed over many edges. Two collections of edges with equal sums hold
// the same edges in some order, except with probability 2^-64. The hash does not resist deliberate
// collisions.
#pragma once

#include <cstdint>

namespace tutti::graph {

constexpr std::uint64_t edge_hash(std::uint64_t from, std::uint64_t to,
                                  std::uint32_t weight) noexcept {
  // The finalizer of SplitMix64 is applied twice, so that a weight does more than shift the sum.
  const auto mixed = [](std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  };
  return mixed(mixed((from << 32 | to) + 0x9e3779b97f4a7c15u) + weight);
}

}  // namespace tutti::graph
