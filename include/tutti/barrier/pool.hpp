// SPDX-License-Identifier: Apache-2.0
// Pool barrier: sequence and count share one word, so that an arrival is one compare-and-swap that also releases.
// Any n of an unbounded pool of threads make up an episode, and whoever leaves first may destroy the barrier: the
// destructor waits until the others of finished episodes have left too.
//
// Cost       one compare-and-swap an arrival (retried under contention), one fetch_add to leave; one line each.
// When       the set of threads is not fixed, or the barrier lives on somebody's stack.
// When not   many cores: retries queue for the line.
// Source     paper 000, section 2 (the pool barrier of its figures); leaving as in glibc's pthread_barrier.
#pragma once

#include "tutti/barrier/participant.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/patience.hpp"
#include "tutti/wait/seats.hpp"

namespace tutti {

template <class Memory = native, class Wait = adaptive_wait<Memory>>
class pool_barrier {
 public:
  static constexpr bool anonymous = true;

  explicit pool_barrier(rank_t participants) : n_(participants), wait_(participants) {}

  ~pool_barrier() {
    // relaxed: whoever may destroy has seen the release of the last episode.
    const std::uint64_t last = state_.load(relaxed);
    // Those who arrived in an unfinished episode and gave up have left as well: without them in the sum, their
    // departures would stand for participants of the last episode that are still on their way out.
    const std::uint32_t departures =
        n_ * sequence_of(last) + static_cast<std::uint32_t>(last >> 32);
    // acquire: pairs with every leave, so that nobody still touches the barrier when it goes.
    while (!reached(departures)(left_.load(Memory::order("pool.destroy", acquire))))
      Memory::yield();
  }
  pool_barrier(const pool_barrier&) = delete;
  pool_barrier& operator=(const pool_barrier&) = delete;

  // `lacking`: what the episode still lacks when I give up.
  template <class Deadline = no_deadline>
  bool arrive_and_wait(rank_t /*rank*/, Deadline deadline = {}, rank_t* lacking = nullptr) {
    auto& seat = seat_of_this_thread<typename Wait::seat>(this);
    const std::uint32_t sequence = arrive();
    // acquire: pairs with the arrivals of the episode through the release sequence of the word.
    const bool released = wait_.until(
        seat, state_, Memory::order("pool.wait", acquire),
        [sequence](std::uint64_t now) noexcept { return sequence_of(now) != sequence; }, deadline);
    if (!released && lacking != nullptr) *lacking = missing(sequence);
    // release: my last touch, also when I give up; pairs with the destructor.
    left_.fetch_add(1, Memory::order("pool.leave", release));
    return released;
  }

  rank_t participants() const noexcept { return n_; }
  // May be called at any time by any thread; waits that have begun keep theirs. False: the policy has no patience.
  bool set_patience(patience p) noexcept { return set_patience_of(wait_, p); }

 private:
  // The sequence is the half that futexes see: it changes only at a release.
  static constexpr std::uint32_t sequence_of(std::uint64_t state) noexcept {
    return static_cast<std::uint32_t>(state);
  }
  static constexpr std::uint64_t one_arrival = std::uint64_t{1} << 32;

  // Arrivals that the episode still lacks; a snapshot for messages, taken before I leave.
  rank_t missing(std::uint32_t sequence) const noexcept {
    const std::uint64_t seen = state_.load(relaxed);  // relaxed: a snapshot
    return sequence_of(seen) != sequence ? 0 : n_ - static_cast<rank_t>(seen >> 32);
  }

  // Returns the sequence of the episode that I arrived in.
  std::uint32_t arrive() {
    // relaxed: the compare-and-swap decides.
    std::uint64_t seen = state_.load(relaxed);
    for (;;) {
      const bool last = (seen >> 32) + 1 == n_;
      const std::uint64_t next = last ? sequence_of(seen) + std::uint32_t{1} : seen + one_arrival;
      // seq_cst: acquire and release carry everybody's work from arrival to arrival; the one order also puts a
      // release before the look for sleepers.
      // relaxed: a failure only tries again.
      if (state_.compare_exchange_weak(seen, next, Memory::order("pool.arrive", seq_cst),
                                       relaxed)) {
        if (last) wait_.notify_ordered(state_);
        return sequence_of(seen);
      }
    }
  }

  rank_t n_;
  alignas(cache_line) typename Memory::template atomic<std::uint64_t> state_{0};
  Wait wait_;
  alignas(cache_line) typename Memory::template atomic<std::uint32_t> left_{0};
};

}  // namespace tutti
