// SPDX-License-Identifier: Apache-2.0
// Waits in the core's light sleep until the cache line changes (umwait, mwaitx, wfe). The latency
// is nearly that of spinning, at a fraction of the power, and the other hyper-thread gets the
// core's resources. The thread still occupies the core, so this policy does not help when there are
// more threads than cores. On a CPU without such an instruction it polls as spin_wait does.
#pragma once

#include <atomic>

#include "tutti/platform/native.hpp"
#include "tutti/wait/deadline.hpp"

namespace tutti {

template <class Memory = native>
class monitor_wait {
 public:
  struct wait_state {};
  explicit monitor_wait(rank_t /*participants*/) noexcept {}

  template <class Word, class Ready, class Deadline = no_deadline>
  bool until(wait_state&, const Word& word, std::memory_order order, Ready ready,
             Deadline deadline = {}) noexcept {
    const auto is_ready = [&]() noexcept { return ready(word.load(order)); };
    while (!is_ready()) {
      if (deadline.template passed<Memory>()) return false;
      Memory::nap(word, is_ready);
    }
    return true;
  }

  template <class Word>
  void notify(const Word&) noexcept {}
  template <class Word>
  void notify_ordered(const Word&) noexcept {}
};

}  // namespace tutti
