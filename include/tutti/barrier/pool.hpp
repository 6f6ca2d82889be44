// SPDX-License-Identifier: Apache-2.0
// Pool barrier: a sequence number and a count share one word, so one compare-and-swap counts an
// arrival and the last one also releases. Any n threads of an unlimited pool complete an episode.
// The first thread that leaves may destroy the barrier, because the destructor waits until the
// other threads of finished episodes have left.
//
// Cost       one compare-and-swap per arrival, repeated under contention, and one fetch_add to
//            leave, on one cache line each.
// When       the set of threads is not fixed, or the barrier is on a thread's stack.
// When not   many cores, because repeated attempts queue for the line.
// Source     Hetland et al. 2019, section 2 (the pool barrier of its figures); glibc's
//            pthread_barrier for leaving.
#pragma once

#include "tutti/barrier/participant.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/patience.hpp"
#include "tutti/wait/thread_state.hpp"

namespace tutti {

template <class Memory = native, class Wait = adaptive_wait<Memory>>
class pool_barrier {
 public:
  static constexpr bool anonymous = true;

  explicit pool_barrier(rank_t participants) : n_(participants), wait_(participants) {}

  ~pool_barrier() {
    // relaxed: the thread that may destroy has seen the release of the last episode.
    const std::uint64_t last = state_.load(relaxed);
    // The sum includes the threads that arrived in an unfinished episode and gave up, because they
    // have left as well. Otherwise their departures would be taken for those of participants of the
    // last episode that have not left yet.
    const std::uint32_t departures =
        n_ * sequence_of(last) + static_cast<std::uint32_t>(last >> 32);
    // acquire: pairs with every leave, so that no thread accesses the barrier after its end.
    while (!reached(departures)(left_.load(Memory::order("pool.destroy", acquire))))
      Memory::yield();
  }
  pool_barrier(const pool_barrier&) = delete;
  pool_barrier& operator=(const pool_barrier&) = delete;

  // Arrives and returns true when the episode has ended. The rank is ignored. Returns false if the
  // deadline passed: the arrival still counts, and *lacking is the number of arrivals that the
  // episode still lacked.
  template <class Deadline = no_deadline>
  bool arrive_and_wait(rank_t /*rank*/, Deadline deadline = {}, rank_t* lacking = nullptr) {
    auto& wait_state = state_of_this_thread<typename Wait::wait_state, Memory>(this);
    const std::uint32_t sequence = arrive();
    // acquire: pairs with the arrivals of the episode through the release sequence of the word.
    const bool released = wait_.until(
        wait_state, state_, Memory::order("pool.wait", acquire),
        [sequence](std::uint64_t now) noexcept { return sequence_of(now) != sequence; }, deadline);
    if (!released && lacking != nullptr) *lacking = missing(sequence);
    // release: publishes that I no longer access the barrier, also when I give up; pairs with the
    // destructor.
    left_.fetch_add(1, Memory::order("pool.leave", release));
    return released;
  }

  rank_t participants() const noexcept { return n_; }
  // Sets the patience of all waits that begin later. Any thread may call it at any time. Returns
  // false if the wait policy has no patience.
  bool set_patience(patience p) noexcept { return set_patience_of(wait_, p); }

 private:
  // The sequence number is the half of the word that a futex compares. It changes only at a
  // release.
  static constexpr std::uint32_t sequence_of(std::uint64_t state) noexcept {
    return static_cast<std::uint32_t>(state);
  }
  static constexpr std::uint64_t one_arrival = std::uint64_t{1} << 32;

  // Returns the number of arrivals that the episode still lacks: a snapshot for messages, taken
  // before the caller leaves.
  rank_t missing(std::uint32_t sequence) const noexcept {
    // relaxed: a snapshot.
    const std::uint64_t seen = state_.load(relaxed);
    return sequence_of(seen) != sequence ? 0 : n_ - static_cast<rank_t>(seen >> 32);
  }

  // Returns the sequence number of the episode in which the caller arrived.
  std::uint32_t arrive() {
    // relaxed: the compare-and-swap decides.
    std::uint64_t seen = state_.load(relaxed);
    for (;;) {
      const bool last = (seen >> 32) + 1 == n_;
      const std::uint64_t next = last ? sequence_of(seen) + std::uint32_t{1} : seen + one_arrival;
      // seq_cst: acquire and release pass the work of all from arrival to arrival; the total order
      // also puts a release before the check for sleepers.
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
