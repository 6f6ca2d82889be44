// SPDX-License-Identifier: Apache-2.0
// The objects of the OpenMP runtime: threads, crews, tasks, shares of work, and settings.
//
// A *crew* is the team of one parallel region (OpenMP's team; tutti::team has a fixed size, a crew
// has not). A thread that opens regions owns a crew for each depth of nesting and keeps it: a
// region for n threads uses the crew's first n-1 workers, and threads are created only when a
// region needs more than any region before it. The memory of crews, workers and threads is never
// freed, so a late thread may still read it.
//
// *How a region opens and ends.* Each worker has a line of its own, on which it waits for work. The
// opener writes the job there, as team/fork_join.hpp does, and the worker answers on the same line.
// With more threads than CPUs, or if the program has tasks, the crew's gate ends the region
// instead.
#pragma once

#include <link.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tutti/platform/config.hpp"
#include "tutti/wait/adaptive.hpp"

namespace tutti::openmp {

using region_function = void (*)(void*);
using wait_state = adaptive_wait<>::wait_state;

struct crew;
enum class rank_state : unsigned char { runs, at_barrier, has_ended };
struct doacross_table;
struct kmpc_reductions;
struct task;
struct thread;

// ---- settings that each task has (the data environment's internal control variables)

// The values of omp_sched_t.
enum : unsigned {
  schedule_runtime = 0,
  schedule_static = 1,
  schedule_dynamic = 2,
  schedule_guided = 3,
  schedule_auto = 4,
  schedule_monotonic = 0x80000000u,
};

// The values of omp_proc_bind_t.
enum : unsigned char {
  bind_false = 0,
  bind_true = 1,
  bind_primary = 2,
  bind_close = 3,
  bind_spread = 4
};

struct settings {
  unsigned threads = 1;
  unsigned schedule = schedule_dynamic;
  long chunk = 1;
  int device = 0;
  unsigned thread_limit = UINT32_MAX;
  bool is_dynamic = false;
  unsigned char bind = bind_false;
  unsigned char max_active_levels = 1;
  std::uintptr_t allocator = 1;
  bool operator==(const settings&) const = default;
};

// ---- locks

// A lock of four bytes, which a lock of libgomp has too. Waiters poll for a moment, then sleep.
class small_lock {
 public:
  constexpr small_lock() noexcept = default;
  bool try_lock() noexcept {
    std::uint32_t free = 0;
    // acquire: pairs with unlock. relaxed: a failure reads nothing.
    return word_.compare_exchange_strong(free, 1, acquire, relaxed);
  }
  void lock() noexcept {
    if (!try_lock()) lock_slowly();
  }
  void unlock() noexcept {
    // release: publishes what was written under the lock; pairs with lock.
    if (word_.exchange(0, release) == 2) wake_one();
  }
  // For a lock that a thread of the parent process may have held when this process was forked.
  void reset() noexcept {
    // relaxed: there is only one thread.
    word_.store(0, relaxed);
  }

 private:
  void lock_slowly() noexcept;
  void wake_one() noexcept;
  // 0: free, 1: taken, 2: taken, and threads may sleep.
  std::atomic<std::uint32_t> word_{0};
};
static_assert(sizeof(small_lock) == 4);

class locked {
 public:
  explicit locked(small_lock& lock) noexcept : lock_(lock) { lock_.lock(); }
  ~locked() { lock_.unlock(); }
  locked(const locked&) = delete;
  locked& operator=(const locked&) = delete;

 private:
  small_lock& lock_;
};

// ---- the gate: where all threads of a crew meet

// Each phase has as many tickets as threads, and the last ticket ends it. If the crew may have
// tasks, a phase has one ticket more, which is drawn when all threads have come and no task is left.
// The lowest bit tells the waiters that there is a task to run, or something else to look at.
struct gate {
  static constexpr std::uint32_t ticket = 2, bell = 1;
  static constexpr std::uint32_t tickets_of(std::uint32_t word) noexcept { return word & ~bell; }
  static constexpr bool has_passed(std::uint32_t word, std::uint32_t end) noexcept {
    return static_cast<std::int32_t>(tickets_of(word) - end) >= 0;
  }

  alignas(cache_line) std::atomic<std::uint32_t> word{0};
  adaptive_wait<> wait{0};

  // Begins a new count and returns it. All threads of the last region have left by now, or need
  // nothing but to see that their phase has ended.
  std::uint32_t restart() noexcept;
  // Wakes the waiters so that they look again.
  void ring() noexcept;
  // The caller looks afterwards whether there is something to do.
  void silence() noexcept;
};

// ---- work that the threads of a crew share

// One construct that distributes work: a loop, sections, a scope. The first thread that comes makes
// it and appends it to the last one; each thread follows the chain at its own pace. The last thread
// that moves on frees it.
struct plan {
  unsigned schedule = schedule_static;
  bool is_ordered = false;
  // Iteration i has the value first + i * step; after the last one comes `end`. Arithmetic wraps
  // around, so it serves signed and unsigned loops, up and down.
  std::uint64_t first = 0, step = 1, end = 0, count = 0;
  std::uint64_t chunk = 1;
  // Memory for all threads, which `scan` uses.
  std::size_t memory_bytes = 0;
  std::uintptr_t* reductions = nullptr;
  // The extents of a doacross loop.
  std::vector<std::uint64_t> extents;
};

struct share : plan {
  std::atomic<share*> next{nullptr};
  std::atomic<unsigned> passed{0};
  void* memory = nullptr;
  // How far each thread (static) or each chunk of the outer doacross loop has come.
  std::atomic<std::uint64_t>* progress = nullptr;
  // The number of iterations handed out. The lock keeps it and the number of chunks together, for
  // ordered loops.
  alignas(cache_line) std::atomic<std::uint64_t> taken{0};
  std::uint64_t chunks = 0;
  small_lock lock;
  // The chunk whose ordered region may run.
  alignas(cache_line) std::atomic<std::uint32_t> turn{0};
  adaptive_wait<> turn_wait{0};
  adaptive_wait<> progress_wait{0};
};

// ---- tasks

// Groups and tasks are used again, but never freed, so a thread that ends the last task of a group
// may look for the waiter afterwards.
struct taskgroup {
  taskgroup* outer = nullptr;
  std::uintptr_t* reductions = nullptr;
  kmpc_reductions* of_clang = nullptr;
  // Tasks that have not ended, and the thread that waits for them.
  std::atomic<unsigned> unfinished{0};
  std::atomic<thread*> waiter{nullptr};
  std::atomic<bool> is_cancelled{false};
  // Belongs to a worksharing construct with task reductions.
  bool is_of_share = false;
};

struct dependences;

struct task {
  task* parent = nullptr;
  crew* team = nullptr;
  settings* env = nullptr;
  settings own_env;
  taskgroup* group = nullptr;
  region_function function = nullptr;
  void* data = nullptr;
  int priority = 0;
  // The number of explicit tasks of the region around this one.
  unsigned depth = 0;
  bool is_explicit = false;
  bool is_final = false;
  bool is_undeferred = false;
  // Whether the task ends only when omp_fulfill_event has been called too, and whether it waits.
  bool is_detachable = false;
  bool awaits_event = false;
  bool has_returned = false;
  bool is_done = false;
  bool is_cancellable = true;
  // Children that have not ended, and the thread that waits for them.
  std::atomic<unsigned> unfinished{0};
  std::atomic<thread*> waiter{nullptr};
  // The task itself, its children, and entries of tables of dependences refer to it.
  std::atomic<unsigned> references{1};
  // Whether tables of dependences know the task. Only then do the crew's lock and the three members
  // below matter: tasks that must end before this one, and tasks that wait for this one.
  bool has_dependences = false;
  unsigned predecessors = 0;
  std::vector<task*> successors;
  dependences* depends = nullptr;
  // The neighbours in a rank's queue.
  task* older = nullptr;
  task* newer = nullptr;
};

// One that depends on an address, or on all memory.
struct dependence {
  const void* address = nullptr;
  bool writes = false;
};

// What a rank has of the tasks of its crew.
struct alignas(cache_line) desk {
  // The queue: tasks that may run. The owner takes the newest one and others take the oldest one, or
  // everybody takes one of the highest priority. The count changes under the lock, too.
  small_lock lock;
  std::atomic<unsigned> count{0};
  task* oldest = nullptr;
  task* newest = nullptr;
  // The tasks that this rank's thread has made and ended. Only that thread writes the counts.
  alignas(cache_line) std::atomic<std::uint64_t> made{0};
  std::atomic<std::uint64_t> ended{0};
  // The task in which the thread sleeps, its depth, and the thread.
  std::atomic<const task*> waits_in{nullptr};
  std::atomic<unsigned> depth{0};
  std::atomic<thread*> waiter{nullptr};
  // How far the rank has come in the order of combination (reproducible.hpp).
  std::atomic<std::uint64_t> position{0};
  std::atomic<bool> is_away{false};
};

// ---- threads

// What changes when a thread enters a region.
struct context {
  crew* team = nullptr;
  unsigned rank = 0;
  unsigned level = 0, active_level = 0;
  task* current = nullptr;
  share* last_share = nullptr;
  std::uint64_t static_trip = 0;
  // The chunk of an ordered loop that this thread holds, if any.
  std::uint32_t my_chunk = 0;
  bool has_chunk = false;
  // The tickets of the gate when the present phase began, and the constructs `single` passed.
  std::uint32_t phase = 0;
  std::uint32_t singles = 0;
  // The loops with dependences of clang's interface that this thread has begun, and the last one.
  unsigned doacross_loops = 0;
  std::uint64_t position = 0;
  // The locks that it holds, and the late tasks that it is in (reproducible.hpp).
  unsigned locks = 0, late_tasks = 0;
  doacross_table* doacross = nullptr;
  // Its place, 0 if it has none, and the places of its region.
  unsigned place = 0, first_place = 0, places = 0;
  bool operator==(const context&) const = default;
};

struct alignas(cache_line) dock {
  // The low two bits tell what the number is: an opening or an arrival.
  static constexpr std::uint32_t opened = 1, arrived = 2;
  std::atomic<std::uint32_t> word{0};
  std::uint32_t rank = 0;
  region_function function = nullptr;
  void* data = nullptr;
  crew* team = nullptr;
  std::uint32_t phase = 0;
  std::uint32_t singles = 0;
  unsigned place = 0;
  bool is_crowded = false;
};
static_assert(sizeof(dock) == cache_line);

struct thread {
  context now;
  wait_state gate_wait, turn_wait, bell_wait;
  // Rings when something has happened for which the thread waits in a task.
  std::atomic<std::uint32_t> bell{0};
  adaptive_wait<> bell_sleep{0};
  // The crews that this thread has opened, one for each depth.
  std::vector<crew*> crews;
  unsigned depth = 0;
  // Shares that can be used again.
  std::vector<share*> free_shares;
  std::vector<task*> free_tasks;
  std::vector<taskgroup*> free_groups;
  std::vector<dependence> dependences_of_next;
  unsigned num_teams = 1, team_num = 0;
  // The number that clang's programs see, from 0.
  int number = 0;
  // What they have said about the next region.
  unsigned pushed_threads = 0, pushed_bind = 0, pushed_teams = 0, pushed_limit = 0;
  // The level-0 region that every thread outside of regions is in.
  crew* initial = nullptr;
  // Functions of regions whose objects have been read, by their hash.
  region_function checked[64] = {};
  // Whether the ranks of the next region run one after the other.
  bool opens_serially = false;
};

struct worker {
  dock line;
  adaptive_wait<> opening{0};
  wait_state awaiting, collecting;
  std::uint32_t seen = 0;
  unsigned number = 0;
  // The CPU to which the worker is bound since there were more threads than CPUs, or -1.
  int bound_cpu = -1;
  unsigned bound_place = 0;
  pthread_t handle{};
};

struct crew {
  // Written by the opener before a region, read by its ranks.
  unsigned size = 1;
  // The ranks of the last region that may not have left its gate.
  unsigned leaving = 1;
  unsigned level = 0, active_level = 0;
  bool is_crowded = false;
  // Whether phases have the additional ticket.
  bool has_tasks = false;
  settings env;
  context outer;
  taskgroup* group = nullptr;
  std::vector<worker*> workers;
  // The implicit tasks.
  std::vector<task*> implicit;
  unsigned first_place = 0, places = 0;
  unsigned num_teams = 1, team_num = 0;

  gate meeting;
  // The gate of a cancelled region: some ranks have arrived at the other one, and some have not.
  gate after_cancellation;
  std::uint32_t phase_after_cancellation = 0;
  adaptive_wait<> closing{0};

  share root;
  // The share at which the ranks begin.
  share* begin = &root;
  // The first share of the region that may not have been freed.
  std::atomic<share*> oldest{nullptr};
  alignas(cache_line) std::atomic<std::uint32_t> singles{0};
  std::atomic<void*> copied{nullptr};

  std::atomic<bool> is_cancelled{false};
  std::atomic<bool> is_share_cancelled{false};

  std::vector<desk*> desks;
  // Whether ranks run one after the other, and which one runs (reproducible.hpp).
  bool is_serial = false;
  std::vector<rank_state> states;
  std::atomic<unsigned> away_with_lock{0};
  std::atomic<std::uint32_t> baton{0};
  adaptive_wait<> baton_wait{0};
  // The loops with dependences of clang's interface, by the order in which ranks come to them.
  std::vector<doacross_table*> doacross;
  // Task reductions of the whole region and of the present construct, and the ranks that share them.
  kmpc_reductions* shared_reductions[2] = {};
  unsigned reduction_users[2] = {};
  // Dependences and events.
  alignas(cache_line) small_lock task_lock;
  // Tasks that a thread of no rank ended, with omp_fulfill_event.
  std::atomic<std::uint64_t> ended_elsewhere{0};
  // Ranks that sleep in a task.
  std::atomic<unsigned> idle{0};
};

// The calling thread, which is made at its first call.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local thread* this_thread = nullptr;
thread& make_this_thread();
inline thread& self() {
  thread* const me = this_thread;
  return me != nullptr ? *me : make_this_thread();
}

// ---- functions of the files

// threads.cpp
crew* new_crew();
worker* hire_worker();
int made_threads() noexcept;
bool is_first_thread() noexcept;
bool has_tasks_by_now() noexcept;
void note_tasks() noexcept;
void release_threads();

// region.cpp
unsigned threads_of_region(thread& me, unsigned asked, unsigned sections);
crew& open_region(thread& me, region_function function, void* data, unsigned threads,
                  unsigned flags, taskgroup* group, const plan* first);
void close_region(thread& me);
void run_as_worker(worker& me);
// A worker that comes late from the gate of the last region may still look for tasks there, so the
// crew must not change before it has left.
void wait_until_left(crew& team);

// barrier.cpp
// Waits for all ranks and, if the crew has tasks, until all have ended. Returns true if the region
// is cancelled; only then do callers that can be cancelled stop waiting.
bool meet(thread& me, bool can_be_cancelled);
// The same for a rank that has ended its part and has left all orders of reproducible.hpp.
void meet_after_part(thread& me);
// Ends the rank's part of the region.
void meet_at_end(thread& me);
// Sleeps until `word` is no longer `seen`.
void wait_for_bell(thread& me, std::uint32_t seen);
void ring(thread& waiter) noexcept;

// shares.cpp
// Goes on to the next construct that shares work, which the first thread makes.
share& next_share(thread& me, const plan& wanted, bool& is_first);
// Frees what is left after a region.
void free_shares(thread& me, crew& team);
void publish_first_share(thread& me, crew& team, const plan& wanted);

// tasks.cpp
task& implicit_task(crew& team, unsigned rank);
void init_implicit(task& t, crew& team, const context& outer);
void end_implicit(thread& me, task& t);
void start_group(thread& me, bool is_of_share);
void end_group(thread& me);
void ring_gates(crew& team);

// task_queues.cpp
void push_task(thread& me, crew& team, task& t);
// Takes a task that may run inside of `within`, or any if that is null.
task* take_task(thread& me, crew& team, const task* within);
// Whether all tasks have ended. Only the last rank at a barrier may rely on it.
bool has_no_tasks(const crew& team);
void execute(thread& me, task& t);

// task_reductions.cpp
void register_reductions(std::uintptr_t* data, std::uintptr_t* old, const std::uintptr_t* of_other,
                         unsigned threads);
void unregister_reductions(std::uintptr_t* data);

// environment.cpp
struct global_settings {
  settings first;
  std::vector<unsigned> threads_by_level;
  std::vector<unsigned char> bind_by_level;
  bool can_cancel = false;
  bool is_reproducible = false;
  unsigned max_active_levels_default = 1;
  unsigned thread_limit = UINT32_MAX;
  int max_task_priority = 0;
  std::size_t stack_bytes = 0;
  int wait_policy = -1;
  unsigned num_teams = 0;
  unsigned teams_thread_limit = 0;
  bool displays_affinity = false;
  const char* affinity_format = nullptr;
};
extern constinit global_settings* global_;
global_settings& make_global();
inline global_settings& global() { return global_ != nullptr ? *global_ : make_global(); }
unsigned usable_processors() noexcept;
void display_environment(bool is_verbose);
unsigned place_count() noexcept;

// affinity.cpp
struct place {
  cpu_set_t cpus;
};
extern constinit std::vector<place>* places_;
bool parse_places(const char* text);
bool parse_places_of_cpus(const char* text);
std::string describe_places();
std::string affinity_format();
void place_ranks(crew& team, const context& opener, unsigned char bind,
                 std::vector<unsigned>& of_rank);
void bind_to_place(unsigned place);
void show_affinity(thread& me);

// reproducible.cpp
void note_serial(thread& me, region_function function);
inline bool is_reproducible() { return global().is_reproducible; }

// takeover.cpp
bool imports_openmp(const dl_phdr_info& object);
// Reads the objects that dlopen has brought since the last call.
void check_new_objects();

// Reads them if this function has not opened a region before.
inline void note_region(thread& me, region_function function) {
  region_function& checked = me.checked[reinterpret_cast<std::uintptr_t>(function) / 16 % 64];
  if (checked != function) {
    checked = function;
    check_new_objects();
  }
  if (is_reproducible()) note_serial(me, function);
}

[[noreturn, gnu::format(printf, 1, 2)]] void fatal(const char* format, ...);
[[gnu::format(printf, 1, 2)]] void warn(const char* format, ...);

// Settings of the current task that the caller is about to change.
inline settings& env_to_change(thread& me) {
  task& t = *me.now.current;
  if (t.env != &t.own_env) {
    t.own_env = *t.env;
    t.env = &t.own_env;
  }
  return t.own_env;
}
inline const settings& env(const thread& me) { return *me.now.current->env; }

}  // namespace tutti::openmp
