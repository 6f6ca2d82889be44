// SPDX-License-Identifier: Apache-2.0
// The mesh's ports by node, and the distance of its master.
#pragma once

#include <algorithm>
#include <cstdint>

#include "hardware/flow/testbench.hpp"

namespace tutti::rtl {

inline constexpr unsigned nodes = COLUMNS * ROWS;
inline constexpr unsigned count_bits = 24;
inline constexpr std::uint64_t count_mask = (1u << count_bits) - 1;
inline constexpr unsigned detect = 0, release_phase = 1, enable_phase = 2;

// Returns the hops from the master to the farthest node, including the bridge's own hop.
constexpr unsigned farthest() {
  if (MASTER_CENTRE == 0) return COLUMNS + ROWS - 1;
  return std::max(COLUMNS / 2, COLUMNS - 1 - COLUMNS / 2) + std::max(ROWS / 2, ROWS - 1 - ROWS / 2);
}

constexpr unsigned hops(unsigned from, unsigned to) {
  const auto apart = [](unsigned a, unsigned b) { return a > b ? a - b : b - a; };
  return apart(from % COLUMNS, to % COLUMNS) + apart(from / COLUMNS, to / COLUMNS);
}

class mesh {
 public:
  explicit mesh(testbench& bench) : bench_(bench) {}

  void reset() {
    model& top = bench_.top();
    top.run_i = 0;
    for (unsigned n = 0; n < nodes; ++n) {
      cores(n, 0, 0, 0, 0, 0);
      set_field(top.data_valid_i, n, 1, 0);
      set_field(top.data_ready_i, n, 1, 1);
    }
    bench_.reset();
  }

  void run(bool on) { bench_.top().run_i = on; }
  void cores(unsigned n, unsigned send, unsigned receive, unsigned idle, unsigned vote,
             unsigned left) {
    model& top = bench_.top();
    set_field(top.send_i, n * CORES, CORES, send);
    set_field(top.receive_i, n * CORES, CORES, receive);
    set_field(top.idle_i, n * CORES, CORES, idle);
    set_field(top.vote_i, n * CORES, CORES, vote);
    set_field(top.left_i, n * CORES, CORES, left);
  }
  void offer(unsigned n, bool valid, unsigned to, std::uint64_t data) {
    model& top = bench_.top();
    set_field(top.data_valid_i, n, 1, valid);
    if (!valid) return;
    set_field(top.data_to_i, n * 8, 8, to / COLUMNS << 4 | to % COLUMNS);
    set_field(top.data_i, n * count_bits, count_bits, data);
  }
  void take(unsigned n, bool ready) { set_field(bench_.top().data_ready_i, n, 1, ready); }

  bool taken(unsigned n) { return bit(bench_.top().data_ready_o, n); }
  bool arrives(unsigned n) { return bit(bench_.top().data_valid_o, n); }
  std::uint64_t data(unsigned n) { return field(bench_.top().data_o, n * count_bits, count_bits); }
  bool released(unsigned n) { return bit(bench_.top().release_o, n); }
  bool unanimous(unsigned n) { return bit(bench_.top().unanimous_o, n); }
  bool enabled(unsigned n) { return bit(bench_.top().enable_o, n); }
  bool missing(unsigned n) { return bit(bench_.top().missing_o, n); }
  std::uint64_t count(unsigned n) {
    return field(bench_.top().count_o, n * count_bits, count_bits);
  }
  std::uint64_t error(unsigned n) { return field(bench_.top().error_o, n * 3, 3); }

 private:
  template <class Port>
  static bool bit(const Port& port, unsigned at) {
    return field(port, at, 1) != 0;
  }

  testbench& bench_;
};

}  // namespace tutti::rtl
