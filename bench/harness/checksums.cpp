// SPDX-License-Identifier: Apache-2.0
// Sums of whole numbers are exact in doubles, in any order: the totals are compared with ==.
#include "bench/harness/checksums.hpp"

#include <fmt/format.h>

namespace tutti::bench {

checksums::checksums(rank_t ranks, unsigned width)
    : width_(width), in_(ranks, width), out_(ranks, width), sums_(ranks) {
  for (rank_t rank = 0; rank < ranks; ++rank) {
    tutti_checksum& mine = sums_[rank];
    mine.weight = static_cast<double>(rank) + 1;
    mine.width = width;
    mine.in = in_[rank];
    mine.out = out_[rank];
    for (unsigned i = 0; i < width; ++i) mine.in[i] = mine.weight;
  }
}

double checksums::sum_of_weights() const {
  const auto n = static_cast<double>(sums_.size());
  return n * (n + 1) / 2;
}

std::string checksums::fault(rank_t rank, std::uint64_t episodes, bool collects) const {
  const tutti_checksum& mine = sums_[rank];
  const auto k = static_cast<double>(episodes);
  if (mine.episodes != k) {
    return fmt::format("rank {} took part {:.0f} times in {} episodes", rank, mine.episodes,
                       episodes);
  }
  if (!collects || width_ == 0) return {};
  const double first = sum_of_weights() * k * (k + 1) / 2;
  const double last = width_ == 1 ? first : sum_of_weights() * k;
  if (mine.first_total == first && mine.last_total == last) return {};
  return fmt::format("the sums that rank {} got in {} episodes add up to {} and {}, not {} and {}",
                     rank, episodes, mine.first_total, mine.last_total, first, last);
}

std::string checksums::fault_of_vector(rank_t rank, std::uint64_t episodes) const {
  const tutti_checksum& mine = sums_[rank];
  for (unsigned i = 0; i < width_; ++i) {
    const double right = sum_of_weights() * (i == 0 ? static_cast<double>(episodes) : 1.0);
    if (mine.out[i] == right) continue;
    return fmt::format("rank {} got {} as sum number {} of {}, not {}", rank, mine.out[i], i,
                       width_, right);
  }
  return {};
}

}  // namespace tutti::bench
