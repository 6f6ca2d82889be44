// SPDX-License-Identifier: Apache-2.0
// Threads: those that the program makes, which the runtime meets at their first call, and the
// workers that it creates. A thread that ends gives its workers to the next one that needs some.
// After fork the child has no workers, and makes new ones when it opens a region.
#include "preload/openmp/threads.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>

#include "preload/free_list.hpp"
#include "preload/openmp/environment.hpp"
#include "preload/openmp/locks.hpp"
#include "preload/openmp/ompt/events.hpp"
#include "preload/openmp/ompt/tool.hpp"
#include "preload/openmp/places.hpp"
#include "preload/openmp/takeover.hpp"
#include "preload/openmp/teams.hpp"
#include "tutti/platform/cpu.hpp"
#include "tutti/platform/free_core.hpp"
#include "tutti/platform/futex.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/platform/usable_cpus.hpp"

namespace tutti::openmp {
namespace {

struct free_workers {
  small_lock lock;
  std::vector<worker*> workers;
  std::vector<omp_team*> teams;
  // The objects of threads that have ended. They are used again and never freed, because a thread
  // that ends a task may still wake the one that waited for it.
  std::vector<thread*> ended;
  unsigned made = 0;
  // The thread that ran main() has ended, and the program goes on as long as others live.
  bool is_main_over = false;
};
// Never destroyed, because workers outlive the destructors of static objects.
free_workers& pool() {
  static free_workers& one = *new free_workers;
  return one;
}

atomic<bool> program_has_tasks{false};

// The threads that have called the runtime, and those of them that have not ended.
atomic<int> threads_made{0}, threads_alive{0};

pthread_key_t end_of_thread;

void give_back(thread& me) {
  free_workers& p = pool();
  const locked guard(p.lock);
  for (omp_team* const c : me.teams) {
    wait_until_left(*c);
    p.workers.insert(p.workers.end(), c->workers.begin(), c->workers.end());
    c->workers.clear();
    p.teams.push_back(c);
  }
  me.teams.clear();
}

// Ends the workers that no thread has. The caller holds the lock. Returns how many.
int end_idle_workers(free_workers& p) {
  for (worker* const w : p.workers) {
    w->region.function = nullptr;
    // relaxed: only the owner of the worker opens regions. release: publishes the end; pairs with
    // work.
    w->region.word.store((w->region.word.load(relaxed) & ~3u) + 4 + published_region::opened,
                         release);
    w->opening.notify(w->region.word);
  }
  const auto ended = static_cast<int>(p.workers.size());
  p.workers.clear();
  return ended;
}

void end_this_thread(void* raw) {
  thread& me = *static_cast<thread*>(raw);
  // A region is open if the program ends a thread inside of it.
  const bool is_outside = me.depth == 0;
  task& whole = *me.initial->implicit[0];
  if (is_outside) give_back(me);
  ompt::end_thread(me);
  // The tool's list has all threads, until the program ends. Tasks that await an event refer to the
  // thread's own task.
  // acquire: pairs with the ends of tasks.
  const bool can_be_renewed = is_outside && !ompt::is_on() && whole.unfinished.load(acquire) == 0;
  if (can_be_renewed) {
    free_workshares(me, *me.initial);
    end_implicit(me, whole);
    ompt::forget_part(whole);
  }
  me.free_workshares.give_all();
  me.free_tasks.give_all();
  me.free_groups.give_all();
  this_thread = nullptr;
  // relaxed: a count.
  threads_alive.fetch_sub(1, relaxed);
  free_workers& p = pool();
  const locked guard(p.lock);
  if (can_be_renewed) p.ended.push_back(&me);
  if (p.is_main_over) end_idle_workers(p);
}

// The key's destructor runs if main() does not return but ends its thread. The process lives as
// long as any thread does, and idle workers must not be the last.
void end_main(void*) {
  free_workers& p = pool();
  const locked guard(p.lock);
  p.is_main_over = true;
  end_idle_workers(p);
}

// Makes an object new. The memory stays valid for others.
template <class T>
T& renew(T& old) {
  old.~T();
  return *new (&old) T;
}

// Returns the state of a thread, with that of the region of level 0.
thread& new_thread() {
  thread* made = nullptr;
  {
    free_workers& p = pool();
    const locked guard(p.lock);
    if (!p.ended.empty()) {
      made = p.ended.back();
      p.ended.pop_back();
    }
  }
  if (made == nullptr) {
    made = new thread;
    made->initial = new omp_team;
    made->initial->implicit.push_back(new task);
    made->initial->slots.push_back(new rank_slot);
    return *made;
  }
  omp_team& alone = *made->initial;
  task* const whole = &renew(*alone.implicit[0]);
  rank_slot* const slot = &renew(*alone.slots[0]);
  renew(alone);
  alone.implicit.push_back(whole);
  alone.slots.push_back(slot);
  renew(*made).initial = &alone;
  return *made;
}

void forget_workers() {
  free_workers& p = pool();
  reset_looks();
  p.lock.reset();
  spare_objects<workshare>::reset_shared();
  spare_objects<task_with_data>::reset_shared();
  spare_objects<taskgroup>::reset_shared();
  p.workers.clear();
  thread* const me = this_thread;
  // relaxed: there is only one thread.
  threads_alive.store(me != nullptr ? 1 : 0, relaxed);
  ompt::keep_only(me);
  if (me == nullptr) return;
  for (omp_team* const c : me->teams) {
    // A region that was open goes on with this thread alone.
    c->workers.clear();
    c->size = c->leaving = 1;
    c->task_lock.reset();
    c->reduction_lock.reset();
    for (rank_slot* const slot : c->slots) slot->queue.lock.reset();
  }
  // The objects count sleepers that the child does not have, so the next regions use new ones.
  if (me->depth == 0) me->teams.clear();
}

void prepare_once() {
  pthread_key_create(&end_of_thread, end_this_thread);
  pthread_atfork(
      [] {
        lock_looks();
        pool().lock.lock();
        spare_objects<workshare>::lock_shared();
        spare_objects<task_with_data>::lock_shared();
        spare_objects<taskgroup>::lock_shared();
      },
      [] {
        unlock_looks();
        pool().lock.unlock();
        spare_objects<workshare>::unlock_shared();
        spare_objects<task_with_data>::unlock_shared();
        spare_objects<taskgroup>::unlock_shared();
      },
      forget_workers);
}

unsigned count_of(const cpu_set_t& cpus) { return static_cast<unsigned>(CPU_COUNT(&cpus)); }

// The CPUs that the calling thread may use: as with libgomp, its workers may use the same, so a
// program that has given up CPUs gets none of them back.
cpu_set_t cpus_here() {
  cpu_set_t mine;
  if (sched_getaffinity(0, sizeof mine, &mine) == 0 && count_of(mine) != 0) return mine;
  CPU_ZERO(&mine);
  for (const unsigned cpu : process_cpus()) CPU_SET(cpu % CPU_SETSIZE, &mine);
  return mine;
}

// The CPU that is `steps` after the first one, beginning again at the end.
unsigned cpu_of(const cpu_set_t& cpus, unsigned steps) {
  unsigned left = steps % count_of(cpus), cpu = 0;
  while (!CPU_ISSET(cpu, &cpus) || left-- != 0) ++cpu;
  return cpu;
}

// Where the worker of a rank begins: not on the CPU of the opener, which works there.
unsigned cpu_of_worker(const worker& w, unsigned rank) {
  unsigned steps = rank;
  for (unsigned cpu = 0, here = platform::current_cpu(); cpu < here && cpu < CPU_SETSIZE; ++cpu)
    steps += CPU_ISSET(cpu, &w.cpus) ? 1 : 0;
  return cpu_of(w.cpus, steps);
}

unsigned cpu_when_crowded(const worker& w) { return cpu_of(w.cpus, w.number); }

cpu_set_t only(unsigned cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  return one;
}

// The regions that the worker has begun.
constinit thread_local std::uint32_t regions_here = 0;

void begin_on(unsigned cpu, pthread_attr_t& attributes) {
  const cpu_set_t one = only(cpu);
  pthread_attr_setaffinity_np(&attributes, sizeof one, &one);
}

// The worker has slept, and the region begins. If that took longer than a slice of the scheduler,
// another process uses the core, unless it is the opener's.
void look_at_core(const worker& me, platform::core_leaver& leaver) {
  constexpr std::uint64_t slice_ns = 1'200'000;
  const std::uint64_t now = native::now_ns();
  if (native::cpu() != me.region.waker_cpu && now - me.opened_ns > slice_ns)
    leaver.was_kept_from_running(me.opened_ns, now);
}

// Counts the regions and the barriers of this worker; the number wraps around.
std::uint32_t waits_of_worker() noexcept {
  const omp_team* const team = this_thread->now.team;
  if (team == nullptr) return regions_here;
  return regions_here + team->barrier.phases(team->size);
}

void* work(void* raw) {
  worker& me = *static_cast<worker*>(raw);
  char name[16];
  std::snprintf(name, sizeof name, "tutti-omp-%u", me.number);
  // The thread itself needs no file in /proc for it.
  prctl(PR_SET_NAME, name);
  thread& mine = make_this_thread(true);
  mine.cpus = me.cpus;
  platform::core_leaver leaver(me.cpus, cpus_of_machine(), waits_of_worker);
  if (places_ == nullptr && me.bound_cpu < 0) {
    // It begins on one CPU and is not bound to it.
    sched_setaffinity(0, sizeof me.cpus, &me.cpus);
    platform::core_leaver_here = &leaver;
  }
  for (;;) {
    // relaxed: the load below acquires.
    me.opening.until(me.awaiting, me.region.word, relaxed,
                     [seen = me.seen](std::uint32_t now) { return now != seen; });
    // acquire: pairs with the opener's store.
    me.seen = me.region.word.load(acquire);
    if (me.region.function == nullptr) break;
    regions_here = me.seen >> 2;
    if (me.region.waker_cpu >= 0 && platform::core_leaver_here != nullptr) {
      native::leave_cpu(me.region.waker_cpu);
      look_at_core(me, leaver);
    }
    if (places_ == nullptr && me.region.is_bound != (me.bound_cpu >= 0)) {
      me.bound_cpu = me.region.is_bound ? static_cast<int>(cpu_when_crowded(me)) : -1;
      const cpu_set_t mask =
          me.region.is_bound ? only(static_cast<unsigned>(me.bound_cpu)) : me.cpus;
      sched_setaffinity(0, sizeof mask, &mask);
      platform::core_leaver_here = me.region.is_bound ? nullptr : &leaver;
    }
    run_as_worker(me);
  }
  platform::core_leaver_here = nullptr;
  // Destructors of the program may ask where the thread is.
  leave_regions(mine);
  {
    // The one that ended this worker holds the lock until it has done with it.
    const locked guard(pool().lock);
  }
  delete &me;
  return nullptr;
}

}  // namespace

unsigned cpus_of_machine() {
  static const long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? static_cast<unsigned>(count) : 0;
}

void small_lock::lock_slowly() noexcept {
  // An owner that runs on another core gives the lock back soon, but may take it again at once and
  // many times. To sleep then costs both threads a system call each time.
  const thread* const me = this_thread;
  // Between two regions a worker of a program with tasks has no team.
  const bool is_patient = me != nullptr && me->now.team != nullptr && !me->now.team->is_crowded &&
                          global().wait_policy != 0;
  const int polls_between_yields = is_patient ? 256 : 0;
  for (int poll = 0; poll < 64; ++poll) {
    platform::poll_gap();
    // relaxed: try_lock acquires.
    if (word_.load(relaxed) == 0 && try_lock()) return;
  }
  // The owner may wait for this core.
  for (int turn = 0; turn < 32; ++turn) {
    sched_yield();
    // relaxed: try_lock acquires.
    if (word_.load(relaxed) == 0 && try_lock()) return;
    for (int poll = 0; poll < polls_between_yields; ++poll) {
      platform::poll_gap();
      // relaxed: try_lock acquires.
      if (word_.load(relaxed) == 0 && try_lock()) return;
    }
  }
  // acquire: pairs with unlock.
  while (word_.exchange(2, acquire) != 0) platform::futex_wait(&word_, 2, platform::forever_ns);
}

void small_lock::wake_one() noexcept { platform::futex_wake_one(&word_); }

thread& make_this_thread(bool is_worker) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, prepare_once);
  thread& me = new_thread();
  // relaxed: the numbers only differ.
  me.number = threads_made.fetch_add(1, relaxed);
  // relaxed: a count.
  threads_alive.fetch_add(1, relaxed);
  omp_team& alone = *me.initial;
  alone.env = global().first;
  me.now.team = &alone;
  me.now.last_workshare = &alone.root;
  context outside;
  init_implicit(*alone.implicit[0], alone, outside);
  me.now.current = alone.implicit[0];
  // The other threads of the program keep their CPUs until they need a place.
  if (is_initial_thread()) take_place(me.now);
  pthread_setspecific(end_of_thread, &me);
  me.is_worker = is_worker;
  this_thread = &me;
  ompt::begin_thread(me, is_worker);
  return me;
}

omp_team* new_team() {
  free_workers& p = pool();
  const locked guard(p.lock);
  return take_or_make(p.teams);
}

void look_at_cpus(thread& me, omp_team& team) {
  if (places_ != nullptr) return;
  if (!me.is_worker) me.cpus = cpus_here();
  if (team.workers.empty()) CPU_ZERO(&team.cpus);
  CPU_OR(&team.cpus, &team.cpus, &me.cpus);
  team.cpu_count = count_of(team.cpus);
}

unsigned processors_here() {
  const thread& me = self();
  if (places_ != nullptr) return processors_before_binding();
  return std::min(count_of(me.is_worker ? me.cpus : cpus_here()), usable_processors());
}

worker* get_worker(unsigned rank, bool is_bound) {
  const thread& me = self();
  free_workers& p = pool();
  const locked guard(p.lock);
  const auto last = std::find_if(p.workers.rbegin(), p.workers.rend(), [&me](const worker* w) {
    return CPU_EQUAL(&w->cpus, &me.cpus) != 0;
  });
  if (last != p.workers.rend()) {
    worker* const w = *last;
    p.workers.erase(std::next(last).base());
    return w;
  }
  worker* const w = new worker;
  w->number = ++p.made;
  w->cpus = me.cpus;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  // A size that is too small was reported when the environment was read.
  if (global().stack_bytes != 0) pthread_attr_setstacksize(&attributes, global().stack_bytes);
  const bool begins_on_one =
      places_ == nullptr && (is_bound || platform::runnable_tasks() < cpus_of_machine());
  if (begins_on_one) {
    const unsigned cpu = cpu_of_worker(*w, rank);
    if (is_bound) w->bound_cpu = static_cast<int>(cpu);
    begin_on(cpu, attributes);
  }
  int error = pthread_create(&w->handle, &attributes, work, w);
  if (error != 0 && begins_on_one) {
    // A sandbox may forbid to choose the CPU, and the process may have lost it since it started.
    w->bound_cpu = -1;
    // A set of no bytes takes the last one away.
    pthread_attr_setaffinity_np(&attributes, 0, &w->cpus);
    error = pthread_create(&w->handle, &attributes, work, w);
  }
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    // The program's functions that exit() calls may open regions.
    p.lock.unlock();
    fatal("Thread creation failed: %s", strerror(error));
  }
  return w;
}

int release_threads() {
  thread& me = self();
  if (me.depth != 0) return 0;
  give_back(me);
  me.shown_threads = 0;
  free_workers& p = pool();
  const locked guard(p.lock);
  return end_idle_workers(p);
}

void watch_main() {
  if (!is_initial_thread()) return;
  pthread_key_t key;
  // The destructor of a key runs for a value that is not null.
  if (pthread_key_create(&key, end_main) == 0) pthread_setspecific(key, &pool());
}

// relaxed: a hint.
int known_threads() noexcept { return threads_alive.load(relaxed); }
bool is_initial_thread() noexcept { return gettid() == getpid(); }

// relaxed: a late reader only runs its tasks at once.
bool makes_tasks() noexcept { return program_has_tasks.load(relaxed); }
void note_tasks() noexcept {
  // relaxed: see above.
  if (!program_has_tasks.load(relaxed)) program_has_tasks.store(true, relaxed);
}

}  // namespace tutti::openmp
