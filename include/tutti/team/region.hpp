// SPDX-License-Identifier: Apache-2.0
// Opens and ends parallel regions with a barrier of the registry, which is chosen by name at run
// time. A team uses this if its options name a barrier. Without a name it uses fork_join.hpp, which
// also carries values.
// Hosted only: it needs exceptions and the compiled library.
#pragma once

#include <memory>
#include <string_view>

#include "tutti/barrier/master_word.hpp"
#include "tutti/export.h"
#include "tutti/platform/interface_base.hpp"
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
// themselves (open and await in barrier/master_word.hpp, collect in each). Any other barrier
// becomes a region_before_barrier. Throws what make_barrier throws.
TUTTI_API std::unique_ptr<any_region> make_region(std::string_view algorithm, rank_t participants,
                                                  std::string_view wait = "adaptive",
                                                  patience p = {});

// A region that the master opens with one word, on which the workers wait, and that a barrier of
// all ranks ends. Its members have the names of the master/worker barriers: collect is any_region's
// close.
template <class Barrier, class Memory, class Wait>
class region_before_barrier : public master_word<Memory, Wait> {
 public:
  region_before_barrier(std::unique_ptr<Barrier> barrier, rank_t participants)
      : master_word<Memory, Wait>(participants), barrier_(std::move(barrier)) {}

  void collect(rank_t rank) { barrier_->arrive_and_wait(rank); }

  // Does what the barrier's set_patience does.
  bool set_patience(patience p) noexcept {
    barrier_->set_patience(p);
    return set_patience_of(this->wait_, p);
  }

 private:
  std::unique_ptr<Barrier> barrier_;
};

}  // namespace tutti
