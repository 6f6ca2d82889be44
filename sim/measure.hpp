// SPDX-License-Identifier: Apache-2.0
// Runs a contender on a machine and takes the simulated times.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/contenders.hpp"
#include "sim/machine.hpp"
#include "sim/world.hpp"

namespace tutti::sim {

// What a rank does before it arrives in an episode: it works, and then it is busy until it is so
// late after it has left the episode before.
struct delay {
  double work_ns = 0, late_ns = 0;
};

// Another process on a CPU. It works, sleeps and works again, for random times in between; it never
// sleeps if `most_sleep_ns` is 0.
struct other_process {
  unsigned cpu = 0;
  // 0: the session of the threads.
  std::uint32_t session = 0;
  double least_work_ns = 1e6, most_work_ns = 1e6;
  double least_sleep_ns = 0, most_sleep_ns = 0;
};

struct run_plan {
  rank_t threads = 2;
  std::uint32_t episodes = 50;
  // Episodes before the first one that counts.
  std::uint32_t warm_up = 5;
  std::uint64_t seed = 1;
  // The pause between two polls of tutti's wait policies; below 0: the machine's.
  double poll_gap_ns = -1;
  bool skips_polls = true;
  // If it is above 0, all ranks arrive at the same times, so far apart.
  double period_ns = 0;
  // ns that each rank works in an episode before it arrives, up to `spread` of them more or less.
  double work_ns = 0, spread = 0;
  // May be empty.
  std::function<delay(rank_t rank, std::uint32_t episode)> delay_of = {};
  std::vector<other_process> others = {};
  // The CPUs that the threads get in each period, as by a cgroup; 0: all.
  double quota_cpus = 0;
  // If it is above 0, episodes go on for so long after the warm-up, and `episodes` does not count.
  double least_ns = 0;
  // The warm-up lasts at least so long.
  double warm_up_ns = 0;
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

// An empty region of a team, with tutti's threads.
simulated_run run_team(const machine& m, const run_plan& plan);

}  // namespace tutti::sim
