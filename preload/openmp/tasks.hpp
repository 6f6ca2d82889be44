// SPDX-License-Identifier: Apache-2.0
// Tasks: their state, the queues in which they wait, and their life, for the interfaces of GCC's
// and of clang's runtimes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "preload/openmp/atomic.hpp"
#include "preload/openmp/environment.hpp"
#include "preload/openmp/locks.hpp"
#include "preload/openmp/ompt/parts.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::openmp {

using region_function = void (*)(void*);

struct context;
struct dependences;
struct kmpc_reductions;
struct omp_team;
struct thread;

// Groups and tasks are used again, but never freed, so a thread that ends the last task of a group
// may look for the waiter afterwards.
struct taskgroup {
  taskgroup* outer = nullptr;
  // The task reductions of GCC's interface and of clang's.
  std::uintptr_t* reductions = nullptr;
  kmpc_reductions* of_clang = nullptr;
  // Tasks that have not ended, and the thread that waits for them.
  atomic<unsigned> unfinished{0};
  atomic<thread*> waiter{nullptr};
  atomic<bool> is_cancelled{false};
  // Whether it belongs to a worksharing construct with task reductions.
  bool is_of_workshare = false;
};

// An implicit task, which is the part of a rank of its region, or an explicit one. Different
// threads write the tasks of a team in every region.
struct alignas(cache_line) task {
  // The task that made it; later perhaps an ancestor of that one, if that one has ended.
  task* parent = nullptr;
  omp_team* team = nullptr;
  // The task's settings: its parent's until it changes one, then its own.
  settings* env = nullptr;
  settings own_env;
  taskgroup* group = nullptr;
  region_function function = nullptr;
  void* data = nullptr;
  // Destroys the data of a task that is discarded, if it is not null.
  region_function destroy = nullptr;
  int priority = 0;
  // The number of explicit tasks of the region around this one.
  unsigned depth = 0;
  bool is_explicit = false;
  bool is_final = false;
  // Whether the maker runs it before it goes on.
  bool is_undeferred = false;
  // Whether the task ends only when omp_fulfill_event has been called too, and whether it waits.
  bool is_detachable = false;
  bool awaits_event = false;
  bool has_returned = false;
  bool is_done = false;
  bool is_cancellable = true;
  // Whether `parent` is the task that made it, which counts it.
  bool is_counted_by_parent = true;
  // Whether it has ended, though its memory may be in use.
  atomic<bool> has_ended{false};
  // Children that have not ended, and the thread that waits for them.
  atomic<unsigned> unfinished{0};
  atomic<thread*> waiter{nullptr};
  // The task itself, its children as long as their memory is in use, and entries of tables of
  // dependences refer to it.
  atomic<unsigned> references{1};
  // Whether tables of dependences know the task. Only then do the team's lock and the three members
  // below matter: tasks that must end before this one, and tasks that wait for this one.
  bool has_dependences = false;
  unsigned predecessors = 0;
  std::vector<task*> successors;
  dependences* depends = nullptr;
  // The neighbours in a rank's queue.
  task* older = nullptr;
  task* newer = nullptr;
  ompt::task_part* tool = nullptr;
};

// A task and its data, which are elsewhere if they are large.
struct task_with_data : task {
  void* allocated = nullptr;
  alignas(64) std::byte room[192];
};

// One entry of a `depend` clause: an address, or null for all memory.
struct dependence {
  const void* address = nullptr;
  bool writes = false;
  // Whether it is `mutexinoutset`, which is like `inout` here.
  bool is_mutex = false;
};

// A rank's tasks that may run. The owner takes the newest one and others take the oldest one, or
// everybody takes one of the highest priority. The count changes under the lock, too.
struct task_queue {
  small_lock lock;
  atomic<unsigned> count{0};
  task* oldest = nullptr;
  task* newest = nullptr;
  // The newest task of each priority of which there are any. It is made if priorities are in use.
  std::map<int, task*>* newest_of = nullptr;
};

// The values of GOMP_task's flags.
enum : unsigned {
  flag_untied = 1,
  flag_final = 2,
  flag_mergeable = 4,
  flag_depend = 8,
  flag_priority = 16,
  flag_up = 256,
  flag_grainsize = 512,
  flag_if = 1024,
  flag_nogroup = 2048,
  flag_reduction = 4096,
  flag_detach = 8192,
  flag_strict = 16384,
};

// ---- tasks.cpp: tasks and their memory

// Makes a child of the current task, with one reference, which its end drops.
task& new_task(thread& me);
// Returns memory for the task's data, which the task's end frees.
void* room_for_data(task& t, long size, long align);
void* copy_data(task& t, void* data, void (*copy)(void*, void*), long size, long align);
// Gives a reference back. The last one puts the task among the thread's free ones.
void drop(thread& me, task* t);
// Ends a task, and gives the reference back that it has from the beginning.
void end_life(thread& me, task& t);

// Begins and ends a rank's implicit task.
void init_implicit(task& t, omp_team& team, const context& outer);
void end_implicit(thread& me, task& t);

// ---- tasks.cpp: the life of a task

// Whether the task's group or region is cancelled.
bool is_cancelled(const task& t);
// Whether the task shall not run, because its group or region is cancelled.
bool is_discarded(const task& t);
// Ends a task that its maker has not submitted and does not run.
void discard(thread& me, task& t);
// Whether the task that the thread is about to make runs before its maker goes on. A task that
// waits for another one, or for an event, does so only if the program says it.
bool is_included(thread& me, bool if_clause, bool waits);
// Queues the task, or lets it wait for those on which it depends.
void submit(thread& me, task& t, std::span<const dependence> depend);
// Runs the task before it returns.
void run_at_once(thread& me, task& t, std::span<const dependence> depend);
// Ends a task that the caller has run, once its event has come, if it awaits one.
void end_at_once(thread& me, task& t);
// Runs a task that was queued, and ends it.
void execute(thread& me, task& t);
void wait_for_children(thread& me);
// Waits for those children that the list names.
void wait_for_dependences(thread& me, std::span<const dependence> depend, ompt::call_site at);
void wait_for_group(thread& me, taskgroup& group);
// What omp_fulfill_event does.
void fulfill(thread& me, task& t);

void start_group(thread& me, bool is_of_workshare);
// Waits for the tasks of the current group, and leaves it.
void end_group(thread& me);

// ---- task_queues.cpp

void push_task(thread& me, omp_team& team, task& t);
// Takes a task that may run inside of `within`, or any if that is null.
task* take_task(thread& me, omp_team& team, const task* within);
// The number of tasks in the queue into which the thread puts those that it makes. It may be out of
// date.
unsigned queued_by(const thread& me);
// Whether there is a task in a queue. The answer may be out of date.
bool has_tasks_queued(const omp_team& team);
// Whether all tasks have ended. Only the last rank at a barrier may rely on it.
bool have_all_ended(const omp_team& team);

// ---- dependences.cpp

// The caller holds the team's lock.
void add_dependences(thread& me, task& t, std::span<const dependence> list);
// Frees the table of the task, which makes no more children, or whose children have all ended.
// Those that have not ended know their successors themselves.
void forget_dependences(thread& me, task& t);
// The same for a task with a table whose children have all ended, unless the table is small: making
// it anew takes longer than keeping it.
void forget_if_large(thread& me, task& t);

// ---- task_reductions.cpp

void register_reductions(std::uintptr_t* data, std::uintptr_t* old, const std::uintptr_t* of_other,
                         unsigned threads);
void unregister_reductions(std::uintptr_t* data);

// ---- taskloop.cpp

// How the iterations of a loop are divided among tasks: each piece has `size` iterations, and each
// of the first `rest` pieces has one more.
struct taskloop_pieces {
  std::uint64_t count = 0, pieces = 1, size = 0, rest = 0;
  // The iterations of a piece before which `done` iterations come.
  std::uint64_t size_of(std::uint64_t piece, std::uint64_t done) const {
    return std::min(count - done, size + (piece < rest ? 1 : 0));
  }
};
// A grain of 0 means that the number of tasks is given; 0 tasks, that neither is.
taskloop_pieces divide_taskloop(std::uint64_t count, std::uint64_t grain, std::uint64_t tasks,
                                bool is_strict, unsigned threads);

}  // namespace tutti::openmp
