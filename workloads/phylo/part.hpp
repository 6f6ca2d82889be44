// SPDX-License-Identifier: Apache-2.0
// The data on which one rank computes. The rank makes them itself, so that its pages are on its
// memory node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "workloads/phylo/likelihood.hpp"

namespace tutti::phylo {

// Memory that its maker's thread sets to zero. It begins at a cache line, and so does each block of
// doubles in it.
template <class T>
class line_aligned {
 public:
  static constexpr std::align_val_t alignment{64};

  explicit line_aligned(std::size_t count) : data_(new (alignment) T[count]()) {}
  T* get() noexcept { return data_.get(); }
  const T* get() const noexcept { return data_.get(); }

 private:
  struct deleter {
    void operator()(T* p) const noexcept { ::operator delete[](p, alignment); }
  };
  std::unique_ptr<T[], deleter> data_;
};

struct likelihood::part {
  // Holds the blocks `first` to `last`-1 of the patterns; within the part they are numbered from 0.
  part(const pattern_set& patterns, const model& m, std::size_t inner_nodes,
       std::size_t first_block, std::size_t last_block)
      : first(first_block),
        blocks(last_block - first_block),
        partials_of_node(blocks * m.rates_of_pattern() * states * lanes),
        partials(inner_nodes * partials_of_node),
        scales(inner_nodes * blocks * lanes),
        table(partials_of_node),
        pattern_sums(blocks * lanes),
        weights(blocks * lanes),
        tips(patterns.states.size() * blocks * lanes) {
    const std::size_t slots = blocks * lanes;
    for (std::size_t i = 0; i < slots; ++i) weights.get()[i] = patterns.weights[first * lanes + i];
    for (std::size_t tip = 0; tip < patterns.states.size(); ++tip) {
      for (std::size_t i = 0; i < slots; ++i) {
        tips.get()[tip * slots + i] = patterns.states[tip][first * lanes + i];
      }
    }
    if (patterns.rate_of_block.empty()) return;
    const auto* rate = patterns.rate_of_block.data() + first;
    rate_of_block.assign(rate, rate + blocks);
  }

  double* partials_of(std::size_t inner) { return partials.get() + inner * partials_of_node; }
  std::uint32_t* scales_of(std::size_t inner) { return scales.get() + inner * blocks * lanes; }
  const std::uint16_t* rates() const noexcept {
    return rate_of_block.empty() ? nullptr : rate_of_block.data();
  }

  std::size_t first, blocks, partials_of_node;
  // [inner node][block][rate][state][lane].
  line_aligned<double> partials;
  // [inner node][block][lane]: how often scaled.
  line_aligned<std::uint32_t> scales;
  // [block][rate][eigenvalue][lane], of the selected branch.
  line_aligned<double> table;
  // [block][lane]: likelihoods, later their logarithms.
  line_aligned<double> pattern_sums;
  // [block][lane].
  line_aligned<double> weights;
  // [tip][block][lane].
  line_aligned<state_set> tips;
  std::vector<std::uint16_t> rate_of_block;
};

}  // namespace tutti::phylo
