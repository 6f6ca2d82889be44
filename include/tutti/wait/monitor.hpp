// SPDX-License-Identifier: Apache-2.0
// Waits in the core's light sleep until the cache line changes (umwait, mwaitx, wfe). The latency
// is nearly that of spinning, at a fraction of the power, and the other hyper-thread gets the
// core's resources. The thread still occupies the core, so this policy does not help when there are
// more threads than cores. On a CPU without such an instruction it polls as spin_wait does.
#pragma once

#include <atomic>

#include "tutti/wait/polling.hpp"

namespace tutti {

template <class Memory>
struct nap_between_polls {
  template <class Word, class Ready>
  static void pause(const Word& word, std::memory_order order, Ready ready) noexcept {
    Memory::nap(word, [&]() noexcept { return ready(word.load(order)); });
  }
};

template <class Memory = native>
using monitor_wait = polling_wait<Memory, nap_between_polls<Memory>>;

}  // namespace tutti
