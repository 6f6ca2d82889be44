// SPDX-License-Identifier: Apache-2.0
// How a process waits for other processes, such as the ranks of MPI: it polls, then yields, then
// sleeps.
//
// Processes differ from the threads for which adaptive_wait learns. There are often several to a
// CPU and each always runs, so a wait is usually over after one or two yields, each of which costs
// a microsecond; two readings of the clock would be a noticeable part of that. And what a yield
// achieves differs from program to program: the kernel yields to the tasks of the same login
// session only, and MPICH, for one, starts each rank in a session of its own. Beside a busy process
// of another session a yield then takes 400 us, and sleeping, which costs 10 to 30 us, is better.
// No process can know that beforehand (containers behave like sessions), so each measures it:
//
//   * On a CPU of its own a process polls for `polling_ns`. On a CPU where others have waited
//     since, it does not.
//   * Then it yields. One of `waits_between_looks` waits is timed.
//   * If timed waits that yield have taken longer than `long_wait_ns` on average, the process
//     sleeps in its next waits, and times them too. The faster way is kept, and the other is tried
//     again from time to time, less and less often.
//   * A wait of more than `most_yielding_ns` sleeps in any case.
//
// The patience "active" never sleeps, "passive" sleeps at once, and a time replaces
// `most_yielding_ns`.
//
// The platform may have a function yield_only() for the first yields of a wait, which usually end
// it, and does its other work, such as that of `progressing`, in yield().
#pragma once

#include <atomic>
#include <cstdint>

#include "tutti/platform/config.hpp"
#include "tutti/platform/minmax.hpp"
#include "tutti/wait/deadline.hpp"
#include "tutti/wait/patience.hpp"
#include "tutti/wait/sleeping.hpp"

namespace tutti {

struct process_wait_options {
  std::uint32_t polling_ns = 10'000;
  std::uint32_t long_wait_ns = 150'000;
  std::uint32_t most_yielding_ns = 2'000'000;
  std::uint32_t waits_between_looks = 16;
  // The number of looks on which an average rests, and after which a decision is made.
  std::uint32_t looks_to_decide = 4;
  // The first and the longest time for which the slower way is not tried again, in timed waits.
  std::uint32_t first_rest = 8, longest_rest = 512;
};

template <class Memory>
class process_wait : public patient_wait<process_wait<Memory>, Memory> {
  using base = patient_wait<process_wait, Memory>;
  friend base;

 public:
  struct wait_state {
    std::uint64_t ns_of_way = 0;
    std::uint32_t looks_of_way = 0;
    // The average of the way that was left, and how many looks must pass before it is tried again.
    std::uint32_t other_ns = UINT32_MAX;
    std::uint32_t rest = 0, next_rest = 0;
    std::uint16_t waits_to_look = 0;
    std::uint8_t crowded_waits = 0;
    bool sleeps = false;
  };

  explicit process_wait(rank_t /*participants*/, patience p = {}) noexcept : base(p) {}

 private:
  template <class Word, class Ready, class Deadline>
  bool wait_longer(wait_state& mine, patience chosen, const Word& word, std::memory_order order,
                   Ready ready, Deadline deadline) noexcept {
    const bool is_timed = mine.waits_to_look == 0;
    mine.waits_to_look =
        static_cast<std::uint16_t>(is_timed ? options.waits_between_looks : mine.waits_to_look - 1);
    const std::uint64_t start = is_timed ? Memory::now_ns() : 0;
    const bool is_ready = mine.sleeps && !chosen.is_active()
                              ? this->sleep(word, order, ready, deadline)
                              : poll_and_yield(mine, chosen, word, order, ready, deadline);
    if (is_timed && chosen.is_balanced()) learn(mine, Memory::now_ns() - start);
    return is_ready;
  }

  template <class Word, class Ready, class Deadline>
  bool poll_and_yield(const wait_state& mine, patience chosen, const Word& word,
                      std::memory_order order, Ready ready, Deadline deadline) noexcept {
    if (mine.crowded_waits > 0) {
      for (int yields = 0; yields < yields_without_clock; ++yields) {
        yield_first();
        if (ready(word.load(order))) return true;
      }
    }
    const std::uint64_t start = Memory::now_ns();
    const std::uint64_t end_of_polling = start + (mine.crowded_waits > 0 ? 0 : options.polling_ns);
    const std::uint64_t most = chosen.is_balanced() ? options.most_yielding_ns : chosen.ns();
    for (;;) {
      const std::uint64_t now = Memory::now_ns();
      if (now >= deadline.ns()) return false;
      if (!chosen.is_active() && now - start > most)
        return this->sleep(word, order, ready, deadline);
      const bool polls = now < end_of_polling;
      for (int i = 0; i < polls_between_clocks; ++i) {
        if (polls)
          Memory::relax_long();
        else
          Memory::yield();
        if (ready(word.load(order))) return true;
      }
    }
  }

  static void yield_first() noexcept {
    if constexpr (requires { Memory::yield_only(); })
      Memory::yield_only();
    else
      Memory::yield();
  }

  // Takes the length of a timed wait into account.
  static void learn(wait_state& mine, std::uint64_t ns) noexcept {
    if (mine.rest > 0) --mine.rest;
    mine.ns_of_way += smaller<std::uint64_t>(ns, options.most_yielding_ns);
    if (++mine.looks_of_way < options.looks_to_decide) return;
    const auto average = static_cast<std::uint32_t>(mine.ns_of_way / mine.looks_of_way);
    mine.ns_of_way = 0;
    mine.looks_of_way = 0;
    if (average <= options.long_wait_ns && !mine.sleeps) return;
    const bool is_slower = average > mine.other_ns;
    if (is_slower || mine.rest == 0) {
      mine.sleeps = !mine.sleeps;
      mine.other_ns = average;
      // A way that has just lost rests for longer than the last time.
      mine.next_rest = is_slower
                           ? within(2 * mine.next_rest, options.first_rest, options.longest_rest)
                           : larger(mine.next_rest, options.first_rest);
      mine.rest = mine.next_rest;
    }
  }

  static constexpr process_wait_options options{};
  static constexpr int yields_without_clock = 4, polls_between_clocks = 8;
};

}  // namespace tutti
