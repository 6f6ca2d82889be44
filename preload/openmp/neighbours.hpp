// SPDX-License-Identifier: Apache-2.0
// Neighbours: threads outside of a team with more threads than CPUs that need its CPUs, of a pool
// that the program has besides OpenMP (a thread of OpenBLAS's own pool that has no work polls for
// 25 ms).
//
// Polling and yielding are then the wrong way to wait. A thread that yields to a neighbour gets its
// CPU back after a slice of the scheduler, of up to 4 ms, and the region waits for it. A thread
// that has slept displaces the neighbour when it wakes, unless it has used the processor too much
// before. So the threads of a team with neighbours sleep as soon as they wait, and they are not
// bound to a CPU each. wait/adaptive.hpp finds the same out, but only after slices of 10 ms in all,
// during which a short program has ended. Other processes are left to it: they stay, and teams
// whose threads wait for each other every few microseconds lose more by sleeping.
#pragma once

#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti::openmp {

struct omp_team;

// How threads wait that have no neighbours.
patience usual_patience();
void set_patience(omp_team& team, patience p);
// Before a region of `threads` threads opens, which are more than there are CPUs: looks whether the
// team has neighbours, if some of its workers sleep (otherwise regions follow each other so closely
// that the look would cost too much), and sets the team's patience.
void look_for_neighbours(omp_team& team, unsigned threads);
// Before a region with a CPU for each thread opens. wait/adaptive.hpp does better there: two
// threads beside a busy process share the other CPU and yield to each other, while sleepers would
// wake on the CPU of the process (XGBoost took 76 ms instead of 44).
void forget_neighbours(omp_team& team);
// The next wait polls only once before it sleeps. If a team has more threads than CPUs and
// neighbours, the partner for which a thread waits hardly ever runs at the moment.
inline void poll_once(adaptive_wait<>::wait_state& mine) noexcept { mine.crowded_waits = 1; }

}  // namespace tutti::openmp
