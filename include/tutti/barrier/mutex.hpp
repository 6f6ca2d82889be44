// SPDX-License-Identifier: Apache-2.0
// Mutex increment barrier: the same as atomic.hpp, but the workers increment the counter under a
// lock. It exists for comparison: it shows what the lock costs.
//
// Cost       a lock and an unlock per worker, each a read-modify-write, and a system call under
//            contention.
// When       never by choice.
// When not   wherever atomic increments are available.
// Source     Berger and Stamatakis, section III.D.
#pragma once

#include "tutti/barrier/master.hpp"

namespace tutti {

template <class Memory = native, class Wait = adaptive_wait<Memory>>
class mutex_barrier : private master_barrier<Memory, Wait> {
  using base = master_barrier<Memory, Wait>;

 public:
  explicit mutex_barrier(rank_t n) : base(n) {}

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
      lock_.lock();
      // relaxed: the lock keeps other writers out.
      const std::uint32_t arrived = arrived_.load(relaxed) + 1;
      // release: publishes my work and that of the workers before me to the master, which reads
      // without the lock; pairs with its collect below.
      arrived_.store(arrived, Memory::order("mutex.arrive", release));
      lock_.unlock();
      this->wait_.notify(arrived_);
      return true;
    }
    // The count is never reset. It wraps around, and so does the target.
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
