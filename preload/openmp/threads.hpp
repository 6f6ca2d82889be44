// SPDX-License-Identifier: Apache-2.0
// Threads: those of the program, and the workers that the runtime creates.
//
// A worker waits on a cache line of its own for a region, which its opener publishes there, as
// team/fork_join.hpp does; the worker answers on the same line when it has ended its part.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <vector>

#include "preload/openmp/atomic.hpp"
#include "preload/openmp/barrier.hpp"
#include "preload/openmp/environment.hpp"
#include "preload/openmp/ompt/parts.hpp"
#include "preload/openmp/places.hpp"
#include "preload/openmp/spare_objects.hpp"
#include "preload/openmp/tasks.hpp"
#include "preload/openmp/workshares.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/wait/adaptive.hpp"

namespace tutti::openmp {

struct doacross_table;
struct omp_team;

// The part of a thread's state that changes when it enters a region.
struct context : placement {
  omp_team* team = nullptr;
  unsigned rank = 0;
  unsigned level = 0, active_level = 0;
  task* current = nullptr;
  // The worksharing construct to which the thread has come last.
  workshare* last_workshare = nullptr;
  // The chunks of the present loop that the thread has had, if the schedule is static.
  std::uint64_t static_trip = 0;
  // The chunk of an ordered loop that this thread holds, if any, and whether it is the loop's last.
  std::uint32_t my_chunk = 0;
  bool has_chunk = false;
  bool has_last_chunk = false;
  team_barrier::phase phase;
  // The constructs `single` that the thread has passed.
  std::uint32_t singles = 0;
  // Whether the thread adds its values to those of the team, in clang's interface.
  bool is_combining = false;
  // The doacross loops of clang's interface that the thread has begun, and the present one.
  unsigned doacross_loops = 0;
  doacross_table* doacross = nullptr;
  // The order of combination (reproducible.hpp): how far the thread has come, and how many locks it
  // holds and critical regions and late tasks it is in.
  std::uint64_t position = 0;
  unsigned locks = 0, criticals = 0, late_tasks = 0;
  bool operator==(const context&) const = default;
};

// The region that a worker has to run, which fills its cache line. The opener writes the members
// and then the word; the worker writes only the word.
struct alignas(cache_line) published_region {
  // The low two bits of the word tell whether it says that a region is open or that the worker has
  // ended its part. The rest counts the regions.
  static constexpr std::uint32_t opened = 1, arrived = 2;
  atomic<std::uint32_t> word{0};
  std::uint32_t rank = 0;
  // If it is null, the worker ends.
  region_function function = nullptr;
  void* data = nullptr;
  omp_team* team = nullptr;
  // What the rank's context begins with.
  workshare* begin = nullptr;
  std::uint32_t phase = 0;
  std::uint32_t singles = 0;
  // Whether each worker has a CPU, because the region has more threads than there are CPUs.
  bool is_bound = false;
  // The CPU of the opener if the worker slept, or -1. The kernel tends to run a thread that wakes
  // on the CPU of the one that wakes it, where the two would work one after the other.
  int waker_cpu = -1;
};
static_assert(sizeof(published_region) == cache_line);

struct thread {
  context now;
  adaptive_wait<>::wait_state barrier_wait, turn_wait, wake_wait;
  // The word on which the thread sleeps while it waits in a task.
  atomic<std::uint32_t> wake_word{0};
  adaptive_wait<> wake_sleep{0};
  // The teams that this thread has opened, one for each depth of nesting.
  std::vector<omp_team*> teams;
  unsigned depth = 0;
  // Objects that can be used again.
  spare_objects<workshare> free_workshares;
  spare_objects<task_with_data> free_tasks;
  spare_objects<taskgroup> free_groups;
  // Whether the thread runs the tasks that it makes at once, because it has queued many.
  bool has_queued_many = false;
  // The tasks on the thread's stack that run inside of their makers.
  unsigned nested = 0;
  std::vector<dependence> dependences_of_next;
  // Whether others copy from the thread's stack until they come to its next barrier, which then
  // waits for them even if the region is cancelled.
  bool is_copied_from = false;
  // The construct `teams` in which the thread is.
  unsigned num_teams = 1, team_num = 0;
  // The number that clang's programs see, from 0.
  int number = 0;
  // What clang's programs have said about the next region.
  unsigned pushed_threads = 0, pushed_bind = 0, pushed_teams = 0, pushed_limit = 0;
  // The CPUs of the workers that this thread makes, unless the environment binds threads. A worker
  // may itself use just these CPUs.
  cpu_set_t cpus{};
  bool is_worker = false;
  // The region of level 0, in which every thread is outside of parallel regions.
  omp_team* initial = nullptr;
  // Functions of regions whose objects have been read, by their hash (takeover.hpp).
  region_function checked[64] = {};
  // Whether the ranks of the next region run one after the other.
  bool opens_serially = false;
  // The threads and the places that OMP_DISPLAY_AFFINITY has shown last, of regions of level 1.
  unsigned shown_threads = 0;
  std::vector<placement> shown_placements;
  ompt::thread_part tool;
};

struct worker {
  published_region region;
  team_wait opening{0};
  // The opener alone writes this line. What follows is the worker's alone.
  alignas(cache_line) adaptive_wait<>::wait_state collecting;
  // When the region was published, if the worker slept then.
  std::uint64_t opened_ns = 0;
  alignas(cache_line) adaptive_wait<>::wait_state awaiting;
  // The word of the last region that the worker has seen.
  std::uint32_t seen = 0;
  unsigned number = 0;
  // The CPU to which the worker is bound since there were more threads than CPUs, or -1.
  int bound_cpu = -1;
  unsigned bound_place = 0;
  pthread_t handle{};
  // The CPUs that its maker could use, or none if the environment binds threads.
  cpu_set_t cpus{};
};

// The calling thread, whose object is made at its first call.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local thread* this_thread = nullptr;
thread& make_this_thread(bool is_worker = false);
inline thread& self() {
  thread* const me = this_thread;
  return me != nullptr ? *me : make_this_thread();
}

// Returns a team that no thread has, and a worker that has no team, for the rank. If `is_bound`, a
// new worker is bound to a CPU.
omp_team* new_team();
// Finds out which CPUs the calling thread may use, before it gets workers for the team.
void look_at_cpus(thread& me, omp_team& team);
// The number of CPUs that the calling thread may use, at most that of usable_processors(); if the
// environment binds threads, that of processors_before_binding().
unsigned processors_here();
worker* get_worker(unsigned rank, bool is_bound);
// Ends the workers of the calling thread and those that no thread has, for omp_pause_resource.
// Returns how many.
int release_threads();
// Lets no worker outlive the program if main() ends its thread instead of returning. The thread
// that starts the program calls it.
void watch_main();
// The number of threads that have called the runtime and have not ended.
int known_threads() noexcept;
// The CPUs of the machine, also those that the process may not use; 0 if the system does not tell.
unsigned cpus_of_machine();
// Whether the calling thread is the one that runs main().
bool is_initial_thread() noexcept;
// Whether the program is known to make tasks. If a region opened before it was known, its tasks run
// when they are made, because its barriers do not wait for tasks.
bool makes_tasks() noexcept;
void note_tasks() noexcept;

// The settings of the current task.
inline const settings& env(const thread& me) { return *me.now.current->env; }
// The same for a caller that is about to change one.
inline settings& env_to_change(thread& me) {
  task& t = *me.now.current;
  if (t.env != &t.own_env) {
    t.own_env = *t.env;
    t.env = &t.own_env;
  }
  return t.own_env;
}

}  // namespace tutti::openmp
