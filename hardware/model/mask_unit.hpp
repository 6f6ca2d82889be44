// SPDX-License-Identifier: Apache-2.0
// tutti_mask_unit in C++, cycle by cycle, without its pins: arrivals come by its registers. A test
// (hardware/cosim/tests/model_test.cpp) drives both with the same random requests, and compares the
// answer of every cycle.
#pragma once

#include <cstdint>

#include "hardware/model/barrier_registers.hpp"

namespace tutti::hardware::model {

class mask_unit {
 public:
  explicit mask_unit(unsigned threads, unsigned generation_bits = 8)
      : threads_(threads),
        generation_mask_((std::uint32_t{1} << generation_bits) - 1),
        registers_(threads, generation_bits, variant::mask) {}

  // Whether it does something in a cycle without a request.
  bool is_busy() const { return registers_.clears(); }

  // One cycle: returns what a read of the request's register gives, and is the clock edge at its
  // end.
  std::uint64_t step(const register_request& r) {
    const std::uint64_t value = registers_.value_of(r.offset, shown());
    const arrival_at arrives = barrier_registers::trigger_of(r);
    const std::uint64_t members = participants();
    const bool exists = arrives.valid && arrives.thread < threads_;
    const std::uint64_t bit = exists ? std::uint64_t{1} << arrives.thread : 0;
    const bool is_meant = arrives.copy == episodes_ % 2;
    std::uint64_t errors = 0;
    if (arrives.valid && (bit & members) == 0) errors |= foreign_arrival;
    if ((bit & members & (is_meant ? arrived_ : ~std::uint64_t{0})) != 0) errors |= arrived_again;
    const std::uint64_t arrived = arrived_ | (is_meant ? bit & members : 0);
    if (registers_.clears()) {
      arrived_ = 0;
      episodes_ = 0;
      has_completed_ = false;
    } else if (members != 0 && arrived == members) {
      arrived_ = 0;
      ++episodes_;
      has_completed_ = true;
    } else {
      arrived_ = arrived;
    }
    registers_.take(r, errors);
    return value;
  }

 private:
  std::uint64_t participants() const {
    const unsigned n = registers_.participants();
    if (!registers_.enabled()) return 0;
    return n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
  }
  // The state that the two copies of the counting unit would show.
  shown_state shown() const {
    const unsigned open = episodes_ % 2;
    shown_state s;
    s.departing[1 - open] = open == 1 || has_completed_;
    s.generation[0] = ((episodes_ + 1) >> 1) & generation_mask_;
    s.generation[1] = (episodes_ >> 1) & generation_mask_;
    s.arrived[open] = arrived_;
    s.episodes = episodes_;
    return s;
  }

  unsigned threads_;
  std::uint32_t generation_mask_;
  barrier_registers registers_;
  std::uint64_t arrived_ = 0;
  std::uint32_t episodes_ = 0;
  bool has_completed_ = false;
};

}  // namespace tutti::hardware::model
