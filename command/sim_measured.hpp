// SPDX-License-Identifier: Apache-2.0
// What `tutti bench barrier --json` has measured, and the same in the simulation.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/harness/scenario.hpp"
#include "sim/machine_file.hpp"
#include "sim/published.hpp"

namespace tutti::command {

// The RTL machine of hardware/machine with so many sockets and cores, whose barrier units are so
// many cycles away.
struct rtl_size {
  unsigned sockets = 0, cores = 0, unit_distance = 0;
};

// What `tutti bench` or the RTL machine measured in a scenario: the loop, or from the last arrival
// to the last return.
struct measured_barrier {
  sim::published_value value;
  bench::scenario during;
  bool is_last_in_last_out = false;
  // All ranks arrive at the same time.
  bool is_together = false;
  // Without sockets: a run of `tutti bench`.
  rtl_size rtl = {};
};

// What a file with the lines of `tutti bench barrier --json`, or of machine_measure, tells.
struct bench_run {
  // Their medians by their quantities.
  std::map<std::string, double> floors;
  // Pinned barriers of tutti, and the barrier instruction of the RTL machine, by their medians.
  std::vector<measured_barrier> barriers;

  // Those without other work.
  std::vector<sim::published_value> free_barriers() const {
    std::vector<sim::published_value> free;
    for (const measured_barrier& each : barriers)
      if (each.during.name == "free" && !each.is_last_in_last_out) free.push_back(each.value);
    return free;
  }
};

// Throws std::invalid_argument, with the file and the line, for one that neither `tutti bench` nor
// machine_measure prints.
bench_run read_bench_run(const std::string& path);

// The description of the RTL machine.
sim::machine machine_of(const rtl_size& size, sim::settings with);

// What goes on during the measurement, in a few words.
std::string scenario_of(const measured_barrier& each);

// ns of the loop, or from the last arrival to the last return, as `tutti bench` takes them: the
// median of the episodes or, beside other processes, of the means of some rounds.
double simulated_ns(const sim::machine& m, const measured_barrier& measured);

}  // namespace tutti::command
