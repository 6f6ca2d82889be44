// SPDX-License-Identifier: Apache-2.0
// The queues of tasks: one for each rank, each with a lock of its own.
//
// The owner puts tasks at the newest end and takes them from there; others take the oldest one,
// which is usually the largest piece of work. A thread that waits inside of a task may only run
// descendants of that task (OpenMP's scheduling constraint), so a thief has to look at a task
// before it takes it, and has to take one from the middle. Therefore the queues are lists with
// locks, and not the deques of Chase and Lev (2005), from whose ends alone tasks can be taken. The
// lock is the owner's alone nearly always, since a thief first reads whether the queue has a task.
//
// *Who sees a new task?* A thread that makes a task queues it, and then looks for sleepers; a
// thread that goes to sleep says so, and then looks at the queues. Fences between the two steps let
// at least one of them see the other.
#include <map>

#include "preload/openmp/barrier.hpp"
#include "preload/openmp/environment.hpp"
#include "preload/openmp/tasks.hpp"
#include "preload/openmp/teams.hpp"
#include "preload/openmp/threads.hpp"
#include "tutti/platform/native.hpp"

namespace tutti::openmp {
namespace {

bool is_by_priority() { return global().max_task_priority > 0; }

// Priorities are those of the team, so one queue has all tasks if the program uses them.
task_queue& queue_for(const thread& me, const omp_team& team) {
  const bool is_rank = me.now.team == &team;
  return team.slots[is_rank && !is_by_priority() ? me.now.rank : 0]->queue;
}

// Under the queue's lock: notes the task as the newest one of its priority, and returns the last of
// those that come before it.
task* note_newest(task_queue& queue, task& t) {
  if (queue.newest_of == nullptr) queue.newest_of = new std::map<int, task*>;
  auto at = queue.newest_of->lower_bound(t.priority);
  task* const older = at != queue.newest_of->end() ? at->second : nullptr;
  if (older == nullptr || older->priority != t.priority)
    queue.newest_of->emplace_hint(at, t.priority, &t);
  else
    at->second = &t;
  return older;
}

// Under the queue's lock, too.
void forget_newest(task_queue& queue, const task& t) {
  const auto at = queue.newest_of->find(t.priority);
  if (at->second != &t) return;
  if (t.older != nullptr && t.older->priority == t.priority)
    at->second = t.older;
  else
    queue.newest_of->erase(at);
}

// Under the queue's lock.
void insert(task_queue& queue, task& t) {
  task* const older = is_by_priority() ? note_newest(queue, t) : queue.newest;
  t.older = older;
  t.newer = older != nullptr ? older->newer : queue.oldest;
  (t.newer != nullptr ? t.newer->older : queue.newest) = &t;
  (older != nullptr ? older->newer : queue.oldest) = &t;
  // relaxed: the fence of push_task orders it.
  queue.count.store(queue.count.load(relaxed) + 1, relaxed);
}

void remove(task_queue& queue, task& t) {
  if (is_by_priority()) forget_newest(queue, t);
  (t.newer != nullptr ? t.newer->older : queue.newest) = t.older;
  (t.older != nullptr ? t.older->newer : queue.oldest) = t.newer;
  // relaxed: a thread that reads more than there is looks in vain.
  queue.count.store(queue.count.load(relaxed) - 1, relaxed);
}

// A task has a reference to its parent, so its ancestors live.
bool descends(const task* parent, const task* from, unsigned depth) {
  while (parent->depth > depth) parent = parent->parent;
  return parent == from;
}

bool may_run(const task& t, const task* within) {
  return within == nullptr || descends(t.parent, within, within->depth);
}

// `end` is read under the lock.
task* take_first(task_queue& queue, task* const& end, task* task::*next, const task* within) {
  const locked guard(queue.lock);
  for (task* t = end; t != nullptr; t = t->*next) {
    if (!may_run(*t, within)) continue;
    remove(queue, *t);
    return t;
  }
  return nullptr;
}

// Take the first task that may run, from the newest to the oldest or the other way round.
task* take_newest(task_queue& queue, const task* within) {
  return take_first(queue, queue.newest, &task::older, within);
}
task* take_oldest(task_queue& queue, const task* within) {
  return take_first(queue, queue.oldest, &task::newer, within);
}

// Wakes the ranks that sleep in an ancestor of the new task.
void wake_idle(omp_team& team, const task* parent) {
  for (unsigned rank = 0; rank < team.size; ++rank) {
    rank_slot& slot = *team.slots[rank];
    // relaxed: the fence of push_task orders them.
    const task* const within = slot.waits_in.load(relaxed);
    if (within == nullptr || !descends(parent, within, slot.depth.load(relaxed))) continue;
    if (thread* const waiter = slot.waiter.load(relaxed)) wake(*waiter);
  }
}

}  // namespace

void push_task(thread& me, omp_team& team, task& t) {
  // The task may have ended when this function looks for sleepers; the caller keeps its parent.
  const task* const parent = t.parent;
  {
    task_queue& queue = queue_for(me, team);
    const locked guard(queue.lock);
    insert(queue, t);
  }
  // It orders the count and what follows, by a fence that pairs with those of threads that sleep.
  team.barrier.announce_task(me.now.team == &team ? &me.now.phase : nullptr);
  // All look whether the region is cancelled, too.
  if (global().can_cancel) wake_barriers(team);
  // relaxed: the fence orders it.
  if (team.idle.load(relaxed) != 0) wake_idle(team, parent);
}

unsigned queued_by(const thread& me) {
  // relaxed: a hint.
  return queue_for(me, *me.now.team).count.load(relaxed);
}

task* take_task(thread& me, omp_team& team, const task* within) {
  task_queue& mine = queue_for(me, team);
  // relaxed: the caller's fence orders it if the caller is about to sleep.
  if (mine.count.load(relaxed) != 0) {
    task* const t = is_by_priority() ? take_oldest(mine, within) : take_newest(mine, within);
    if (t != nullptr) return t;
  }
  if (is_by_priority()) return nullptr;
  for (unsigned i = 1; i < team.size; ++i) {
    const unsigned rank = me.now.rank + i;
    task_queue& other = team.slots[rank < team.size ? rank : rank - team.size]->queue;
    // relaxed: see above.
    if (other.count.load(relaxed) == 0) continue;
    if (task* const t = take_oldest(other, within)) return t;
  }
  return nullptr;
}

bool has_tasks_queued(const omp_team& team) {
  for (unsigned rank = 0; rank < team.size; ++rank)
    // relaxed: a hint.
    if (team.slots[rank]->queue.count.load(relaxed) != 0) return true;
  return false;
}

// Reads all ends before all beginnings. Whoever reads that a task has ended also reads that it, and
// what it made, began; so if the sums are equal, each task that has begun has ended.
bool have_all_ended(const omp_team& team) {
  // acquire: pairs with the ends of tasks.
  std::uint64_t ended = team.ended_elsewhere.load(acquire), made = 0;
  // acquire: see above.
  for (unsigned rank = 0; rank < team.size; ++rank) ended += team.slots[rank]->ended.load(acquire);
  // relaxed: see above.
  for (unsigned rank = 0; rank < team.size; ++rank) made += team.slots[rank]->made.load(relaxed);
  return made == ended;
}

}  // namespace tutti::openmp
