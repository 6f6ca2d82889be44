// SPDX-License-Identifier: Apache-2.0
// The shares of all ranks in a round, and what they say afterwards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/crew/padded_vectors.hpp"
#include "bench/crew/share.h"
#include "tutti/platform/config.hpp"

namespace tutti::bench {

class ledger {
 public:
  // `width`: doubles in a contribution; 0 where nothing is summed.
  ledger(rank_t ranks, unsigned width);

  tutti_share& operator[](rank_t rank) { return shares_[rank]; }

  rank_t ranks() const { return static_cast<rank_t>(shares_.size()); }

  // What is wrong with a rank after `episodes` in which it should have taken part, and got each sum if it `collects`.
  // Empty: nothing.
  std::string fault(rank_t rank, std::uint64_t episodes, bool collects) const;
  // The same of the vector that the rank got last, whole.
  std::string fault_of_vector(rank_t rank, std::uint64_t episodes) const;

 private:
  struct alignas(cache_line) share : tutti_share {};
  static_assert(sizeof(share) == sizeof(tutti_share));  // an array of them is one of C's

  double sum_of_weights() const;

  const unsigned width_;
  padded_vectors in_;
  padded_vectors out_;
  std::vector<share> shares_;
};

}  // namespace tutti::bench
