// SPDX-License-Identifier: Apache-2.0
// Waits by polling for a short time and then sleeping in the kernel. The core becomes free, but a
// partner that comes later than the last poll pays for a wake-up: 10 to 50 us on the machines
// tried, most of it the exit latency of the idle core.
#pragma once

#include <atomic>

#include "tutti/platform/native.hpp"
#include "tutti/wait/deadline.hpp"
#include "tutti/wait/sleeping.hpp"

namespace tutti {

template <class Memory = native, int Polls = 100>
class park_wait : public sleeping_wait<Memory> {
 public:
  struct wait_state {};
  explicit park_wait(rank_t /*participants*/) noexcept {}

  template <class Word, class Ready, class Deadline = no_deadline>
  bool until(wait_state&, const Word& word, std::memory_order order, Ready ready,
             Deadline deadline = {}) noexcept {
    return is_ready_within<Memory>(Polls, word, order, ready) ||
           this->sleep(word, order, ready, deadline);
  }
};

}  // namespace tutti
