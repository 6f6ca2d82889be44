// SPDX-License-Identifier: Apache-2.0
// The checksums of all ranks in a round, and what they say afterwards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/harness/checksum.h"
#include "bench/harness/padded_vectors.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::bench {

class checksums {
 public:
  // `width`: doubles in a contribution; 0 where nothing is summed.
  checksums(rank_t ranks, unsigned width);

  tutti_checksum& operator[](rank_t rank) { return sums_[rank]; }

  rank_t ranks() const { return static_cast<rank_t>(sums_.size()); }

  // What is wrong with a rank after `episodes` in which it should have taken part, and got each sum
  // if it `collects`. Empty: nothing.
  std::string fault(rank_t rank, std::uint64_t episodes, bool collects) const;
  // The same of the vector that the rank got last, whole.
  std::string fault_of_vector(rank_t rank, std::uint64_t episodes) const;

 private:
  struct alignas(cache_line) checksum : tutti_checksum {};
  static_assert(sizeof(checksum) == sizeof(tutti_checksum));  // an array of them is one of C's

  double sum_of_weights() const;

  const unsigned width_;
  padded_vectors in_;
  padded_vectors out_;
  std::vector<checksum> sums_;
};

}  // namespace tutti::bench
