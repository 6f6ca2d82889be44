// SPDX-License-Identifier: Apache-2.0
// tutti_counting_registers, cycle by cycle: the register map that the counting and the mask unit
// share. What it says about a cycle holds before that cycle's clock edge, which take() is.
#pragma once

#include <cstdint>

#include "hardware/driver/registers.hpp"

namespace tutti::hardware::model {

// What software does at the register port in a cycle.
struct register_request {
  bool valid = false, is_write = false;
  std::uint64_t offset = 0, value = 0;
};

struct arrival_at {
  bool valid = false;
  unsigned copy = 0, thread = 0;
};

// What a unit shows at its registers.
struct shown_state {
  bool departing[2] = {false, false};
  std::uint32_t generation[2] = {0, 0};
  std::uint64_t arrived[2] = {0, 0};
  std::uint32_t episodes = 0;
};

class barrier_registers {
 public:
  barrier_registers(unsigned threads, unsigned generation_bits, variant which)
      : threads_(threads), generation_bits_(generation_bits), variant_(which) {}

  bool enabled() const { return now_.enable; }
  unsigned participants() const { return now_.size; }
  arrival_path arrives_by() const { return now_.arrival; }
  departure_path departs_by() const { return now_.departure; }
  std::uint64_t arrivals_from() const { return now_.arrival_base; }
  std::uint64_t departures_from() const { return now_.departure_base; }
  // A hard reset of the counts in this cycle.
  bool clears() const { return clears_; }

  static arrival_at trigger_of(const register_request& r) {
    const bool is_one = r.valid && r.is_write && is_line(r.offset, trigger(0, 0));
    if (!is_one) return {};
    return {true, copy_of(r.offset), static_cast<unsigned>(r.offset >> 6 & 0x7F)};
  }

  // What a read of the register gives.
  std::uint64_t value_of(std::uint64_t offset, const shown_state& s) const {
    switch (offset) {
      case id: return id_value;
      case version:
        return std::uint64_t{static_cast<std::uint8_t>(variant_)} << 32 |
               std::uint64_t{version_major} << 16;
      case capability:
        return std::uint64_t{has_memory_paths()} << 32 | generation_bits_ << 24 |
               (has_memory_paths() ? 2 * message_threads << 16 : 0) | threads_;
      case control: return now_.enable ? 1 : 0;
      case size: return now_.size;
      case arrival: return static_cast<std::uint64_t>(now_.arrival);
      case departure: return static_cast<std::uint64_t>(now_.departure);
      case arrival_base: return now_.arrival_base;
      case departure_base: return now_.departure_base;
      case status: return s.episodes;
      case error: return errors_;
      case arrived0: return s.arrived[0];
      case arrived1: return s.arrived[1];
      default: break;
    }
    if (!is_line(offset, sense(0, 0))) return 0;
    const unsigned copy = copy_of(offset);
    return std::uint64_t{s.generation[copy]} << 32 | (s.departing[copy] ? 1 : 0);
  }

  // The clock edge. `errors` are those of the unit in this cycle.
  void take(const register_request& r, std::uint64_t errors) {
    clears_ = false;
    std::uint64_t cleared = 0;
    if (r.valid && r.is_write) {
      const configuration before = now_;
      switch (r.offset) {
        case control:
          now_.enable = (r.value & control_enable) != 0;
          clears_ = (r.value & control_reset) != 0;
          break;
        case size: {
          const bool is_good =
              r.value != 0 && r.value <= threads_ &&
              !(before.arrival == arrival_path::message && r.value > message_threads);
          if (is_good) now_.size = static_cast<unsigned>(r.value);
          note(errors, is_good, bad_size);
          break;
        }
        case arrival: {
          const bool is_good =
              exists(r.value) && !(r.value == by_message && before.size > message_threads);
          if (is_good) now_.arrival = static_cast<arrival_path>(r.value);
          note(errors, is_good, bad_path);
          break;
        }
        case departure:
          if (exists(r.value)) now_.departure = static_cast<departure_path>(r.value);
          note(errors, exists(r.value), bad_path);
          break;
        case arrival_base: now_.arrival_base = r.value; break;
        case departure_base: now_.departure_base = r.value; break;
        case error: cleared = r.value; break;
        default: break;
      }
    }
    errors_ = (errors_ & ~cleared) | errors;
  }

  friend bool operator==(const barrier_registers&, const barrier_registers&) = default;

 private:
  static constexpr unsigned message_threads = 4;
  static constexpr std::uint64_t by_message = static_cast<std::uint64_t>(arrival_path::message);

  struct configuration {
    bool enable = false;
    unsigned size = 1;
    arrival_path arrival = arrival_path::csr;
    departure_path departure = departure_path::csr;
    std::uint64_t arrival_base = 0, departure_base = 0;
    friend bool operator==(const configuration&, const configuration&) = default;
  };

  static bool is_line(std::uint64_t offset, std::uint64_t area) {
    return offset >> 14 == area >> 14 && offset % 64 == 0;
  }
  static unsigned copy_of(std::uint64_t offset) { return offset >> 13 & 1; }
  bool has_memory_paths() const { return variant_ == variant::counting; }
  // A path's number; without memory there is one path only.
  bool exists(std::uint64_t path) const { return path < 3 && (has_memory_paths() || path == 0); }
  // A good write resets the counts in the next cycle.
  void note(std::uint64_t& errors, bool is_good, error_bit otherwise) {
    clears_ = is_good;
    if (!is_good) errors |= otherwise;
  }

  unsigned threads_, generation_bits_;
  variant variant_;
  configuration now_;
  std::uint64_t errors_ = 0;
  bool clears_ = false;
};

}  // namespace tutti::hardware::model
