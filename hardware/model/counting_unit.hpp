// SPDX-License-Identifier: Apache-2.0
// tutti_counting_unit in C++, cycle by cycle, for simulations that need no Verilator. A test
// (hardware/cosim/tests/model_test.cpp) drives both with the same random inputs, and compares every
// output in every cycle.
#pragma once

#include <cstdint>
#include <vector>

#include "hardware/model/barrier_registers.hpp"

namespace tutti::hardware::model {

// The ports, but for the clock and the reset.
struct counting_inputs {
  register_request request;
  bool message = false;
  unsigned message_address = 0;
  // The memory takes a read, and a write, in this cycle.
  bool takes_read = true, takes_write = true;
  // The answer to a read.
  bool answers = false;
  unsigned answer_tag = 0;
  std::uint64_t answer = 0;
  // The read failed.
  bool answer_fails = false;
};
struct counting_outputs {
  // What a read of the register gives.
  std::uint64_t value = 0;
  bool reads = false;
  std::uint64_t read_address = 0;
  unsigned read_tag = 0;
  bool writes = false;
  std::uint64_t write_address = 0, write_value = 0;
  friend bool operator==(const counting_outputs&, const counting_outputs&) = default;
};

class counting_unit {
 public:
  explicit counting_unit(unsigned threads, unsigned generation_bits = 8)
      : generation_mask_(static_cast<std::uint32_t>((std::uint64_t{1} << generation_bits) - 1)),
        registers_(threads, generation_bits, variant::counting),
        lines_(threads) {}

  // Whether it does something in a cycle without inputs.
  bool is_busy() const { return registers_.clears() || notifies_ || polls(); }

  // One cycle: returns its outputs, and is the clock edge at its end.
  counting_outputs step(const counting_inputs& in) {
    const bool clears = registers_.clears();
    counting_outputs out;
    out.value = registers_.value_of(in.request.offset, shown());
    const bool is_read = lines_[next_].is_read;
    out.reads = polls() && !clears && !is_read;
    out.read_address = registers_.arrivals_from() + std::uint64_t{next_} * line_bytes;
    out.read_tag = next_;
    out.writes = notifies_;
    out.write_address = registers_.departures_from() + std::uint64_t{notified_} * line_bytes;
    out.write_value = notified_value_;

    std::uint64_t errors = 0;
    const arrival_at polled = take_answer(in, clears, errors);
    poll_on(clears, is_read, out.reads && in.takes_read);
    const bool completes = count(in, polled, clears, errors);
    notify(completes, clears, in.takes_write, errors);
    registers_.take(in.request, errors);
    return out;
  }

  friend bool operator==(const counting_unit&, const counting_unit&) = default;

 private:
  static constexpr std::uint64_t line_bytes = 64;

  // A copy of the barrier.
  struct counter {
    unsigned count = 0;
    bool departs = false;
    std::uint32_t generation = 0;
    friend bool operator==(const counter&, const counter&) = default;
  };
  // A participant's line in memory: whether a read is on its way, whether its answer is dropped,
  // and the low bits of the number that was read last.
  struct polled_line {
    bool is_read = false, is_dropped = false;
    unsigned seen = 0;
    friend bool operator==(const polled_line&, const polled_line&) = default;
  };

  bool polls() const {
    return registers_.enabled() && registers_.arrives_by() == arrival_path::memory;
  }
  unsigned next_of(unsigned thread) const {
    return thread + 1 >= registers_.participants() ? 0 : thread + 1;
  }
  shown_state shown() const {
    shown_state s;
    for (unsigned c = 0; c < 2; ++c) {
      s.departing[c] = copies_[c].departs;
      s.generation[c] = copies_[c].generation;
      s.arrived[c] = copies_[c].count;
    }
    s.episodes = episodes_;
    return s;
  }

  arrival_at take_answer(const counting_inputs& in, bool clears, std::uint64_t& errors) {
    arrival_at polled;
    if (in.answers) {
      const polled_line& line = lines_[in.answer_tag];
      const unsigned step = static_cast<unsigned>(in.answer - line.seen) % 4;
      if (line.is_read && !line.is_dropped && !clears) {
        polled = {step == 1 && !in.answer_fails, line.seen & 1, in.answer_tag};
        if (step >= 2 || in.answer_fails) errors |= poll_sequence;
      }
    }
    for (polled_line& line : lines_)
      if (clears) line = {line.is_read, line.is_read, 0};
    if (!in.answers) return polled;
    polled_line& line = lines_[in.answer_tag];
    // A read begins in this cycle only if none is on its way.
    line.is_read = line.is_dropped = false;
    if (polled.valid) line.seen = static_cast<unsigned>(in.answer % 4);
    return polled;
  }

  // A line whose read is on its way at the beginning of the cycle is passed over.
  void poll_on(bool clears, bool is_read, bool begins) {
    if (begins) lines_[next_].is_read = true;
    if (clears)
      next_ = 0;
    else if (begins || (polls() && is_read))
      next_ = next_of(next_);
  }

  bool count(const counting_inputs& in, const arrival_at& polled, bool clears,
             std::uint64_t& errors) {
    const arrival_at written = barrier_registers::trigger_of(in.request);
    const arrival_at sent{in.message, in.message_address >> 2 & 1, in.message_address & 3};
    const arrival_path path = registers_.arrives_by();
    const arrival_at& chosen = path == arrival_path::csr       ? written
                               : path == arrival_path::message ? sent
                                                               : polled;
    const bool takes_part = registers_.enabled() && chosen.thread < registers_.participants();
    if (chosen.valid && !takes_part) errors |= foreign_arrival;
    if ((written.valid && path != arrival_path::csr) ||
        (sent.valid && path != arrival_path::message))
      errors |= wrong_path;
    if (clears) {
      copies_[0] = copies_[1] = {};
      episodes_ = 0;
      return false;
    }
    if (!chosen.valid || !takes_part) return false;
    counter& c = copies_[chosen.copy];
    c.count = c.departs ? 1 : c.count + 1;
    c.departs = c.count == registers_.participants();
    if (!c.departs) return false;
    c.generation = (c.generation + 1) & generation_mask_;
    ++episodes_;
    return true;
  }

  // Departures by memory.
  void notify(bool completes, bool clears, bool takes_write, std::uint64_t& errors) {
    const bool starts = completes && registers_.departs_by() != departure_path::csr;
    if (starts && notifies_) errors |= notify_overrun;
    if (clears) {
      notifies_ = false;
      notified_ = 0;
      notified_value_ = 0;
    } else if (starts) {
      notifies_ = true;
      notified_ = 0;
      notified_value_ = episodes_;
    } else if (notifies_ && takes_write) {
      notified_ = registers_.departs_by() == departure_path::line ? 0 : next_of(notified_);
      notifies_ = notified_ != 0;
    }
  }

  std::uint32_t generation_mask_;
  barrier_registers registers_;
  counter copies_[2];
  std::uint32_t episodes_ = 0;
  std::vector<polled_line> lines_;
  unsigned next_ = 0;
  bool notifies_ = false;
  unsigned notified_ = 0;
  std::uint32_t notified_value_ = 0;
};

}  // namespace tutti::hardware::model
