// SPDX-License-Identifier: Apache-2.0
// Opens and ends parallel regions with a barrier of the registry, which is chosen by name at run
// time. A team uses this if its options name a barrier. Without a name it uses fork_join.hpp, which
// also carries values.
// Hosted only: it needs exceptions and the compiled library.
#pragma once

#include <memory>
#include <string_view>

#include "tutti/barrier/participant.hpp"
#include "tutti/export.h"
#include "tutti/platform/interface_base.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/wait/deadline.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

// A region whose barrier and wait policy are chosen at run time. One thread at a time may use a
// rank.
class TUTTI_API any_region : public interface_base {
 public:
  // The master, rank 0, opens the region. What it did before happens before a worker's return from
  // await().
  virtual void open() = 0;
  // A worker waits for the next region.
  virtual void await(rank_t rank) = 0;
  // Ends a rank's part of the region. The master's call returns once all workers have ended theirs;
  // a worker's call may return at once.
  virtual void close(rank_t rank) = 0;
  // Returns false if the wait policy has no patience.
  virtual bool set_patience(patience p) noexcept = 0;
};

// Makes a region. The master/worker barriers of Berger and Stamatakis 2010 implement a region
// themselves (open and await in barrier/master.hpp, collect in each). Any other barrier becomes a
// region_before_barrier. Throws what make_barrier throws.
TUTTI_API std::unique_ptr<any_region> make_region(std::string_view algorithm, rank_t participants,
                                                  std::string_view wait = "adaptive",
                                                  patience p = {});

// A region that the master opens with one word, on which the workers wait, and that a barrier of
// all ranks ends. Its members have the names of the master/worker barriers: collect is any_region's
// close.
template <class Barrier, class Memory, class Wait>
class region_before_barrier {
 public:
  explicit region_before_barrier(std::unique_ptr<Barrier> barrier, rank_t participants)
      : barrier_(std::move(barrier)), locals_(participants), wait_(participants) {}

  void open() {
    // release: publishes what the master did before; pairs with await.
    go_.store(++locals_[0].episode, Memory::order("region.open", release));
    wait_.notify(go_);
  }
  void await(rank_t rank) {
    participant<Wait>& me = locals_[rank];
    // acquire: pairs with open.
    wait_.until(me.wait_state, go_, Memory::order("region.await", acquire), reached(++me.episode));
  }
  void collect(rank_t rank) { barrier_->arrive_and_wait(rank); }

  // Does what the barrier's set_patience does.
  bool set_patience(patience p) noexcept {
    barrier_->set_patience(p);
    return set_patience_of(wait_, p);
  }

 private:
  std::unique_ptr<Barrier> barrier_;
  array<participant<Wait>> locals_;
  alignas(cache_line) typename Memory::template atomic<std::uint32_t> go_{0};
  Wait wait_;
};

}  // namespace tutti
