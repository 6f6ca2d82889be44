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
class mutex_barrier : public master_barrier<mutex_barrier<Memory, Wait>, Memory, Wait> {
 public:
  explicit mutex_barrier(rank_t n) : mutex_barrier::master_barrier(n) {}

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

 private:
  typename Memory::mutex lock_;
  alignas(cache_line) typename Memory::template atomic<std::uint32_t> arrived_{0};
};

}  // namespace tutti
