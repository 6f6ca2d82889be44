// SPDX-License-Identifier: Apache-2.0
// Parallel regions and the teams that run them.
//
// A thread that opens regions owns an `omp_team` for each depth of nesting and keeps it: a region
// for n threads uses the team's first n-1 workers, and threads are created only when a region needs
// more than any region before it. (tutti::team has a fixed size.) The memory of teams and threads
// is never freed, so a late thread may still read it. A worker frees its own when it ends.
//
// The workers' answers (threads.hpp) end a region. With more threads than CPUs, or if the program
// has tasks, the team's barrier ends it instead.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "preload/openmp/atomic.hpp"
#include "preload/openmp/barrier.hpp"
#include "preload/openmp/environment.hpp"
#include "preload/openmp/locks.hpp"
#include "preload/openmp/tasks.hpp"
#include "preload/openmp/threads.hpp"
#include "preload/openmp/workshares.hpp"
#include "tutti/wait/adaptive.hpp"

namespace tutti::openmp {

// What the other ranks of a team see of a rank.
struct alignas(cache_line) rank_slot {
  task_queue queue;
  // The tasks that this rank's thread has made and ended. Only that thread writes the counts.
  alignas(cache_line) atomic<std::uint64_t> made{0};
  atomic<std::uint64_t> ended{0};
  // The task in which the thread sleeps, its depth, and the thread.
  atomic<const task*> waits_in{nullptr};
  atomic<unsigned> depth{0};
  atomic<thread*> waiter{nullptr};
  // The order of combination (reproducible.hpp): how far the rank has come, and whether nobody may
  // wait for its turn.
  atomic<std::uint64_t> position{0};
  atomic<bool> is_away{false};
  // In a region that can be cancelled: the phase after the last barrier to which the rank has come,
  // and whether it has gone on to the end of a cancelled region.
  atomic<std::uint32_t> next_phase{0};
  atomic<bool> has_left{false};
};

// The state of a rank whose region runs one rank after the other.
enum class rank_state : unsigned char { runs, at_barrier, has_ended };

struct omp_team {
  // The opener writes these members before a region if they change, and the ranks read them.
  unsigned size = 1;
  unsigned level = 0, active_level = 0;
  // The threads that this region has taken of OMP_THREAD_LIMIT, beside its opener.
  unsigned limited_threads = 0;
  // Whether there are more threads than CPUs.
  bool is_crowded = false;
  // neighbours.hpp: whether others need the CPUs; how the threads of the team wait.
  bool has_neighbours = false;
  patience chosen;
  // Whether phases of the barrier may have the additional ticket.
  bool has_tasks = false;
  settings env;
  // What the opener returns to when the region ends.
  context outer;
  taskgroup* group = nullptr;
  std::vector<worker*> workers;
  // The CPUs that one of its workers or their opener could use when they were made, and how many
  // they are, unless the environment binds threads.
  cpu_set_t cpus{};
  unsigned cpu_count = UINT32_MAX;
  // The implicit tasks.
  std::vector<task*> implicit;
  // The places of the ranks, or none if threads are not bound.
  std::vector<placement> placements;
  unsigned num_teams = 1, team_num = 0;
  // The region of level 0 counts here the threads of its nested regions, if they are limited.
  atomic<unsigned> busy_threads{1};
  atomic<bool> is_cancelled{false};
  // The phase of the barrier in which the worksharing construct is that was cancelled last, plus
  // one, or 0. So the cancellation ends with the phase, and a thread that is late cannot end that
  // of the next construct.
  atomic<std::uint32_t> cancelled_phase{0};

  team_barrier barrier;
  // The barrier at the end of a cancelled region: some ranks have arrived at the other one, and
  // some have not.
  team_barrier after_cancellation;
  std::uint32_t phase_after_cancellation = 0;
  team_wait closing{0};
  // The waits in ordered and doacross loops.
  adaptive_wait<> turn_wait{0};

  // The construct at which the ranks begin, which distributes nothing.
  workshare root;
  // The first construct of the region that may not have been freed.
  alignas(cache_line) atomic<workshare*> oldest{nullptr};
  // The ranks of the last region that may not have left its barrier. Only the opener uses it.
  unsigned leaving = 1;
  // The values of `copyprivate`.
  atomic<void*> copied{nullptr};

  std::vector<rank_slot*> slots;
  // reproducible.hpp: whether ranks run one after the other, what each does, which one runs, and
  // the number of ranks that are away and hold a lock.
  bool is_serial = false;
  std::vector<rank_state> states;
  atomic<unsigned> away_with_lock{0};
  atomic<std::uint32_t> baton{0};
  adaptive_wait<> baton_wait{0};
  // The doacross loops of clang's interface that some ranks have begun and not all have ended, in
  // the order in which all come to them, and how many loops of the region came before these.
  std::deque<doacross_table*> doacross;
  unsigned ended_doacross = 0;
  // Task reductions of the whole region and of the present construct, and the ranks that use them.
  kmpc_reductions* shared_reductions[2] = {};
  unsigned reduction_users[2] = {};
  // Protects dependences, events, and what this struct has for clang's interface.
  alignas(cache_line) small_lock task_lock;
  // For reductions of clang's interface in a region that a function opens that combines values.
  small_lock reduction_lock;
  // Tasks that a thread outside of the team ended, with omp_fulfill_event.
  atomic<std::uint64_t> ended_elsewhere{0};
  // Ranks that sleep in a task.
  atomic<unsigned> idle{0};
  ompt::team_part tool;

  // neighbours.hpp: whether the last look said for the first time that others need the CPUs, and
  // when that look was. Only the opener uses them.
  alignas(cache_line) bool expects_neighbours = false;
  std::uint64_t looked_ns = 0;
};

// The number of threads of a region: `asked` of num_threads, or 0; `sections` of the construct, or
// 0.
unsigned threads_of_region(thread& me, unsigned asked, unsigned sections);
// Tells the tool that the calling thread opens a region. `flags` has an ompt_parallel_invoker_*.
void announce_region(thread& me, unsigned asked, int flags, ompt::call_site at);
// The clause proc_bind is for one region: the tasks of the region keep the setting, as with LLVM's
// runtime. With libgomp it is their setting.
constexpr unsigned keeps_bind = 1u << 31;
// Opens a region, which the caller then runs as rank 0. `flags` has the value of proc_bind in its
// low three bits and may have keeps_bind, `group` the region's task reductions, `first` the
// construct with which a combined region begins; both may be null.
omp_team& open_region(thread& me, region_function function, void* data, unsigned threads,
                      unsigned flags, taskgroup* group, const plan* first);
// Ends the caller's part of its region, and waits for the other ranks.
void close_region(thread& me);
// Enters a region of level 0 for the caller alone, and waits for all of its tasks and leaves it.
void open_alone(thread& me);
void close_alone(thread& me);
void run_as_worker(worker& me);
// The thread is outside of parallel regions from now on.
void leave_regions(thread& me);
// At the end of a cancelled region, when all of its tasks have ended: the rank leaves its groups.
// Rank 0 frees what the ranks have in common.
void discard_reductions(thread& me);
void discard_doacross(omp_team& team);
// What `cancel` and `cancellation point` do; `which` has the values of GCC's interface.
bool cancel(int which, bool does, ompt::call_site at);
bool is_at_cancelled_point(int which, ompt::call_site at);
// Waits until all workers have left the barrier of the last region. A worker that comes late from
// there may still look for tasks, so the team must not change before.
void wait_until_left(omp_team& team);

}  // namespace tutti::openmp
