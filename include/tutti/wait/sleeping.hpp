// SPDX-License-Identifier: Apache-2.0
// What the wait policies share that poll for some time and then sleep: waking the sleepers, and the
// patience. A policy derives from one of the two classes: from sleeping_wait, to which it adds
// until(), or from patient_wait.
#pragma once

#include <atomic>
#include <cstdint>

#include "tutti/platform/native.hpp"
#include "tutti/wait/patience.hpp"
#include "tutti/wait/polling.hpp"
#include "tutti/wait/sleepers.hpp"

namespace tutti {

template <class Memory = native>
class sleeping_wait {
 public:
  template <class Word>
  void notify(const Word& word) noexcept {
    if (sleepers_.wake_after_store(word)) note_running();
  }
  template <class Word>
  void notify_ordered(const Word& word) noexcept {
    if (sleepers_.wake_after_update(word)) note_running();
  }

  // Wakes one waiter, after a plain store that concerns only one.
  template <class Word>
  void notify_one(const Word& word) noexcept {
    sleepers_.wake_one_after_store(word);
  }
  // Returns how many waiters sleep. The number may be out of date when it is returned.
  std::uint32_t asleep() const noexcept { return sleepers_.asleep(); }

 protected:
  constexpr sleeping_wait() noexcept = default;

  // Sleeps until the word is ready, or until the deadline: then it returns false.
  template <class Word, class Ready, class Deadline>
  bool sleep(const Word& word, std::memory_order order, Ready ready, Deadline deadline) noexcept {
    return sleepers_.sleep(word, order, ready, deadline);
  }

 private:
  // A participant that always comes last never waits. So it records itself on its core where it
  // wakes others; if not, waiters there would poll while it has work to do.
  [[gnu::noinline, gnu::cold]] static void note_running() noexcept {
    if constexpr (requires { Memory::note_running(); }) Memory::note_running();
  }

  // What a derived class adds uses the rest of its cache line: both are written rarely, and long
  // waits read them.
  [[no_unique_address]] sleepers<Memory> sleepers_;
};

// The same with a patience, and with first polls whose number depends on whether other participants
// wait on the same core. `Policy`, which derives from it, has
//   wait_state      with `crowded_waits`: the number of waits until the thread takes the core for
//                   its own
//   wait_longer(wait_state, patience, word, order, ready, deadline)
//                   what until() does if the first polls have not ended the wait and the patience
//                   does not send the thread to sleep at once
template <class Policy, class Memory = native>
class patient_wait : public sleeping_wait<Memory> {
 public:
  template <class State, class Word, class Ready, class Deadline = no_deadline>
  bool until(State& mine, const Word& word, std::memory_order order, Ready ready,
             Deadline deadline = {}) noexcept {
    // A partner that is running answers within these polls. On a shared core they would keep it
    // from running.
    const int polls = mine.crowded_waits == 0 ? polls_on_own_core : 1;
    return is_ready_within<Memory>(polls, word, order, ready) ||
           wait(mine, word, order, ready, deadline);
  }

  // Sets the patience of all waits that begin later. Any thread may call it at any time. Returns
  // true, because the policy has a patience.
  bool set_patience(patience p) noexcept {
    // relaxed: the value publishes nothing else.
    patience_.store(p.chosen().word(), relaxed);
    return true;
  }

 protected:
  explicit constexpr patient_wait(patience p) noexcept : patience_(p.chosen().word()) {}

  // The number of waits in a row without another waiter on the core after which the policy takes
  // the core for its own. A participant that finds the episode over records nothing, so one such
  // wait proves nothing.
  static constexpr std::uint8_t waits_to_trust_core = 32;

 private:
  template <class State, class Word, class Ready, class Deadline>
  [[gnu::noinline]] bool wait(State& mine, const Word& word, std::memory_order order, Ready ready,
                              Deadline deadline) noexcept {
    // A constinit policy has not read the environment yet.
    // relaxed: the value publishes nothing else.
    const patience chosen = patience::of_word(patience_.load(relaxed)).chosen();
    if (chosen.is_passive()) return this->sleep(word, order, ready, deadline);
    if (Memory::core().visited_by_another())
      mine.crowded_waits = waits_to_trust_core;
    else if (mine.crowded_waits > 0)
      --mine.crowded_waits;
    return static_cast<Policy&>(*this).wait_longer(mine, chosen, word, order, ready, deadline);
  }

  static constexpr int polls_on_own_core = 32;

  typename Memory::template setting<std::uint64_t> patience_;
};

}  // namespace tutti
