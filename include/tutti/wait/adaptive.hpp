// SPDX-License-Identifier: Apache-2.0
// The default: polls, yields or parks, whichever the machine rewards at this moment, and learns it as it goes.
//
// What it learns, and from what:
//  * Do I share this core with another participant? Each waiting thread leaves its name on its CPU
//    (platform/cpu.hpp): a foreign name there means that polling would keep off the core the very thread that is
//    waited for, so the policy yields at once. One load for each wait that is not over at the first look. It sees
//    what is so, not what an affinity mask or a count of threads suggests.
//  * How long are my waits? Each state remembers the lengths of its last waits that outlasted the first polls, and polls
//    for as long as that pays (lengths.hpp): through waits that are usually short, not at all where they are usually long.
//  * Does a process run here that is no participant? On a core that participants share, one yield that lasts says little:
//    somebody took a slice and went. Two in a row say that each yield costs a slice; then parking is better, as sleepers are
//    woken ahead of those who never sleep. On a core of my own, being kept from polling says the same: then polling spends
//    the share of the core that the work will need.
//  * Does a yield help anybody? While nobody begins a wait on this core between two of my turns, all that run here are
//    waiters that yield to each other. That is polling by another name, and ends when polling would.
//
// For how long: patience.hpp. docs/waiting.md has the worst case, tests/unit/balance_test.cpp holds the policy to it under a
// simulated clock.
#pragma once

#include <atomic>
#include <cstdint>

#include "tutti/platform/minmax.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/wait/deadline.hpp"
#include "tutti/wait/lengths.hpp"
#include "tutti/wait/patience.hpp"
#include "tutti/wait/sleepers.hpp"

namespace tutti {

struct adaptive_options {
  // What a sleep counts as, in time of polling. A wake-up takes 13 to 50 us on the machines tried; everybody waits for
  // whoever wakes last, so the processor time of several may be spent to avoid one. It is also where programs want the line:
  // loops with 200 us of serial code between them should not sleep, those with 500 us should.
  std::uint32_t sleep_cost_ns = 300'000;
  // The same on a core that another process wants as well: what is polled away there is missing for the work.
  std::uint32_t contested_sleep_cost_ns = 30'000;
  // Waits in a row without a foreign name on the core until it counts as our own. A participant that finds the
  // episode over leaves no name, so one such wait proves nothing.
  std::uint32_t waits_to_trust_core = 32;
  // A yield, or a gap between two looks at the clock, that is longer lent the core to somebody who is no participant.
  std::uint32_t foreign_slice_ns = 1'200'000;
  // Sharing a core, parking is dearer (as many wake-ups as sharers, one after the other): yield at least for this long, if
  // the waits are not usually long.
  std::uint32_t least_yielding_ns = 50'000;
  // A turn of the others that is longer had work in it.
  std::uint32_t longest_empty_turn_ns = 300'000;
  // One wait in so many looks at the clock around its first yield.
  std::uint32_t waits_between_looks = 4;
};

template <class Memory = native>
class adaptive_wait {
 public:
  struct wait_state {
    wait_lengths lengths;
    std::uint8_t crowded_waits = 0;  // waits until I trust the core to be my own
    std::uint8_t looks = 0;          // waits until I look at the clock again
    std::uint32_t last_ns = 0;       // the wait before, not yet among the lengths; 0: none
  };

  explicit adaptive_wait(rank_t /*participants*/, patience p = {}) noexcept
      : patience_(p.chosen().word()) {}

  // From the next wait on; at any time, by any thread. Always true: this policy has patience.
  bool set_patience(patience p) noexcept {
    // relaxed: a wish that concerns nothing else.
    patience_.store(p.chosen().word(), relaxed);
    return true;
  }

  template <class Word, class Ready, class Deadline = no_deadline>
  bool until(wait_state& mine, const Word& word, std::memory_order order, Ready ready,
             Deadline deadline = {}) noexcept {
    // A partner that is running answers within these polls. On a crowded core they would keep it from running.
    const int polls = mine.crowded_waits == 0 ? polls_on_trusted_core : 1;
    for (int poll = 0; poll < polls; ++poll) {
      if (ready(word.load(order))) return true;
      Memory::relax();
    }
    return wait(mine, word, order, ready, deadline);
  }

  template <class Word>
  void notify(const Word& word) noexcept {
    sleepers_.wake_after_store(word);
  }
  template <class Word>
  void notify_ordered(const Word& word) noexcept {
    sleepers_.wake_after_update(word);
  }

  // After a plain store for which one waiter is enough.
  template <class Word>
  void notify_one(const Word& word) noexcept {
    sleepers_.wake_one_after_store(word);
  }
  // How many sleep here; a hint.
  std::uint32_t asleep() const noexcept { return sleepers_.asleep(); }

  // The last wait of this seat was slept through beyond what was waited for: that came `ns_ago`, and `followers` times more,
  // each after `gap_ns`, but nobody woke the sleeper.
  static void note_slept_through(wait_state& mine, std::uint32_t ns_ago, unsigned followers,
                                 std::uint32_t gap_ns) noexcept {
    if (mine.last_ns <= ns_ago) return;  // it was another wait
    mine.last_ns -= ns_ago;
    for (; followers > 0; --followers) mine.lengths.add(gap_ns);
  }

 private:
  template <class Word, class Ready, class Deadline>
  [[gnu::noinline]] bool wait(wait_state& mine, const Word& word, std::memory_order order,
                              Ready ready, Deadline deadline) noexcept {
    // relaxed: as in set_patience.
    const patience chosen = patience::of_word(patience_.load(relaxed));
    if (chosen.is_passive()) return sleepers_.sleep(word, order, ready, deadline);
    if (Memory::core().visited_by_another())
      mine.crowded_waits = options.waits_to_trust_core;
    else if (mine.crowded_waits > 0)
      --mine.crowded_waits;
    return mine.crowded_waits > 0 ? wait_on_shared_core(mine, chosen, word, order, ready, deadline)
                                  : wait_on_own_core(mine, chosen, word, order, ready, deadline);
  }

  template <class Word, class Ready, class Deadline>
  bool wait_on_own_core(wait_state& mine, patience chosen, const Word& word,
                        std::memory_order order, Ready ready, Deadline deadline) noexcept {
    const auto is_over = [&]() noexcept {
      for (int poll = 0; poll < polls_between_clocks; ++poll) {
        Memory::relax_long();
        if (ready(word.load(order))) return true;
      }
      return false;
    };
    const std::uint64_t start = Memory::now_ns();
    // Only now, as most waits are over before: what this takes nobody waits for.
    if (is_over()) return true;
    std::uint64_t now = Memory::now_ns();
    const std::uint64_t budget = budget_of(mine, chosen, now);
    while (now - start < budget && now < deadline.ns()) {
      const bool is_ready = is_over();
      const std::uint64_t later = Memory::now_ns();
      const bool was_kept_from_running = later - now > options.foreign_slice_ns;
      if (was_kept_from_running) Memory::core().note_preemption(now, later);
      if (is_ready) {
        note_length(mine, (was_kept_from_running ? now : later) - start);
        return true;
      }
      now = later;
    }
    return sleep(mine, start, word, order, ready, deadline);
  }

  template <class Word, class Ready, class Deadline>
  bool wait_on_shared_core(wait_state& mine, patience chosen, const Word& word,
                           std::memory_order order, Ready ready, Deadline deadline) noexcept {
    auto& core = Memory::core();
    core.note_wait();
    const bool tries = core.has_other_process();
    if (tries && !chosen.is_active() && !core.may_try_yielding(Memory::now_ns()))
      return sleepers_.sleep(word, order, ready, deadline);
    if (mine.looks > 0 && !tries && deadline.ns() == no_deadline::ns()) {
      --mine.looks;
      for (int yields = 0; yields < yields_without_clock; ++yields) {
        Memory::yield();
        if (ready(word.load(order))) return true;
      }
    }
    mine.looks = options.waits_between_looks;
    const std::uint64_t start = Memory::now_ns();
    std::uint64_t budget = budget_of(mine, chosen, start);
    if (budget != 0) budget = larger<std::uint64_t>(budget, options.least_yielding_ns);
    std::uint64_t before = start, empty_ns = 0;
    std::uint32_t waits = core.waits();
    for (;;) {
      Memory::yield();
      const bool is_ready = ready(word.load(order));
      const std::uint64_t now = Memory::now_ns();
      const std::uint64_t lent = now - before;
      if (lent > options.foreign_slice_ns) {
        core.note_foreign_slice(before, now);
        mine.looks = 0;  // perhaps the next yield tells more
      } else if (core.has_other_process()) {
        core.note_short_yield();
      }
      const std::uint32_t waits_now = core.waits();
      if (waits_now == waits && lent < options.longest_empty_turn_ns) empty_ns += lent;
      waits = waits_now;
      if (is_ready) {
        note_length(mine, empty_ns);
        return true;
      }
      if (now >= deadline.ns()) return false;
      before = now;
      if (chosen.is_active()) continue;
      const bool is_too_long =
          chosen.is_balanced() ? empty_ns > budget || core.is_shunned(now) : now - start > budget;
      if (is_too_long) return sleep(mine, start, word, order, ready, deadline);
    }
  }

  // Parks; `start` is when the wait began.
  template <class Word, class Ready, class Deadline>
  bool sleep(wait_state& mine, std::uint64_t start, const Word& word, std::memory_order order,
             Ready ready, Deadline deadline) noexcept {
    const bool is_ready = sleepers_.sleep(word, order, ready, deadline);
    // With its wake-up: who takes too much off it takes a wait for shorter than it is, and then never polls through it.
    note_length(mine, Memory::now_ns() - start);
    return is_ready;
  }

  static void note_length(wait_state& mine, std::uint64_t ns) noexcept {
    mine.last_ns = static_cast<std::uint32_t>(within<std::uint64_t>(ns, 1, UINT32_MAX));
  }

  static std::uint64_t budget_of(wait_state& mine, patience chosen, std::uint64_t now) noexcept {
    if (!chosen.is_balanced()) return chosen.is_active() ? UINT64_MAX : chosen.ns();
    if (mine.last_ns != 0) mine.lengths.add(mine.last_ns);
    mine.last_ns = 0;
    return mine.lengths.budget_ns(Memory::core().is_contested(now) ? options.contested_sleep_cost_ns
                                                                   : options.sleep_cost_ns);
  }

  static constexpr adaptive_options options{};
  static constexpr int polls_on_trusted_core = 32;
  static constexpr int polls_between_clocks = 16;
  static constexpr int yields_without_clock = 2;

  // In the tail of the line of the sleepers: both are written rarely, and read by those whose waits last.
  [[no_unique_address]] sleepers<Memory> sleepers_;
  std::atomic<std::uint64_t> patience_;
};

}  // namespace tutti
