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

}  // namespace tutti::sim
