// SPDX-License-Identifier: Apache-2.0
// Striped barrier: an arrival decrements one of several leaf counters. The arrival that empties a
// counter decrements its parent, and the arrival that empties the root releases all with one word.
// Threads need no rank: a thread tries the leaf that it used last, and tries the next one if that
// leaf lacks no arrivals in this episode. Participants may drop out.
//
// An arrival does not read a counter before it changes it, because it would then wait twice for the
// line: to read it, and to own it. It guesses the value: at a leaf from its last arrival there,
// further up that nobody has arrived yet. If the guess is wrong, the failed compare-and-swap has
// fetched the line, and the next one finds it in the own cache. A thread that has not arrived
// before, that tries a second leaf, or whose leaf has more than 255 participants reads first.
//
// Cost       log_fan(n) compare-and-swaps one after the other, each on a cache line that `fan`
//            participants share, and one store that n-1 participants read. With one leaf there is
//            one compare-and-swap and one store.
// When       more than a few cores without fixed ranks; participants that drop out; a completion
//            function.
// When not   few participants, for which the ticket barrier needs one line less.
// Source     Yew, Tzeng and Lawrie 1987 for combining; libstdc++'s std::barrier for the search for
//            a leaf.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tutti/barrier/participant.hpp"
#include "tutti/schedule/arithmetic.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/patience.hpp"
#include "tutti/wait/thread_state.hpp"

namespace tutti {

// The completion function that does nothing.
struct no_completion {
  void operator()() const noexcept {}
};

template <class Memory = native, class Wait = adaptive_wait<Memory>>
class striped_barrier {
 public:
  static constexpr bool anonymous = true;
  static constexpr rank_t counter_max = 0xffff;

  // Makes a leaf for every `fan` participants, and a counter of the next level for every `fan`
  // counters, or for every two if `fan` is 1. If `fan` is 0, one leaf serves all participants.
  explicit striped_barrier(rank_t participants, rank_t fan = 4)
      : wait_(participants),
        n_(participants),
        leaves_(fan == 0 ? 1 : schedule::ceil_div(participants, fan)),
        counters_(count_counters(leaves_, fan < 2 ? 2 : fan)) {
    for (rank_t i = 0; i < leaves_; ++i) counters_[i].reset(size_of_group(i, leaves_, n_));
    link_levels(fan < 2 ? 2 : fan);
  }

  // Arrives and returns true when the episode has ended. The rank only chooses the first leaf to
  // try, and may be any_rank. Returns false if the deadline passed: the arrival still counts, and
  // *lacking is the number of arrivals that the episode still lacked.
  template <class Deadline = no_deadline>
  bool arrive_and_wait(rank_t rank, Deadline deadline = {}, rank_t* lacking = nullptr) {
    thread_state& mine = state_of_this_thread<thread_state, Memory>(this);
    if (rank != any_rank) mine.leaf = leaf_of(rank);
    const std::uint32_t episode = arrive(mine);
    if (wait(episode, mine, deadline)) return true;
    if (lacking != nullptr) *lacking = missing(episode);
    return false;
  }

  // A thread's memory: the leaf that accepted its last arrival, how many arrivals that leaf then
  // expected and lacked (0 if it does not remember, or if they are more than a byte can hold), and
  // the wait policy's state.
  struct thread_state {
    std::uint16_t leaf = unknown;
    std::uint8_t expected = 0, left = 0;
    typename Wait::wait_state wait_state{};
  };

  // Arrives and returns the episode. With `drop` this is the caller's last arrival: later episodes
  // expect one participant less. The arrival that completes the episode calls `completion` before
  // it releases the others.
  template <class Completion = no_completion>
  std::uint32_t arrive(thread_state& mine, bool drop = false, Completion&& completion = {}) {
    const rank_t first = (mine.leaf == unknown ? Memory::place() : mine.leaf) % leaves_;
    bool guesses = mine.left != 0;
    for (;; Memory::relax()) {
      // acquire: pairs with the release of the episode before, for a thread that arrives without
      // having waited, so that the completion of that episode happens before the next one. The
      // counters decide which episode counts, so an older one is only refused.
      const std::uint32_t episode = go_.load(Memory::order("striped.next", acquire));
      for (rank_t i = 0, leaf = first; i < leaves_;
           ++i, leaf = leaf + 1 == leaves_ ? 0 : leaf + 1) {
        counter& at = counters_[leaf];
        std::uint64_t word = guesses ? counter::pack(episode, mine.expected, mine.left) : at.look();
        guesses = false;
        const auto outcome = at.count_down(episode, drop, word);
        if (outcome == counter::outcome::refused) continue;
        mine.leaf = static_cast<std::uint16_t>(leaf);
        remember(mine, word);
        if (outcome != counter::outcome::counted) finish(at, episode, outcome, completion);
        return episode;
      }
    }
  }

  // Returns true once the episode has ended, or false if the deadline passed.
  template <class Deadline = no_deadline>
  bool wait(std::uint32_t episode, thread_state& mine, Deadline deadline = {}) {
    // acquire: pairs with the release of the episode.
    return wait_.until(mine.wait_state, go_, Memory::order("striped.wait", acquire),
                       reached(episode + 1), deadline);
  }

  rank_t participants() const noexcept { return n_; }
  // Sets the patience of all waits that begin later. Any thread may call it at any time. Returns
  // false if the wait policy has no patience.
  bool set_patience(patience p) noexcept { return set_patience_of(wait_, p); }

  // Returns the leaf for a rank. Consecutive ranks share a leaf, because they usually share a
  // cache.
  std::uint16_t leaf_of(rank_t rank) const noexcept {
    return static_cast<std::uint16_t>(group_of(rank, leaves_, n_));
  }

  // Returns the episode that has not ended. It is exact for a participant that has not arrived in
  // it.
  // relaxed: such a participant has seen the end of the previous episode.
  std::uint32_t phase() const noexcept { return go_.load(relaxed); }

  // Returns the number of arrivals that the episode still lacks: a snapshot for messages.
  rank_t missing(std::uint32_t episode) const noexcept {
    rank_t sum = 0;
    for (rank_t i = 0; i < leaves_; ++i) sum += counters_[i].missing(episode);
    return sum;
  }

 private:
  static constexpr std::uint16_t unknown = 0xffff;

  // One word that holds the current episode, the number of arrivals that the next episode expects,
  // and the number that the current one still lacks.
  class alignas(cache_line) counter {
   public:
    // refused: the counter is in another episode, or lacks no arrivals. emptied_for_good: all who
    // arrive here have dropped out.
    enum class outcome { refused, counted, emptied, emptied_for_good };

    // relaxed: before the barrier is shared.
    void reset(rank_t expected) noexcept { word_.store(pack(0, expected, expected), relaxed); }

    // relaxed: the compare-and-swap decides.
    std::uint64_t look() const noexcept { return word_.load(relaxed); }

    // Counts an arrival. `seen` is a guess of the word and becomes what the word was.
    outcome count_down(std::uint32_t episode, bool drop, std::uint64_t& seen) noexcept {
      for (;;) {
        if (episode_of(seen) != episode || left_of(seen) == 0) return outcome::refused;
        const rank_t expected = expected_of(seen) - (drop ? 1 : 0);
        const rank_t left = left_of(seen) - 1;
        const std::uint64_t next =
            left > 0 ? pack(episode, expected, left) : pack(episode + 1, expected, expected);
        // acq_rel: release publishes my work to the arrival that empties the counter; acquire lets
        // that one pass it on.
        // relaxed: a failure only tries again.
        if (word_.compare_exchange_weak(seen, next, Memory::order("striped.arrive", acq_rel),
                                        relaxed))
          return left > 0       ? outcome::counted
                 : expected > 0 ? outcome::emptied
                                : outcome::emptied_for_good;
      }
    }

    rank_t missing(std::uint32_t episode) const noexcept {
      // relaxed: a snapshot.
      const std::uint64_t seen = word_.load(relaxed);
      return episode_of(seen) == episode ? left_of(seen) : 0;
    }

    // The root has none.
    counter* parent = nullptr;
    // How many arrivals the parent expects if nobody drops out, including this counter's.
    rank_t siblings = 0;

    static constexpr std::uint64_t pack(std::uint32_t episode, rank_t expected,
                                        rank_t left) noexcept {
      return std::uint64_t{episode} << 32 | std::uint64_t{expected} << 16 | left;
    }
    static constexpr std::uint32_t episode_of(std::uint64_t w) noexcept {
      return static_cast<std::uint32_t>(w >> 32);
    }
    static constexpr rank_t expected_of(std::uint64_t w) noexcept {
      return static_cast<rank_t>(w >> 16 & counter_max);
    }
    static constexpr rank_t left_of(std::uint64_t w) noexcept {
      return static_cast<rank_t>(w & counter_max);
    }

   private:
    typename Memory::template atomic<std::uint64_t> word_{0};
  };

  static void remember(thread_state& mine, std::uint64_t word) noexcept {
    const rank_t expected = counter::expected_of(word);
    const bool fits = expected <= 0xff;
    mine.expected = static_cast<std::uint8_t>(fits ? expected : 0);
    mine.left = static_cast<std::uint8_t>(fits ? counter::left_of(word) : 0);
  }

  // Shares `items` among `groups`, whose sizes differ by one at most: the group of an item, and the
  // number of items of a group. There are at most counter_max items.
  static constexpr rank_t group_of(rank_t item, rank_t groups, rank_t items) noexcept {
    return item * groups / items;
  }
  static constexpr rank_t size_of_group(rank_t group, rank_t groups, rank_t items) noexcept {
    const auto first = [&](rank_t g) { return schedule::ceil_div(g * items, groups); };
    return first(group + 1) - first(group);
  }

  static constexpr rank_t count_counters(rank_t leaves, rank_t fan) noexcept {
    rank_t all = leaves;
    for (rank_t level = leaves; level > 1; all += level) level = schedule::ceil_div(level, fan);
    return all;
  }

  // Stores the counters level by level from the leaves. The members of a counter are consecutive.
  void link_levels(rank_t fan) noexcept {
    for (rank_t first = 0, level = leaves_; level > 1;) {
      const rank_t parents = schedule::ceil_div(level, fan);
      for (rank_t i = 0; i < level; ++i) {
        const rank_t parent = group_of(i, parents, level);
        counters_[first + i].siblings = size_of_group(parent, parents, level);
        counters_[first + i].parent = &counters_[first + level + parent];
      }
      for (rank_t i = 0; i < parents; ++i)
        counters_[first + level + i].reset(size_of_group(i, parents, level));
      first += level;
      level = parents;
    }
  }

  // Goes up from a leaf that the caller has emptied, as far as it empties counters, and ends the
  // episode at the root.
  template <class Completion>
  void finish(counter& leaf, std::uint32_t episode, typename counter::outcome outcome,
              Completion& completion) {
    for (counter* at = &leaf; at->parent != nullptr; at = at->parent) {
      std::uint64_t word = counter::pack(episode, at->siblings, at->siblings);
      const bool drop = outcome == counter::outcome::emptied_for_good;
      outcome = at->parent->count_down(episode, drop, word);
      if (outcome == counter::outcome::counted) return;
    }
    completion();
    // release: publishes the work of all and of the completion function; pairs with the waits.
    go_.store(episode + 1, Memory::order("striped.release", release));
    wait_.notify(go_);
  }

  alignas(cache_line) typename Memory::template atomic<std::uint32_t> go_{0};
  // The constant members use the rest of the wait policy's cache line, which is written only by
  // waiters that sleep.
  [[no_unique_address]] Wait wait_;
  alignas(std::is_empty_v<Wait> ? cache_line : alignof(rank_t)) rank_t n_;
  rank_t leaves_;
  array<counter> counters_;
};

}  // namespace tutti
