// SPDX-License-Identifier: Apache-2.0
// Mutex increment: as atomic.hpp, but workers count themselves under a lock. There for reference: it shows what the
// lock costs.
//
// Cost       a lock and an unlock a worker, each a read-modify-write, and a system call under contention.
// When       never by choice.
// When not   whenever an atomic increment is to be had.
// Source     paper 002, section III.D.
#pragma once

#include "tutti/barrier/master.hpp"

namespace tutti {

template <class Memory = native, class Wait = adaptive_wait<Memory>>
class mutex_barrier : private master_barrier<Memory, Wait> {
  using base = master_barrier<Memory, Wait>;

 public:
  explicit mutex_barrier(rank_t n) : base(n) {}

  template <class Deadline = no_deadline>
  bool arrive_and_wait(rank_t rank, Deadline deadline = {}) {
    return this->meet(
        rank, [&] { return collect(rank, deadline); }, deadline);
  }

  // A worker reports its arrival; the master waits for all of them, and may be called again after its deadline.
  template <class Deadline = no_deadline>
  bool collect(rank_t rank, Deadline deadline = {}) {
    participant<Wait>& me = this->locals_[rank];
    if (rank != 0) {
      lock_.lock();
      // relaxed: the lock keeps other writers out.
      const std::uint32_t arrived = arrived_.load(relaxed) + 1;
      // release: the master reads without the lock; publishes my work and that of those who counted before me.
      arrived_.store(arrived, Memory::order("mutex.arrive", release));
      lock_.unlock();
      this->wait_.notify(arrived_);
      return true;
    }
    // The count is never reset: it wraps, and so does the target.
    const std::uint32_t all = me.episode * (this->n_ - 1);
    // acquire: pairs with the last worker's store, which follows the others' through the lock.
    return this->wait_.until(me.collecting, arrived_, Memory::order("mutex.collect", acquire),
                             reached(all), deadline);
  }

  using base::await;
  using base::open;
  using base::participants;
  using base::set_patience;

 private:
  typename Memory::mutex lock_;
  alignas(cache_line) typename Memory::template atomic<std::uint32_t> arrived_{0};
};

}  // namespace tutti
