// SPDX-License-Identifier: Apache-2.0
// Atomic increment barrier: each worker increments a counter with one atomic instruction, and the
// master waits for the count.
//
// Cost       one fetch_add per worker on one cache line, and one store to release.
// When       few workers with a master. It has the smallest code.
// When not   many cores, because workers queue for the line.
// Source     Berger and Stamatakis, section III.C.
#pragma once

#include "tutti/barrier/master.hpp"

namespace tutti {

template <class Memory = native, class Wait = adaptive_wait<Memory>>
class atomic_barrier : private master_barrier<Memory, Wait> {
  using base = master_barrier<Memory, Wait>;

 public:
  explicit atomic_barrier(rank_t n) : base(n) {}

  // Arrives as `rank`, 0 .. participants()-1, and returns true when all have arrived. Returns false
  // if the deadline passed; this rank must not use the barrier again then. The rank is not checked,
  // and one thread at a time may use it.
  template <class Deadline = no_deadline>
  bool arrive_and_wait(rank_t rank, Deadline deadline = {}) {
    return this->meet(
        rank, [&] { return collect(rank, deadline); }, deadline);
  }

  // A worker reports its arrival. The master waits for all workers, and may call it again after its
  // deadline has passed.
  template <class Deadline = no_deadline>
  bool collect(rank_t rank, Deadline deadline = {}) {
    participant<Wait>& me = this->locals_[rank];
    if (rank != 0) {
      // seq_cst: release publishes my work, and acquire passes on that of earlier workers; the
      // total order puts the count before the check for a sleeping master.
      arrived_.fetch_add(1, Memory::order("atomic.arrive", seq_cst));
      this->wait_.notify_ordered(arrived_);
      return true;
    }
    // The count is never reset. It wraps around, and so does the target.
    const std::uint32_t all = me.episode * (this->n_ - 1);
    // acquire: pairs with every worker's arrival through the counter's release sequence.
    return this->wait_.until(me.collecting, arrived_, Memory::order("atomic.collect", acquire),
                             reached(all), deadline);
  }

  using base::await;
  using base::open;
  using base::participants;
  using base::set_patience;

 private:
  alignas(cache_line) typename Memory::template atomic<std::uint32_t> arrived_{0};
};

}  // namespace tutti
