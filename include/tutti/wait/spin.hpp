// SPDX-License-Identifier: Apache-2.0
// Wait by polling. The lowest latency while every participant has a core of its own; the worst choice by three
// orders of magnitude when two share one, because the waiter keeps the other from running until its slice ends.
//
// A wait policy is
//   Wait(n)                        one for each barrier; n participants share it
//   Wait::seat                     what one participant remembers from wait to wait
//   until(seat, word, order, ready, deadline)
//                                  returns true once ready(word.load(order)), false once the deadline has passed
//   notify(word)                   after a plain store that may make a waiter ready
//   notify_ordered(word)           the same after a seq_cst read-modify-write of the word, which needs no fence
#pragma once

#include <atomic>

#include "tutti/platform/native.hpp"
#include "tutti/wait/deadline.hpp"

namespace tutti {

template <class Memory = native>
class spin_wait {
 public:
  struct seat {};
  explicit spin_wait(rank_t /*participants*/) noexcept {}

  template <class Word, class Ready, class Deadline = no_deadline>
  bool until(seat&, const Word& word, std::memory_order order, Ready ready,
             Deadline deadline = {}) noexcept {
    while (!ready(word.load(order))) {
      if (deadline.template passed<Memory>()) return false;
      Memory::relax();
    }
    return true;
  }

  template <class Word>
  void notify(const Word&) noexcept {}
  template <class Word>
  void notify_ordered(const Word&) noexcept {}
};

}  // namespace tutti
