// SPDX-License-Identifier: Apache-2.0
// The memory policy of ranks that wait for each other inside a call of MPI: `across_processes`,
// and while a rank waits, MPI makes progress. Without that, a peer's large message that this rank
// has begun to send would stand still until the wait ends.
//
// The first polls and yields of a wait make no progress, because they usually end it, and a call of
// MPI costs as much as they do.
// Afterwards one of `pauses_between` pauses and yields calls MPI. A sleeper wakes up for it: at
// first every 50 us, and less often the longer nothing happens, down to every millisecond. A call
// that takes longer than an idle one has moved data, and the naps are short again.
#pragma once

#include <cstdint>

#include "tutti/platform/across_processes.hpp"
#include "tutti/platform/clock.hpp"
#include "tutti/platform/minmax.hpp"

namespace tutti::preload {

struct progressing : across_processes {
  // What makes progress while this thread waits; null until its first wait.
  static inline thread_local void (*make_progress)(std::uintptr_t comm) noexcept = nullptr;
  static inline thread_local std::uintptr_t waits_in = 0;

  static void relax_long() noexcept {
    progress_now_and_then();
    across_processes::relax_long();
  }
  static void yield() noexcept {
    progress_now_and_then();
    across_processes::yield();
  }
  // For the first yields of a wait, which usually end it.
  static void yield_only() noexcept { across_processes::yield(); }
  template <class Word>
  static void park(const atomic<Word>& word, Word seen, std::uint64_t deadline_ns) noexcept {
    std::uint64_t nap_ns = shortest_nap_ns;
    for (;;) {
      const std::uint64_t before = now_ns();
      if (before >= deadline_ns) return;
      across_processes::park(word, seen, smaller(deadline_ns, before + nap_ns));
      // relaxed: the caller reads the word again, with its order.
      if (word.load(relaxed) != seen || make_progress == nullptr) return;
      const std::uint64_t start = now_ns();
      make_progress(waits_in);
      nap_ns =
          now_ns() - start > idle_call_ns ? shortest_nap_ns : smaller(2 * nap_ns, longest_nap_ns);
    }
  }

 private:
  static constexpr std::uint64_t shortest_nap_ns = 50'000, longest_nap_ns = 1'000'000,
                                 idle_call_ns = 3'000;
  static constexpr unsigned pauses_between = 4;
  static inline thread_local unsigned pauses_left = pauses_between;

  static void progress_now_and_then() noexcept {
    if (--pauses_left > 0) return;
    pauses_left = pauses_between;
    if (make_progress != nullptr) make_progress(waits_in);
  }
};

}  // namespace tutti::preload
