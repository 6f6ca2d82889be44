// SPDX-License-Identifier: Apache-2.0
// The default wait policy: it polls, yields or parks, whichever is best at the moment, and learns
// which while it runs.
//
// It learns the answers to four questions:
//  * Does this thread share its core with another participant? Each waiting thread records itself
//    for its CPU (platform/cpu.hpp). If the record names another thread, polling could keep the
//    thread for which this one waits from running, so the policy yields at once. That costs one
//    load for each wait that the first polls do not end. It observes what happens, and does not
//    infer it from an affinity mask or a number of threads.
//  * How long are the waits? Each state remembers the lengths of its last waits that took longer
//    than the first polls, and polls as long as that pays (lengths.hpp): through waits that are
//    usually short, and not at all if they are usually long.
//  * Does a thread of another process use this core? On a core that participants share, one long
//    yield proves little: a process may have used one slice and left. Long yields that follow one
//    another for 10 ms show that each costs a slice, unless participants ran for most of it. Then
//    parking is better, because the kernel runs threads that slept before threads that never sleep.
//    If a waiter on a core of its own is kept from polling, another process uses the core too, and
//    polling takes processor time that the work will need. The same holds on a shared core if long
//    yields do not follow one another: the process is in another session, which yields do not
//    reach.
//  * Does a yield let useful work run? While no wait begins on this core between two turns of this
//    thread, all threads that run here are waiters that yield to each other. That is the same as
//    polling, and ends when polling would end.
//
// patience.hpp limits how long a wait keeps the processor. docs/waiting.md gives the worst case,
// and tests/unit/balance_test.cpp checks it under a simulated clock.
#pragma once

#include <atomic>
#include <cstdint>

#include "tutti/platform/minmax.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/wait/deadline.hpp"
#include "tutti/wait/lengths.hpp"
#include "tutti/wait/patience.hpp"
#include "tutti/wait/sleeping.hpp"
#include "tutti/wait/unwoken.hpp"

namespace tutti {

struct adaptive_options {
  // The cost of a sleep, as a time of polling. A wake-up takes 10 to 50 us on the machines tried.
  // All participants wait for the one that wakes last, so avoiding a wake-up is worth the processor
  // time of several. This value also separates the two cases that matter in programs: loops with
  // 200 us of serial code between them should not sleep, and loops with 500 us should.
  std::uint32_t sleep_cost_ns = 300'000;
  // The cost of a sleep where polling takes processor time from the work: on a core that another
  // process uses too, and while a quota is scarce.
  std::uint32_t contested_sleep_cost_ns = 30'000;
  // If a yield, or the time between two readings of the clock, takes longer, a thread of another
  // process used the core.
  std::uint32_t foreign_slice_ns = 1'200'000;
  // The least time for which waiters that share a core yield, unless their waits are usually long,
  // another process uses the core, a quota is scarce, or the program has chosen a time.
  // There parking costs more: as many wake-ups one after the other as threads share the core.
  std::uint32_t least_yielding_ns = 50'000;
  // A wait that asks for how long the participants on its core have run asks again after this time.
  // It is much less than a slice.
  std::uint32_t between_questions_ns = 250'000;
  // If a turn of the others takes longer than the first of these and, for each wait that began in
  // it, the second, one of them did work. The turn is then part of the length of the wait.
  std::uint32_t shortest_work_ns = 40'000;
  std::uint32_t longest_switch_ns = 6'000;
  // How long it takes to wake one thread of a group, where all are woken one after the other. The
  // time for all threads of a large group is longer than a sleep is worth. If one thread comes late
  // all others sleep, and the next wait lasts until the last one of them is awake, which looks like
  // a reason to sleep. So after a sleep two waits of such a group may last as long before they
  // sleep, if the wait before was shorter. If they are long all the same, the next sleeps, this
  // many, are followed by no such waits.
  std::uint32_t wake_up_ns = 60'000, sleeps_without_grace = 16;
  // A wait that has lasted so long has time to ask the kernel something.
  std::uint32_t sure_to_last_ns = 50'000;
  // For the first of these times of each period no wait of such a group sleeps if the previous one
  // was shorter than the third, in case waking took longer than expected. All threads read one
  // clock, so all try at the same time. The first two are powers of two.
  std::uint32_t trial_ns = 1u << 21, trial_period_ns = 1u << 26, longest_of_trials_ns = 4'000'000;
  // After a wait that read the clock around its yields, this many waits first yield without it.
  std::uint32_t waits_between_looks = 4;
};

template <class Memory = native>
class adaptive_wait : public patient_wait<adaptive_wait<Memory>, Memory> {
  using base = patient_wait<adaptive_wait, Memory>;
  friend base;

 public:
  struct wait_state {
    wait_lengths lengths;
    // The number of waits until the policy takes the core for the thread's own.
    std::uint8_t crowded_waits = 0;
    // The number of waits until the next reading of the clock.
    std::uint8_t looks : 3 = 0;
    // The number of waits in a row that began after at most two waits of others on this core.
    std::uint8_t waits_beside_one : 4 = 0;
    // The core's count of waits when this thread's last one began, modulo 256.
    std::uint8_t waits_seen = 0;
    // The length of the previous wait if it is not yet among the lengths, otherwise 0.
    std::uint32_t last_ns : 27 = 0;
    // The waits of grace that are left, 1 or 2; or, from 3 on, 2 more than the number of sleeps
    // until there is grace again; 0 if the last wait was none of these.
    std::uint32_t grace : 5 = 0;
  };

  // `group`: how many threads wait for each other, if `participants` does not tell.
  explicit constexpr adaptive_wait(rank_t participants, patience p = {}, rank_t group = 0) noexcept
      : base(p), participants_(participants), group_(group > 0 ? group : participants) {}

  // Corrects the length of the last wait in `mine`, which lasted too long because no thread woke
  // the sleeper: what it waited for came `ns_ago` nanoseconds ago, and then `followers` times more,
  // each after `gap_ns`.
  static void note_slept_through(wait_state& mine, std::uint32_t ns_ago, unsigned followers,
                                 std::uint32_t gap_ns) noexcept {
    // Then it was another wait.
    if (mine.last_ns <= ns_ago) return;
    mine.last_ns = (mine.last_ns - ns_ago) & longest_length_ns;
    for (; followers > 0; --followers) mine.lengths.add(gap_ns);
  }

 private:
  template <class Word, class Ready, class Deadline>
  bool wait_longer(wait_state& mine, patience chosen, const Word& word, std::memory_order order,
                   Ready ready, Deadline deadline) noexcept {
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
    // The rest comes only now because most waits are over by here, so no participant waits for it.
    if (is_over()) return true;
    std::uint64_t now = Memory::now_ns();
    bool in_grace = false, asks_again = true;
    const std::uint64_t budget = budget_of(mine, chosen, now, in_grace);
    while (now - start < budget && now < deadline.ns()) {
      const bool is_ready = is_over();
      const std::uint64_t later = Memory::now_ns();
      const bool was_kept_from_running = later - now > options.foreign_slice_ns;
      if (was_kept_from_running) Memory::core().note_preemption(now, later);
      if (is_ready) {
        const std::uint64_t length = (was_kept_from_running ? now : later) - start;
        note_length(mine, length);
        if (in_grace && mine.grace == 0 && length > options.sleep_cost_ns)
          mine.grace = (options.sleeps_without_grace + 2) & 31u;
        return true;
      }
      // What displaced the thread before this wait says nothing about it.
      if constexpr (requires { Memory::core().was_displaced_by_a_task(); })
        if (asks_again && later - start > options.sure_to_last_ns) {
          Memory::core().was_displaced_by_a_task();
          asks_again = false;
        }
      now = later;
    }
    return sleep_and_note(mine, in_grace, start, word, order, ready, deadline);
  }

  template <class Word, class Ready, class Deadline>
  bool wait_on_shared_core(wait_state& mine, patience chosen, const Word& word,
                           std::memory_order order, Ready ready, Deadline deadline) noexcept {
    auto& core = Memory::core();
    if (shares_with_one(mine, core) &&
        is_ready_within<Memory>(polls_beside_one, word, order, ready))
      return true;
    const bool tries = core.has_other_process();
    if (tries && !chosen.is_active() && !core.may_try_yielding(Memory::now_ns(), awake()))
      return sleep_counted(word, order, ready, deadline);
    if (mine.looks > 0 && !tries && deadline.ns() == no_deadline::ns()) {
      --mine.looks;
      for (int yields = 0; yields < yields_without_clock; ++yields) {
        Memory::yield();
        if (ready(word.load(order))) return true;
      }
    }
    mine.looks = options.waits_between_looks;
    const std::uint64_t start = Memory::now_ns();
    bool in_grace = false;
    std::uint64_t budget = budget_of(mine, chosen, start, in_grace);
    if (budget == 0) {
      // The next wait looks whether they are still long.
      mine.looks = 0;
      return sleep_and_note(mine, in_grace, start, word, order, ready, deadline);
    }
    if (chosen.is_balanced() && !core.is_contested(start) && !core.is_quota_scarce(start))
      budget = larger<std::uint64_t>(budget, options.least_yielding_ns);
    // From this length on the wait would sleep if it knew that another process uses the core.
    const std::uint64_t asks_after = chosen.is_balanced() && core.had_slice_lately(start)
                                         ? mine.lengths.budget_ns(options.contested_sleep_cost_ns)
                                         : UINT64_MAX;
    bool asks = asks_after == 0;
    auto times = core.times_before_yield(start, asks);
    std::uint64_t asked_at = start, before = start, empty_ns = 0, working_ns = 0;
    std::uint32_t waits = core.waits();
    for (;;) {
      Memory::yield();
      const bool is_ready = ready(word.load(order));
      const std::uint64_t now = Memory::now_ns();
      const std::uint64_t lent = now - before;
      if (lent > options.foreign_slice_ns) {
        core.note_foreign_slice(before, now, core.ran_since(times), asks);
        // The next yield may tell more.
        mine.looks = 0;
      } else if (core.has_other_process()) {
        core.note_short_yield();
      }
      const std::uint32_t waits_now = core.waits();
      const std::uint64_t switches = waits_now - waits;
      if (lent > options.shortest_work_ns + switches * options.longest_switch_ns) {
        working_ns += lent;
        // It may be a participant that always comes last and never waits here.
        if (lent <= options.foreign_slice_ns) mine.crowded_waits = base::waits_to_trust_core;
        mine.looks = 0;
      } else if (switches == 0) {
        empty_ns += lent;
      }
      waits = waits_now;
      if (is_ready) {
        note_length(mine, empty_ns + working_ns);
        return true;
      }
      if (now >= deadline.ns()) return false;
      before = now;
      const bool is_too_long = chosen.is_active()     ? false
                               : chosen.is_balanced() ? empty_ns > budget || core.is_shunned(now)
                                                      : now - start > budget;
      if (is_too_long) return sleep_and_note(mine, in_grace, start, word, order, ready, deadline);
      if (asks && before - asked_at < options.between_questions_ns) continue;
      asks = before - start >= asks_after;
      times = core.times_before_yield(before, asks);
      asked_at = before;
    }
  }

  // Returns how many participants do not sleep. The number may be out of date.
  std::uint32_t awake() const noexcept {
    const std::uint32_t asleep = unwoken_.among(this->asleep());
    return asleep < participants_ ? static_cast<std::uint32_t>(participants_) - asleep : 1;
  }

  // Notes that this thread begins a wait on its core. Returns true if the thread shares the core
  // with one participant: then every second wait is that of the last thread to arrive here, and a
  // few polls for the arrivals on other cores take less time than the two context switches that a
  // yield costs. With more sharers the polls of all of them cost more than they save.
  template <class Core>
  static bool shares_with_one(wait_state& mine, Core& core) noexcept {
    const auto others = static_cast<std::uint8_t>(core.waits() - mine.waits_seen);
    core.note_wait();
    mine.waits_seen = static_cast<std::uint8_t>(core.waits());
    if (others > most_waits_of_one) {
      mine.waits_beside_one = 0;
      return false;
    }
    if (mine.waits_beside_one == waits_to_know_one) return true;
    ++mine.waits_beside_one;
    return false;
  }

  template <class Word, class Ready, class Deadline>
  bool sleep_counted(const Word& word, std::memory_order order, Ready ready,
                     Deadline deadline) noexcept {
    const std::uint32_t number = unwoken_.begin();
    const bool is_ready = this->sleep(word, order, ready, deadline);
    if (is_ready) unwoken_.end(number);
    return is_ready;
  }

  // Sleeps, and notes the length of the wait, which began at the time `start`.
  template <class Word, class Ready, class Deadline>
  bool sleep_and_note(wait_state& mine, bool in_grace, std::uint64_t start, const Word& word,
                      std::memory_order order, Ready ready, Deadline deadline) noexcept {
    const std::uint32_t next = mine.grace > 3 ? mine.grace - 1u : 2u;
    mine.grace = (in_grace ? options.sleeps_without_grace + 2 : next) & 31u;
    const bool is_ready = sleep_counted(word, order, ready, deadline);
    // The length includes the wake-up. Without it the policy would underestimate the wait and then
    // never poll long enough for it.
    note_length(mine, Memory::now_ns() - start);
    return is_ready;
  }

  static void note_length(wait_state& mine, std::uint64_t ns) noexcept {
    mine.last_ns = static_cast<std::uint32_t>(within<std::uint64_t>(ns, 1, longest_length_ns)) &
                   longest_length_ns;
  }

  // Adds the previous wait to the lengths, and returns for how long this one keeps the processor.
  // `in_grace`: whether it is one of those after a sleep that may last longer.
  std::uint64_t budget_of(wait_state& mine, patience chosen, std::uint64_t now,
                          bool& in_grace) const noexcept {
    in_grace = false;
    if (!chosen.is_balanced()) return chosen.is_active() ? UINT64_MAX : chosen.ns();
    const std::uint32_t previous = mine.last_ns;
    if (previous != 0) mine.lengths.add(previous);
    mine.last_ns = 0;
    auto& core = Memory::core();
    const bool takes_from_work = core.is_quota_scarce(now) ||
                                 (core.is_contested(now) && !core.is_contest_over(now, awake()));
    const std::uint32_t learnt = mine.lengths.budget_ns(
        takes_from_work ? options.contested_sleep_cost_ns : options.sleep_cost_ns);
    const std::uint32_t group_ns = wake_up_of_group_ns();
    // Threads that share a core hand it on by yields.
    if (takes_from_work || mine.crowded_waits > 0 || group_ns <= options.sleep_cost_ns)
      return learnt;
    // Simulated clocks begin at 0.
    const std::uint64_t phase = (now + options.trial_period_ns / 2) % options.trial_period_ns;
    const bool is_trial = phase < options.trial_ns && previous < options.longest_of_trials_ns;
    in_grace = (mine.grace == 1 || mine.grace == 2) && previous < group_ns;
    if (in_grace) --mine.grace;
    return larger(larger(learnt, in_grace ? group_ns : 0),
                  is_trial ? static_cast<std::uint32_t>(options.trial_ns - phase) : 0);
  }
  std::uint32_t wake_up_of_group_ns() const noexcept {
    constexpr std::uint32_t most = 64;
    return options.wake_up_ns * smaller<std::uint32_t>(group_, most);
  }

  static constexpr adaptive_options options{};
  // What fits the field of wait_state. All lengths beyond wait_lengths::longest_budget_ns() count
  // alike.
  static constexpr std::uint32_t longest_length_ns = (1u << 27) - 1;
  static constexpr int polls_between_clocks = 16;
  static constexpr int yields_without_clock = 2;
  static constexpr int polls_beside_one = 8;
  // One other participant begins at most this many waits between two of mine.
  static constexpr std::uint8_t most_waits_of_one = 2;
  static constexpr std::uint8_t waits_to_know_one = 15;

  const rank_t participants_, group_;
  // Only threads that sleep write it, and only those that may sleep read it.
  unwoken_sleepers<Memory> unwoken_;
};

}  // namespace tutti
