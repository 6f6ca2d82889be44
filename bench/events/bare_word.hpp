// SPDX-License-Identifier: Apache-2.0
// A word that receivers poll, and nothing else: what a notification to receivers that are awake
// takes at least. It cannot wake anybody, and it learns nothing.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

#include "bench/contenders/contender.hpp"
#include "bench/harness/notifier.hpp"
#include "tutti/platform/pause.hpp"

namespace tutti::bench {

inline void yield_core() noexcept { sched_yield(); }

// Receivers call `Between` between two polls.
template <void (*Between)() noexcept>
class bare_word final : public counting_notifier<std::uint32_t> {
 public:
  explicit bare_word(rank_t receivers) : counting_notifier(receivers) {}

  // seq_cst: as tutti's event, which orders it before its look for sleepers; pairs with wait().
  void notify() override { word_.value.fetch_add(1, seq_cst); }
  void wait(rank_t receiver) override {
    std::uint32_t& seen = seen_by(receiver);
    // acquire: pairs with notify().
    while (word_.value.load(acquire) == seen) Between();
    ++seen;
  }

 private:
  padded<std::atomic<std::uint32_t>> word_{};
};

// Polled with a pause, for receivers with a core of their own, and with sched_yield.
inline std::vector<contender> bare_words() {
  return {{.family = "bare",
           .name = "word",
           .summary = "a word that receivers poll, with a pause",
           .wait = "spin",
           .events = make_notifier<bare_word<platform::pause>>},
          {.family = "bare",
           .name = "word",
           .summary = "a word that receivers poll, with sched_yield",
           .wait = "yield",
           .events = make_notifier<bare_word<yield_core>>}};
}

}  // namespace tutti::bench
