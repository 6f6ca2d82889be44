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
class atomic_barrier : public master_barrier<atomic_barrier<Memory, Wait>, Memory, Wait> {
 public:
  explicit atomic_barrier(rank_t n) : atomic_barrier::master_barrier(n) {}

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

 private:
  alignas(cache_line) typename Memory::template atomic<std::uint32_t> arrived_{0};
};

}  // namespace tutti
