// SPDX-License-Identifier: Apache-2.0
// Where the tasks of a region wait for each other, for runtimes that promise no concurrency: left
// alone, one thread may run several of such small tasks before another has looked, and nobody forks
// or joins. A thread that waits in a task cannot take a second one, so every thread takes part, as
// it does in the regions of all others; what a region costs includes that rendezvous, which is
// about a line transfer there and back.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

#include "bench/harness/placement.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/platform/pause.hpp"

namespace tutti::bench {

class rendezvous {
 public:
  explicit rendezvous(rank_t participants)
      : participants_(participants),
        polls_before_yielding_(participants > allowed_cpus().size() ? 0 : 200) {}

  void meet() {
    // acq_rel: the last to come has seen what all wrote, and publishes it.
    const std::uint64_t ticket = arrived_.fetch_add(1, acq_rel);
    const std::uint64_t target = (ticket / participants_ + 1) * participants_;
    // acquire: pairs with the last to come.
    for (int polls = 0; arrived_.load(acquire) < target; ++polls) {
      if (polls < polls_before_yielding_) {
        platform::pause();
      } else {
        sched_yield();
      }
    }
  }

 private:
  const rank_t participants_;
  const int
      polls_before_yielding_;  // with more threads than CPUs they would cost their whole length
  alignas(cache_line) std::atomic<std::uint64_t> arrived_{0};
};

}  // namespace tutti::bench
