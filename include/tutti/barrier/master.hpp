// SPDX-License-Identifier: Apache-2.0
// The common base of the master/worker barriers of Berger and Stamatakis: rank 0 is the master,
// learns that all workers have arrived, and releases them with one word. The algorithms differ in
// how the master learns of the arrivals (`collect`).
#pragma once

#include "tutti/barrier/master_word.hpp"
#include "tutti/wait/adaptive.hpp"

namespace tutti {

// Derived, the algorithm, has
//   bool collect(rank, deadline = {})
// in which a worker reports its arrival. The master waits there for all workers, and may call it
// again after its deadline has passed.
template <class Derived, class Memory, class Wait>
class master_barrier : public master_word<Memory, Wait> {
 public:
  // Arrives as `rank`, 0 .. participants()-1, and returns true when all have arrived. Returns false
  // if the deadline passed; this rank must not use the barrier again then. The rank is not checked,
  // and one thread at a time may use it.
  template <class Deadline = no_deadline>
  bool arrive_and_wait(rank_t rank, Deadline deadline = {}) {
    participant<Wait>& me = this->locals_[rank];
    const std::uint32_t episode = ++me.episode;
    if (!static_cast<Derived&>(*this).collect(rank, deadline)) return false;
    if (rank == 0) {
      // release: publishes the work of all, which the master acquired while it collected; pairs
      // with the wait.
      this->go_.store(episode, Memory::order("master.release", release));
      this->wait_.notify(this->go_);
      return true;
    }
    // acquire: pairs with the master's release.
    return this->wait_.until(me.wait_state, this->go_, Memory::order("master.wait", acquire),
                             reached(episode), deadline);
  }

 protected:
  explicit master_barrier(rank_t participants) : master_barrier::master_word(participants) {}
};

// One word for each rank: packed into as few cache lines as possible, or each on a line of its own.
template <class Memory, bool Padded>
class rank_flags {
 public:
  using word = typename Memory::template atomic<std::uint32_t>;
  explicit rank_flags(rank_t participants) : flags_(participants) {}
  word& operator[](rank_t rank) noexcept { return flags_[rank].value; }

 private:
  struct alignas(Padded ? cache_line : alignof(word)) flag {
    word value{0};
  };
  array<flag> flags_;
};

}  // namespace tutti
