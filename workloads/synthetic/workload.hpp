// SPDX-License-Identifier: Apache-2.0
// The work of the synthetic benchmark: each rank multiplies two vectors of its own into a third and
// sums the floors of the products. All ranks have the same numbers, so every rank's sum is known to
// all.
// Source: Berger and Stamatakis 2010, section IV.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tutti/platform/array.hpp"
#include "tutti/team/per_rank.hpp"
#include "workloads/synthetic/vectors.hpp"
#include "workloads/synthetic/walk.hpp"

namespace tutti::synthetic {

using kernel = std::int64_t (*)(const vectors& mine);

class workload {
 public:
  // Makes vectors of `length` doubles, on pages that rank r touched first on cpus[r % cpus.size()]
  // (anywhere if `cpus` is empty). Throws std::bad_alloc and std::system_error.
  workload(rank_t ranks, std::size_t length, const std::vector<int>& cpus, std::uint64_t seed,
           kernel work = multiply_and_sum_floors, const walk_shape& shape = {});

  rank_t ranks() const noexcept { return static_cast<rank_t>(results_.size()); }
  std::size_t length() const noexcept { return length_; }

  // Runs a rank's part of a region.
  void enter(rank_t rank) {
    result& mine = results_[rank].value;
    if (length_ > 0) mine.sum = work_({memory_->v1[rank], memory_->v2[rank], memory_->v3[rank]});
    if (walk_ != nullptr) walk_->enter(rank);
    ++mine.regions;
  }

  // The walk of every region; null: there is none.
  const walk* walking() const noexcept { return walk_.get(); }

  // Says what is wrong after `regions` regions in which every rank took part; empty: nothing. The
  // master calls this after a region.
  std::string fault(std::uint64_t regions) const {
    for (rank_t rank = 0; rank < ranks(); ++rank) {
      const result& other = results_[rank].value;
      const bool strayed = walk_ != nullptr && walk_->sum(rank) != walk_->sum(0);
      if (other.regions != regions || other.sum != expected_ || strayed) [[unlikely]]
        return describe(rank, regions);
    }
    return {};
  }

  // Counts regions from 0 again and clears the sums.
  void reset();

 private:
  struct result {
    std::int64_t sum = 0;
    std::uint64_t regions = 0;
  };
  struct memory {
    memory(team& owners, std::size_t length)
        : v1(owners, length), v2(owners, length), v3(owners, length) {}
    per_rank<double> v1, v2, v3;
  };
  std::string describe(rank_t rank, std::uint64_t regions) const;

  const std::size_t length_;
  const kernel work_;
  std::unique_ptr<memory> memory_;
  std::unique_ptr<walk> walk_;
  std::int64_t expected_ = 0;
  array<padded<result>> results_;
};

}  // namespace tutti::synthetic
