// SPDX-License-Identifier: Apache-2.0
// Runs a contender on a machine and takes the simulated times.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/contenders.hpp"
#include "sim/machine.hpp"
#include "sim/world.hpp"

namespace tutti::sim {

struct run_plan {
  rank_t threads = 2;
  std::uint32_t episodes = 50;
  // Episodes before the first one that counts.
  std::uint32_t warm_up = 5;
  std::uint64_t seed = 1;
  // The pause between two polls of tutti's wait policies.
  double poll_gap_ns = 40;
  bool skips_polls = true;
  // ns that each rank works in an episode before it arrives, up to `spread` of them more or less.
  double work_ns = 0, spread = 0;
  // A team takes it as team_options::fan; 0 is the default.
  rank_t fan = 0;
  // Gets what the threads waited for in the last episode, with times from its beginning on, unless
  // it is null.
  std::vector<waiting_time>* timeline = nullptr;
};

struct simulated_run {
  // ns of each episode, by the returns of the last rank that leaves, and from the last arrival to
  // the last return.
  std::vector<double> loop, last_in_last_out;
  std::uint64_t events = 0, transfers = 0;
  // ns of processor time of the host for an episode.
  double host_ns = 0;
};

// How a contender's threads poll in a run of this plan.
world_options world_options_of(const machine& m, const contender& who, const run_plan& plan);

// Throws std::invalid_argument if the plan does not fit the machine, `stuck`, and std::logic_error
// if a rank leaves an episode before all have arrived.
simulated_run run(const machine& m, const contender& who, const run_plan& plan);

// A region that adds up a double over all members of a team, with tutti's threads.
simulated_run run_team(const machine& m, const run_plan& plan);

}  // namespace tutti::sim
