// SPDX-License-Identifier: Apache-2.0
// A parallel region's two meetings by a barrier of the registry, chosen by name at run time. Needs the compiled library.
// tutti's own way, fork_join.hpp, is not among them: it is not chosen by name and carries values.
// Hosted only: exceptions and a compiled library.
#pragma once

#include <memory>
#include <string_view>

#include "tutti/barrier/participant.hpp"
#include "tutti/export.h"
#include "tutti/platform/native.hpp"
#include "tutti/wait/deadline.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

class TUTTI_API any_region {
 public:
  any_region() = default;
  virtual ~any_region() = default;
  any_region(const any_region&) = delete;
  any_region& operator=(const any_region&) = delete;

  // The master, rank 0: what it did before happens before a worker's return from await().
  virtual void open() = 0;
  // A worker waits for the next region.
  virtual void await(rank_t rank) = 0;
  // Ends a rank's part. For the master it returns once all workers have ended theirs; others may return at once.
  virtual void close(rank_t rank) = 0;
  // False: it waits by a policy that has no patience.
  virtual bool set_patience(patience p) noexcept = 0;
};

// The master/worker barriers of paper 002 are a region by themselves (open, await, collect); any other one ends the
// region for all ranks alike, and a word of its own opens it. Throws as make_barrier does.
TUTTI_API std::unique_ptr<any_region> make_region(std::string_view algorithm, rank_t participants,
                                                  std::string_view wait = "adaptive",
                                                  patience p = {});

// Opens regions that end by a barrier of all.
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
    wait_.until(me.seat, go_, Memory::order("region.await", acquire), reached(++me.episode));
  }
  void collect(rank_t rank) { barrier_->arrive_and_wait(rank); }

  // The same as a barrier's set_patience.
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
