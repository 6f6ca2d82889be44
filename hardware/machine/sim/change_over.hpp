// SPDX-License-Identifier: Apache-2.0
// Runs of software/change_over.cpp: threads that leave a barwait barrier for one of tutti's when
// its waits time out too often, and come back.
#pragma once

#include <cstdint>
#include <vector>

#include "hardware/machine/sim/checked_run.hpp"

namespace tutti::machine {

struct change_run {
  unsigned cores = 4;
  std::uint32_t seed = 1, episodes = 64;
  rtl::algorithm software = rtl::algorithm::central;
  // Cycles between two timer interrupts of a core; 0 for none.
  std::uint32_t quantum = 0;
  unsigned unit_distance = 0;
  // Cycles, and steps of a late core, of three cycles each.
  std::uint32_t timeout = 400, delay = 400;
  // A thread breaks the barrier after `timeouts` episodes with one among `among` consecutive ones.
  std::uint32_t timeouts = 2, among = 4;
  // At tutti's barrier.
  std::uint32_t software_episodes = 5;
};

struct change_found {
  // How often all threads have left the barrier in hardware; handlers of timeouts that began.
  std::size_t changes = 0, signals = 0;
  // Cycles from the last arrival to the last departure: of the episodes of each kind. *waited_on*:
  // some wait has timed out, and gone on.
  std::vector<double> hardware, waited_on, changed, software;
  // From the beginning of the handler to the break; the system call that makes the new barrier.
  std::vector<double> breaking, creating;
};

// Runs the program and checks it: the trace of arrivals and departures, the published data, and
// that all threads change at the same episodes.
change_found run_change_over(const images& folder, const change_run& what);

}  // namespace tutti::machine
