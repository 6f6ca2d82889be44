// SPDX-License-Identifier: Apache-2.0
// Wait in the core's own light sleep until the line changes (umwait, mwaitx, wfe): nearly the latency of spinning
// at a fraction of the power, leaving the core to its other hyper-thread. The thread still occupies the core, so
// it is no answer to oversubscription. Where the CPU has no such instruction it polls as spin_wait does.
#pragma once

#include <atomic>

#include "tutti/platform/monitor.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/wait/deadline.hpp"

namespace tutti {

template <class Memory = native>
class monitor_wait {
 public:
  struct seat {};
  explicit monitor_wait(rank_t /*participants*/) noexcept {}

  template <class Word, class Ready, class Deadline = no_deadline>
  bool until(seat&, const Word& word, std::memory_order order, Ready ready,
             Deadline deadline = {}) noexcept {
    const auto is_ready = [&]() noexcept { return ready(word.load(order)); };
    while (!is_ready()) {
      if (deadline.template passed<Memory>()) return false;
      platform::nap(word, is_ready);
    }
    return true;
  }

  template <class Word>
  void notify(const Word&) noexcept {}
  template <class Word>
  void notify_ordered(const Word&) noexcept {}
};

}  // namespace tutti
