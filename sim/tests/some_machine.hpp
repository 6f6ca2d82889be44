// SPDX-License-Identifier: Apache-2.0
// A machine for tests, of round numbers.
#pragma once

#include "sim/machine.hpp"

namespace tutti::sim {

inline machine some_machine(unsigned nodes, unsigned cores, unsigned threads) {
  machine m;
  m.name = "some";
  m.clock_ghz = 2;
  m.nodes = nodes;
  m.cores = cores;
  m.threads = threads;
  m.transfer = {picoseconds(50), picoseconds(50), {picoseconds(140)}};
  m.invalidate = m.transfer;
  m.memory = picoseconds(90);
  m.hold = picoseconds(20);
  m.read_gap = picoseconds(10);
  m.hit = picoseconds(2);
  m.atomic = picoseconds(8);
  m.fence = picoseconds(15);
  m.clock = picoseconds(20);
  m.pause = picoseconds(20);
  m.slice = picoseconds(3e6);
  m.context_switch = picoseconds(1500);
  m.yield = picoseconds(400);
  m.futex_wait = picoseconds(800);
  m.futex_wake = picoseconds(500);
  m.wake_up = picoseconds(5000);
  return m;
}

constexpr double accelerator_cycle_ns = 5;

inline void add_accelerator(machine& m, unsigned threads) {
  m.has_accelerator = true;
  m.accelerator = {.cycle = picoseconds(accelerator_cycle_ns),
                   .threads = threads,
                   .requests = 8,
                   .request = picoseconds(200),
                   .answer = picoseconds(150),
                   .read = picoseconds(300),
                   .cached = picoseconds(50),
                   .snoop = picoseconds(100),
                   .vl0 = picoseconds(160),
                   .vh0 = picoseconds(400),
                   .vh1 = picoseconds(400)};
}

inline void add_structures(machine& m, double access_ns, double link_ns) {
  m.has_structures = true;
  m.structure_access = picoseconds(access_ns);
  m.structure_link = picoseconds(link_ns);
}

}  // namespace tutti::sim
