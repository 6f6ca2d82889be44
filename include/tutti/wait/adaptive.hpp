// SPDX-License-Identifier: Apache-2.0
// The default: spins, yields or parks, whichever the machine rewards at this moment, and learns it as it goes.
//
// What it learns, and from what:
//  * Do I share this core with another participant? Each waiting thread leaves its name on its CPU
//    (platform/cpu.hpp): a foreign name there means that spinning would keep off the core the very thread that is
//    waited for, so the policy yields at once. One load for each wait that is not over at the first look. It sees
//    what is so, not what an affinity mask or a count of threads suggests.
//  * Does somebody else run here too? A yield that returns after a millisecond or more lent the core to a process
//    that is no participant. Then parking is better, for all who wait on that core: sleepers are woken ahead of
//    those who never sleep. Yielding is tried again after a time that doubles each time it proves true.
//  * Is the partner just late? On a core of its own a waiter spins for as long as a sleep and its wake-up would
//    cost, the classic bound that is never worse than twice the best choice, then parks. When waits prove long
//    time after time it spins only for as long as a partner is commonly late.
//  * Do we only wait for each other's wake-ups? Two waiters that both park can keep putting each other to sleep
//    for ever. After a short sleep one wait spins through its like, which ends that.
#pragma once

#include <atomic>
#include <cstdint>

#include "tutti/platform/native.hpp"
#include "tutti/wait/deadline.hpp"
#include "tutti/wait/sleepers.hpp"

namespace tutti {

struct adaptive_options {
  // A sleep with its wake-up: 20 to 50 us on the virtual machines tried, less on bare metal.
  std::uint32_t full_patience_ns = 50'000;
  // While waits prove long: still more than the 10 us by which a partner is commonly late.
  std::uint32_t brief_patience_ns = 12'000;
  // A wait of this length is long: spinning through it would burn several wake-ups' worth.
  std::uint32_t long_wait_ns = 150'000;
  // Long waits in a row until patience becomes brief.
  std::uint32_t long_waits_to_learn = 2;
  // Waits in a row without a foreign name on the core until it counts as our own. A participant that finds the
  // episode over leaves no name, so one such wait proves nothing.
  std::uint32_t waits_to_trust_core = 32;
  // A yield that lasts longer lent the core to somebody who is no participant.
  std::uint32_t stranger_yield_ns = 1'200'000;
  // Waiters that share a core and have nobody to wait for there yield to each other for ever, which looks like work: after
  // this they sleep. Far more than a turn of some hundred participants takes.
  std::uint32_t longest_yielding_ns = 1'000'000;
  // A yield that is shorter switched to nobody.
  std::uint32_t empty_yield_ns = 700;
  // One short sleep in so many makes the next wait spin through its like.
  std::uint32_t sleeps_between_encores = 8;
  // One wait in so many looks at the clock around its first yield.
  std::uint32_t waits_between_looks = 4;
};

template <class Memory = native>
class adaptive_wait {
 public:
  struct seat {
    std::uint32_t long_waits = 0;     // in a row
    std::uint32_t crowded_waits = 0;  // waits until I trust the core to be my own
    std::uint32_t looks = 0;          // waits until I look at the clock again
    std::uint32_t encore_rest = 0;    // sleeps until the next encore
    bool encore =
        false;  // the last sleep was over so soon that the next wait spins through its like
  };

  explicit adaptive_wait(rank_t /*participants*/) noexcept {}

  template <class Word, class Ready, class Deadline = no_deadline>
  bool until(seat& mine, const Word& word, std::memory_order order, Ready ready,
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

 private:
  template <class Word, class Ready, class Deadline>
  [[gnu::noinline]] bool wait(seat& mine, const Word& word, std::memory_order order, Ready ready,
                              Deadline deadline) noexcept {
    if (Memory::core().visited_by_another())
      mine.crowded_waits = options.waits_to_trust_core;
    else if (mine.crowded_waits > 0)
      --mine.crowded_waits;
    return mine.crowded_waits > 0 ? wait_on_shared_core(mine, word, order, ready, deadline)
                                  : wait_on_own_core(mine, word, order, ready, deadline);
  }

  template <class Word, class Ready, class Deadline>
  bool wait_on_own_core(seat& mine, const Word& word, std::memory_order order, Ready ready,
                        Deadline deadline) noexcept {
    const std::uint64_t start = Memory::now_ns();
    const std::uint64_t patience = patience_of(mine);
    std::uint64_t now = start;
    while (now - start < patience && now < deadline.ns()) {
      for (int poll = 0; poll < polls_between_clocks; ++poll) {
        Memory::relax_long();
        if (ready(word.load(order))) return true;
      }
      now = Memory::now_ns();
    }
    const bool is_ready = sleepers_.sleep(word, order, ready, deadline);
    learn_length(mine, Memory::now_ns() - start);
    return is_ready;
  }

  template <class Word, class Ready, class Deadline>
  bool wait_on_shared_core(seat& mine, const Word& word, std::memory_order order, Ready ready,
                           Deadline deadline) noexcept {
    if (Memory::core().had_stranger() && !Memory::core().may_try_yielding(Memory::now_ns()))
      return sleepers_.sleep(word, order, ready, deadline);
    if (mine.looks > 0 && deadline.ns() == no_deadline::ns()) {
      --mine.looks;
      for (int yields = 0; yields < yields_without_clock; ++yields) {
        Memory::yield();
        if (ready(word.load(order))) return true;
      }
    }
    mine.looks = options.waits_between_looks;
    const std::uint64_t start = Memory::now_ns();
    std::uint64_t before = start;
    for (;;) {
      Memory::yield();
      const bool is_ready = ready(word.load(order));
      const std::uint64_t now = Memory::now_ns();
      const std::uint64_t lent = now - before;
      if (lent > options.stranger_yield_ns)
        Memory::core().lent_to_stranger(now);
      else if (Memory::core().had_stranger())
        Memory::core().forget_stranger(now);
      if (is_ready) return true;
      if (now >= deadline.ns()) return false;
      // Nobody else can run here: the partner is on another core, or late. Or the core is a stranger's.
      const std::uint64_t waited = now - start;
      if ((lent < options.empty_yield_ns && waited > options.full_patience_ns) ||
          waited > options.longest_yielding_ns || lent > options.stranger_yield_ns)
        return sleepers_.sleep(word, order, ready, deadline);
      before = now;
    }
  }

  static std::uint64_t patience_of(seat& mine) noexcept {
    if (mine.encore) {
      mine.encore = false;
      return options.long_wait_ns;
    }
    return mine.long_waits >= options.long_waits_to_learn ? options.brief_patience_ns
                                                          : options.full_patience_ns;
  }

  // After a wait that ended in sleep.
  static void learn_length(seat& mine, std::uint64_t waited_ns) noexcept {
    if (mine.encore_rest > 0) --mine.encore_rest;
    if (waited_ns > options.long_wait_ns) {
      ++mine.long_waits;
      return;
    }
    mine.long_waits = 0;
    // Not long: perhaps we only wait for each other's wake-ups. One wait spun through breaks that circle.
    if (mine.encore_rest > 0) return;
    mine.encore = true;
    mine.encore_rest = options.sleeps_between_encores;
  }

  static constexpr adaptive_options options{};
  static constexpr int polls_on_trusted_core = 32;
  static constexpr int polls_between_clocks = 16;
  static constexpr int yields_without_clock = 2;

  sleepers<Memory> sleepers_;
};

}  // namespace tutti
