// SPDX-License-Identifier: Apache-2.0
#include "preload/openmp/neighbours.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "preload/openmp/environment.hpp"
#include "preload/openmp/teams.hpp"
#include "preload/openmp/threads.hpp"
#include "tutti/platform/free_core.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/platform/usable_cpus.hpp"

namespace tutti::openmp {
namespace {

// Whether the user leaves it to the runtime how threads wait.
bool may_choose() {
  static const bool may = global().wait_policy < 0 && patience::of_environment().is_balanced();
  return may;
}

// Whether the process has threads that the runtime does not know.
bool has_other_pools() {
  struct stat of_tasks;
  // The folder has an entry for each thread, and two links of its own.
  return stat("/proc/self/task", &of_tasks) == 0 &&
         of_tasks.st_nlink > 2 + static_cast<nlink_t>(known_threads());
}

// Whether there are more threads ready to run than CPUs, apart from those of the team. The system
// tells the number for the whole machine, so others may use the CPUs that this process may not use.
bool are_there_neighbours(unsigned threads, unsigned asleep) {
  if (!has_other_pools()) return false;
  const auto mine = static_cast<unsigned>(process_cpus().size());
  const unsigned machine = std::max(cpus_of_machine(), mine);
  return platform::runnable_tasks() + asleep > std::max(threads, mine) + (machine - mine);
}

}  // namespace

patience usual_patience() {
  const int policy = global().wait_policy;
  return policy < 0 ? patience() : policy == 1 ? patience::active() : patience::passive();
}

void set_patience(omp_team& team, patience p) {
  team.chosen = p;
  team.barrier.set_patience(p);
  team.after_cancellation.set_patience(p);
  team.closing.set_patience(p);
  for (worker* const w : team.workers) w->opening.set_patience(p);
}

void forget_neighbours(omp_team& team) {
  team.has_neighbours = false;
  team.looked_ns = 0;
  set_patience(team, usual_patience());
}

void look_for_neighbours(omp_team& team, unsigned threads) {
  // A look takes a microsecond.
  constexpr std::uint64_t apart_ns = 200'000;
  if (!may_choose()) return;
  const auto there = static_cast<unsigned>(team.workers.size());
  // Workers that are yet to be created do not run either.
  const unsigned absent = threads - 1 - std::min(threads - 1, there);
  unsigned asleep = absent;
  for (unsigned i = 0; i < there && i < threads - 1; ++i)
    asleep += team.workers[i]->opening.asleep() != 0 ? 1 : 0;
  if (asleep == 0) return;
  const std::uint64_t now = native::now_ns();
  if (now - team.looked_ns < apart_ns) return;
  team.looked_ns = now;
  bool has = are_there_neighbours(threads, asleep);
  // A worker that is about to sleep counts twice, and the system itself has threads that run for a
  // moment. So one look proves nothing, unless there are no workers yet: this region looks again,
  // and then the next one.
  if (has && !team.has_neighbours && absent == 0) {
    constexpr int polls = 64;
    for (int poll = 0; poll < polls; ++poll) platform::poll_gap();
    has = are_there_neighbours(threads, asleep);
  }
  if (has && !team.has_neighbours && !team.expects_neighbours && absent == 0) {
    team.expects_neighbours = true;
    team.looked_ns = 0;
    return;
  }
  team.expects_neighbours = false;
  if (has == team.has_neighbours) return;
  team.has_neighbours = has;
  set_patience(team, has ? patience::passive() : usual_patience());
}

}  // namespace tutti::openmp
