// SPDX-License-Identifier: Apache-2.0
// The barrier of a team, which also waits until all tasks of the team have ended.
#pragma once

#include <algorithm>
#include <cstdint>

#include "preload/openmp/atomic.hpp"
#include "preload/openmp/environment.hpp"
#include "preload/openmp/task_barrier.hpp"
#include "tutti/wait/adaptive.hpp"

namespace tutti::openmp {

struct omp_team;
struct thread;

// The waits of teams, whose sizes change from region to region. A team usually has as many threads
// as the environment says, and no more than there are CPUs.
class team_wait : public adaptive_wait<> {
 public:
  explicit team_wait(rank_t participants) noexcept
      : adaptive_wait<>(participants, {}, std::min(usable_processors(), global().first.threads)) {}
};

using team_barrier = task_barrier<told_memory, team_wait>;

// Waits for all ranks and, if the team may have tasks, until all have ended. Returns true if the
// region is cancelled: callers with `can_be_cancelled` then stop waiting, and others go on waiting
// for the ranks that have not left the region.
bool wait_at_barrier(thread& me, bool can_be_cancelled);
// The barriers at the end of a region. The rank has left the order of combination of
// reproducible.hpp before, so it takes no turn there, unlike in wait_at_barrier().
void wait_at_end_without_tasks(thread& me);
void wait_at_end_with_tasks(thread& me);
// Tells all that wait at barriers of the team to look again.
void wake_barriers(omp_team& team);

// Sleeps until the thread's wake word is no longer `seen`.
void sleep_until_woken(thread& me, std::uint32_t seen);
// Changes the thread's wake word.
void wake(thread& waiter) noexcept;

}  // namespace tutti::openmp
