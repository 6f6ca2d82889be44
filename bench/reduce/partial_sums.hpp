// SPDX-License-Identifier: Apache-2.0
// The reduction that everyone writes: each rank puts its doubles in an array, all meet at a barrier, each adds up all.
#pragma once

#include <algorithm>

#include "bench/crew/crew.hpp"
#include "bench/crew/padded_vectors.hpp"
#include "bench/harness/team.hpp"

namespace tutti::bench {

// Barrier is made for n threads and has wait().
template <class Barrier>
class partial_sums final : public meeting_crew {
 public:
  explicit partial_sums(rank_t threads)
      : threads_(threads),
        barrier_(threads),
        arrays_{{threads, TUTTI_SHARE_MOST_DOUBLES}, {threads, TUTTI_SHARE_MOST_DOUBLES}} {}

  void enter(const std::function<void(crew_member&)>& body) override {
    threads_.run([&](rank_t rank) {
      member me(rank, *this);
      body(me);
    });
  }

 private:
  class member final : public crew_member {
   public:
    member(rank_t rank, partial_sums& all) : crew_member(rank), all_(all) {}

    void barriers(std::uint64_t count) override {
      for (std::uint64_t i = 0; i < count; ++i) all_.barrier_.wait();
    }

    void reductions(std::uint64_t count, tutti_share& mine) override {
      for (std::uint64_t i = 0; i < count; ++i) {
        mine.in[0] = tutti_share_next(&mine);
        const unsigned turn = static_cast<std::uint64_t>(mine.episodes) & 1u;
        std::copy_n(mine.in, mine.width, all_.arrays_[turn][rank()]);
        all_.barrier_.wait();
        add_up(all_.arrays_[turn], mine);
        tutti_share_collect(&mine, mine.out[0], mine.out[mine.width - 1]);
      }
    }

   private:
    void add_up(const padded_vectors& values, tutti_share& mine) const {
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

}  // namespace tutti::bench
