// SPDX-License-Identifier: Apache-2.0
// What machine this is and how much of it others used.
#pragma once

#include <string>

#include "cli/json.hpp"

namespace tutti::bench {

// Processor time since boot, in seconds, of the CPUs that this process may use (/proc/stat).
struct processor_time {
  double total = 0, busy = 0, stolen = 0;
  // The time of this process and of its children that have ended.
  double own = 0;
};

processor_time read_processor_time();
// Out of the text of /proc/stat, without `own`; of all CPUs if it lacks one of these.
processor_time processor_time_of(const std::string& stat, const std::vector<int>& cpus);

// CPU, topology, kernel, compiler, load: the keys of the line of type "machine".
cli::json describe_machine();

// The same in a line for people, once "foreign_load" is in it.
std::string machine_heading(const cli::json& machine);

// The parts of the processor time between two readings that others took, 0 to 1.
struct noise {
  double foreign_load = 0;
  double steal = 0;
};
noise noise_between(const processor_time& begin, const processor_time& end);

}  // namespace tutti::bench
