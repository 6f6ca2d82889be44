// SPDX-License-Identifier: Apache-2.0
// Lock-free flags barrier: each worker sets its own flag, and the master reads all flags in turn.
//
// Cost       one store per worker and one to release. Plain: 32 flags share a cache line, so the
//            master reads few lines, but workers disturb each other. Padded: each flag has a line,
//            which costs n-1 transfers to the master.
// When       few workers with a master that does the serial work anyway. The plain form was faster
//            on the machines of Berger and Stamatakis.
// When not   many cores, because the master reads n-1 flags one after the other.
// Source     Berger and Stamatakis, section III.A.
#pragma once

#include "tutti/barrier/master.hpp"

namespace tutti {

template <class Memory = native, class Wait = adaptive_wait<Memory>, bool Padded = false>
class flags_barrier : public master_barrier<flags_barrier<Memory, Wait, Padded>, Memory, Wait> {
 public:
  explicit flags_barrier(rank_t n) : flags_barrier::master_barrier(n), flags_(n) {}

  template <class Deadline = no_deadline>
  bool collect(rank_t rank, Deadline deadline = {}) {
    participant<Wait>& me = this->locals_[rank];
    if (rank != 0) {
      // release: publishes my work; pairs with the master's collect below.
      flags_[rank].store(me.episode, Memory::order("flags.arrive", release));
      this->wait_.notify(flags_[rank]);
      return true;
    }
    for (rank_t worker = 1; worker < this->n_; ++worker)
      // acquire: pairs with the worker's arrival.
      if (!this->wait_.until(me.collecting, flags_[worker], Memory::order("flags.collect", acquire),
                             reached(me.episode), deadline))
        return false;
    return true;
  }

 private:
  rank_flags<Memory, Padded> flags_;
};

template <class Memory = native, class Wait = adaptive_wait<Memory>>
using flags_padded_barrier = flags_barrier<Memory, Wait, true>;

}  // namespace tutti
