// SPDX-License-Identifier: Apache-2.0
// The word by which a master, rank 0, lets the workers go on: the master/worker barriers
// (master.hpp) release their workers with it, and parallel regions begin with it.
#pragma once

#include "tutti/barrier/participant.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

template <class Memory, class Wait>
class master_word {
 public:
  rank_t participants() const noexcept { return n_; }
  // Sets the patience of all waits that begin later. Any thread may call it at any time. Returns
  // false if the wait policy has no patience.
  bool set_patience(patience p) noexcept { return set_patience_of(wait_, p); }

  // Open and await a parallel region: the master opens it, and the workers await it. All ranks end
  // it by collect() of the derived class, after which only the master knows that all have arrived.
  void open() {
    // release: publishes what the master did before, and the work of all, which it acquired while
    // it collected; pairs with await.
    go_.store(++locals_[0].episode, Memory::order("region.open", release));
    wait_.notify(go_);
  }
  void await(rank_t rank) {
    participant<Wait>& me = locals_[rank];
    // acquire: pairs with open.
    wait_.until(me.wait_state, go_, Memory::order("region.await", acquire), reached(++me.episode));
  }

 protected:
  explicit master_word(rank_t participants)
      : n_(participants), locals_(participants), wait_(participants) {}

  rank_t n_;
  array<participant<Wait>> locals_;
  alignas(cache_line) typename Memory::template atomic<std::uint32_t> go_{0};
  Wait wait_;
};

}  // namespace tutti
