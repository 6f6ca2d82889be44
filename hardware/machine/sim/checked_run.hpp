// SPDX-License-Identifier: Apache-2.0
// Checked runs of the programs of software/: measure.cpp prints what they give, and the tests vary
// them. Every function throws std::runtime_error, with a sentence that names the run, if a program
// does not end, ends with an error, finds one itself, or leaves a trace that the checker refuses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hardware/machine/sim/system.hpp"
#include "hardware/machine/software/interface.h"
#include "hardware/machine/software/names.hpp"
#include "tests/conformance/trace.hpp"

namespace tutti::machine {

// The folder with the images of software/build.sh.
using images = std::string;

// The numbers of a run in cycles.
struct figures {
  double min = 0, median = 0, max = 0;
  std::size_t samples = 0;
};
// `all` is not empty.
figures figures_of(std::vector<double> all);

// Runs a program to its end. `what` names the run in messages.
struct ended_run {
  std::vector<event> events;
  std::vector<std::uint32_t> status;
  std::string console;
  std::uint64_t cycles = 0;

  std::vector<std::uint32_t> data(unsigned tag) const;
  std::vector<std::uint32_t> data_of(unsigned core, unsigned tag) const;
};
ended_run run_to_end(const std::string& image, const settings& s, std::uint64_t most,
                     const std::string& what);
// Cycles of all runs so far that have come to their ends.
std::uint64_t simulated_cycles();
// The same, and every core must have ended with status 0 and found nothing wrong.
ended_run run_well(const std::string& image, const settings& s, std::uint64_t most,
                   const std::string& what);

// The passages that arrive and depart events between two places of a trace tell, in any order.
test::trace passages(const std::vector<event>& events, std::size_t from, std::size_t to);

// ---- bench.cpp ----

enum class scenario : std::uint32_t { back_to_back, late, together };
const char* name_of(scenario s);

struct bench_run {
  // A number of rtl::algorithm or rtl::contender.
  std::uint32_t contender = 0;
  machine::scenario scenario = machine::scenario::back_to_back;
  unsigned cores = 2, sockets = 1, unit_distance = 0, unit_link = settings{}.unit_link;
  std::uint32_t episodes = 16;
  // A RAM without caches, to develop programs.
  bool ideal = false;
};
std::string name_of_contender(std::uint32_t contender);
// Whether it is a barrier in hardware.
constexpr bool is_hardware(std::uint32_t contender) {
  return contender > static_cast<std::uint32_t>(rtl::contender::none) &&
         contender <= static_cast<std::uint32_t>(rtl::contender::counting);
}

// Returns the cycles of an episode: of the slowest core back to back, and otherwise from the last
// arrival to the last departure.
figures measure_barrier(const images& folder, const bench_run& what);

// ---- costs.cpp ----

struct cost_run {
  rtl::cost what = rtl::cost::nothing;
  unsigned cores = 2, sockets = 1;
  // The core that had or has the line.
  unsigned other = 1;
  std::uint32_t repetitions = 16;
};
// Returns cycles: of one transfer (ping_pong, half a round trip), of one addition of all cores
// together (contended_add), of one poll, of the store (invalidate), from the store to the last
// reader (release), of one access, without those of reading the counter.
figures measure_cost(const images& folder, const cost_run& what);

// ---- conformance.cpp ----

struct conformance_run {
  unsigned cores = 2, sockets = 1, threads = 1;
  std::uint32_t episodes = 8, delay = 200, seed = 1;
  // rtl::algorithm_count for all; the number of participants, 0 for a list.
  std::uint32_t algorithm = rtl::algorithm_count, participants = 0;
  // The barrier that does nothing instead: the checks must refuse it.
  bool mutant = false;
  bool ideal = false, messages = false;
};
// Returns the number of cases that were checked.
std::size_t check_conformance(const images& folder, const conformance_run& what);

}  // namespace tutti::machine
