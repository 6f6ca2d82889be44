// SPDX-License-Identifier: Apache-2.0
// The reduction that everyone writes: each rank puts its doubles in an array, all meet at a
// barrier, each adds up all.
#pragma once

#include <algorithm>

#include "bench/harness/padded_vectors.hpp"
#include "bench/harness/runtime.hpp"
#include "bench/harness/team.hpp"

namespace tutti::bench {

// Barrier is made for n threads and has arrive_and_wait().
template <class Barrier>
class partial_sums final : public collective_runtime {
 public:
  explicit partial_sums(rank_t threads)
      : threads_(threads),
        barrier_(threads),
        arrays_{{threads, TUTTI_CHECKSUM_MOST_DOUBLES}, {threads, TUTTI_CHECKSUM_MOST_DOUBLES}} {}

  void enter(const std::function<void(runtime_rank&)>& body) override {
    threads_.run([&](rank_t rank) {
      member me(rank, *this);
      body(me);
    });
  }

 private:
  class member final : public runtime_rank {
   public:
    member(rank_t rank, partial_sums& all) : runtime_rank(rank), all_(all) {}

    void barriers(std::uint64_t count) override {
      for (std::uint64_t i = 0; i < count; ++i) all_.barrier_.arrive_and_wait();
    }

    void reductions(std::uint64_t count, tutti_checksum& mine) override {
      for (std::uint64_t i = 0; i < count; ++i) {
        mine.in[0] = tutti_checksum_next(&mine);
        const unsigned turn = static_cast<std::uint64_t>(mine.episodes) & 1u;
        std::copy_n(mine.in, mine.width, all_.arrays_[turn][rank()]);
        all_.barrier_.arrive_and_wait();
        add_up(all_.arrays_[turn], mine);
        tutti_checksum_collect(&mine, mine.out[0], mine.out[mine.width - 1]);
      }
    }

   private:
    void add_up(const padded_vectors& values, tutti_checksum& mine) const {
      std::fill_n(mine.out, mine.width, 0.0);
      for (rank_t other = 0; other < all_.threads_.size(); ++other) {
        for (std::uint64_t i = 0; i < mine.width; ++i) mine.out[i] += values[other][i];
      }
    }

    partial_sums& all_;
  };

  thread_team threads_;
  Barrier barrier_;
  // In turn: nobody overwrites one while another still adds it up, as they are an episode apart.
  padded_vectors arrays_[2];
};

template <class Barrier>
std::unique_ptr<collective_runtime> make_partial_sums(const runtime_options& size) {
  return std::make_unique<partial_sums<Barrier>>(size.threads);
}

}  // namespace tutti::bench
