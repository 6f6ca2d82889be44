// SPDX-License-Identifier: Apache-2.0
// The entry points, which a tool looks up by name. A thread that has not called the runtime gets
// the answers that say so, since a tool may ask from any thread or from a signal handler.
#include <sched.h>

#include <cstring>

#include "preload/openmp/environment.hpp"
#include "preload/openmp/ompt/events.hpp"
#include "preload/openmp/ompt/tool.hpp"
#include "preload/openmp/teams.hpp"

extern "C" {
int omp_get_num_places();
int omp_get_place_num_procs(int place);
void omp_get_place_proc_ids(int place, int* ids);
int omp_get_place_num();
int omp_get_partition_num_places();
void omp_get_partition_place_nums(int* places);
}

namespace tutti::openmp::ompt {
namespace {

// ---- callbacks

// Whether the runtime reports an event each time, only where the compiler has emitted a call, or
// not at all. GCC emits no call for static loops, `masked`, `flush`, and reductions of one
// variable. A begin has its end in any case.
constexpr ompt_set_result_t answer_for(int event) {
  switch (event) {
    case ompt_callback_thread_begin:
    case ompt_callback_thread_end:
    case ompt_callback_parallel_begin:
    case ompt_callback_parallel_end:
    case ompt_callback_task_create:
    case ompt_callback_task_schedule:
    case ompt_callback_implicit_task:
    case ompt_callback_control_tool:
    case ompt_callback_sync_region_wait:
    case ompt_callback_mutex_released:
    case ompt_callback_dependences:
    case ompt_callback_task_dependence:
    case ompt_callback_sync_region:
    case ompt_callback_lock_init:
    case ompt_callback_lock_destroy:
    case ompt_callback_mutex_acquire:
    case ompt_callback_mutex_acquired:
    case ompt_callback_nest_lock:
    case ompt_callback_cancel:
    case ompt_callback_error: return ompt_set_always;
    case ompt_callback_work:
    case ompt_callback_masked:
    case ompt_callback_reduction: return ompt_set_sometimes_paired;
    case ompt_callback_flush: return ompt_set_sometimes;
    default: return ompt_set_never;
  }
}

bool is_event(int event) { return event > 0 && event < events; }

ompt_set_result_t set_callback(ompt_callbacks_t event, ompt_callback_t function) {
  if (!is_event(event) || !is_on()) return ompt_set_error;
  const ompt_set_result_t answer = answer_for(event);
  // release: publishes what the tool has prepared for its callback; pairs with report.
  if (answer != ompt_set_never) callbacks[event].store(function, release);
  return answer;
}

int get_callback(ompt_callbacks_t event, ompt_callback_t* function) {
  if (!is_event(event)) return 0;
  // relaxed: the tool asks for an address.
  const ompt_callback_t now = callbacks[event].load(relaxed);
  if (now == nullptr) return 0;
  *function = now;
  return 1;
}

// ---- names of states and of kinds of mutexes

struct named {
  int number;
  const char* name;
};

constexpr named states[] = {
    {ompt_state_work_serial, "ompt_state_work_serial"},
    {ompt_state_work_parallel, "ompt_state_work_parallel"},
    {ompt_state_work_reduction, "ompt_state_work_reduction"},
    {ompt_state_wait_barrier_implicit_parallel, "ompt_state_wait_barrier_implicit_parallel"},
    {ompt_state_wait_barrier_implicit_workshare, "ompt_state_wait_barrier_implicit_workshare"},
    {ompt_state_wait_barrier_explicit, "ompt_state_wait_barrier_explicit"},
    {ompt_state_wait_barrier_implementation, "ompt_state_wait_barrier_implementation"},
    {ompt_state_wait_taskwait, "ompt_state_wait_taskwait"},
    {ompt_state_wait_taskgroup, "ompt_state_wait_taskgroup"},
    {ompt_state_wait_lock, "ompt_state_wait_lock"},
    {ompt_state_wait_critical, "ompt_state_wait_critical"},
    {ompt_state_wait_atomic, "ompt_state_wait_atomic"},
    {ompt_state_wait_ordered, "ompt_state_wait_ordered"},
    {ompt_state_idle, "ompt_state_idle"},
    {ompt_state_overhead, "ompt_state_overhead"},
    {ompt_state_undefined, "ompt_state_undefined"},
};
constexpr named mutexes[] = {{mutex_kind, "tutti_mutex_polls_then_sleeps"}};

// The entry after `current`, or the first one if `current` is ompt_state_undefined (0 for mutexes).
template <std::size_t Count>
int next_of(const named (&list)[Count], int current, int before_first, int* next,
            const char** name) {
  std::size_t i = 0;
  if (current != before_first) {
    while (i < Count && list[i].number != current) ++i;
    ++i;
  }
  if (i >= Count) return 0;
  *next = list[i].number;
  *name = list[i].name;
  return 1;
}

int enumerate_states(int current, int* next, const char** name) {
  // The first call passes ompt_state_undefined, which therefore does not come last.
  return next_of(states, current, ompt_state_undefined, next, name) != 0 &&
                 *next != ompt_state_undefined
             ? 1
             : 0;
}
int enumerate_mutex_kinds(int current, int* next, const char** name) {
  return next_of(mutexes, current, 0, next, name);
}

// ---- threads, regions and tasks

ompt_data_t* get_thread_data() {
  thread* const me = this_thread;
  return me != nullptr ? &me->tool.data : nullptr;
}

int get_state(ompt_wait_id_t* wait) {
  const thread* const me = this_thread;
  if (me == nullptr) return ompt_state_undefined;
  if (wait != nullptr) *wait = me->tool.wait_id;
  return me->tool.state;
}

constexpr int is_absent = 0, is_there = 2;

// Whether the thread is in no task: it is unknown, or a worker that waits for a region.
bool is_outside(const thread* me) {
  return me == nullptr || me->now.current == nullptr || (me->tool.is_worker && me->now.level == 0);
}

int get_parallel_info(int ancestor, ompt_data_t** data, int* size) {
  thread* const me = this_thread;
  if (is_outside(me) || ancestor < 0) return is_absent;
  const context* c = &me->now;
  for (; ancestor > 0; --ancestor) {
    if (c->level == 0) return is_absent;
    c = &c->team->outer;
  }
  if (data != nullptr) *data = &c->team->tool.data;
  if (size != nullptr) *size = static_cast<int>(c->team->size);
  return is_there;
}

int get_task_info(int ancestor, int* flags, ompt_data_t** data, ompt_frame_t** frame,
                  ompt_data_t** parallel_data, int* thread_num) {
  thread* const me = this_thread;
  if (is_outside(me) || ancestor < 0) return is_absent;
  const context* c = &me->now;
  task* t = c->current;
  for (; ancestor > 0; --ancestor) {
    if (!t->is_explicit) {
      if (c->level == 0) return is_absent;
      c = &c->team->outer;
      t = c->current;
    } else {
      t = t->parent;
    }
    if (t == nullptr) return is_absent;
  }
  task_part& part = part_of(*t);
  if (flags != nullptr) *flags = part.flags;
  if (data != nullptr) *data = &part.data;
  if (frame != nullptr) *frame = &part.frame;
  if (parallel_data != nullptr) *parallel_data = &c->team->tool.data;
  if (thread_num != nullptr) *thread_num = static_cast<int>(part.rank);
  return is_there;
}

// The runtime does not tell where the data of a task are.
int get_task_memory(void** address, std::size_t* size, int) {
  *address = nullptr;
  *size = 0;
  return 0;
}

std::uint64_t get_unique_id() {
  static std::atomic<std::uint64_t> last{0};
  // relaxed: the numbers only differ.
  return last.fetch_add(1, relaxed) + 1;
}

// ---- the machine

int get_num_procs() { return static_cast<int>(usable_processors()); }
int get_num_places() { return omp_get_num_places(); }
int get_place_proc_ids(int place, int room, int* ids) {
  if (place < 0 || place >= omp_get_num_places()) return 0;
  const int count = omp_get_place_num_procs(place);
  if (ids != nullptr && room >= count) omp_get_place_proc_ids(place, ids);
  return count;
}
int get_place_num() { return this_thread != nullptr ? omp_get_place_num() : -1; }
int get_partition_place_nums(int room, int* places) {
  if (this_thread == nullptr) return 0;
  const int count = omp_get_partition_num_places();
  if (places != nullptr && room >= count) omp_get_partition_place_nums(places);
  return count;
}
int get_proc_id() { return sched_getcpu(); }
int get_target_info(std::uint64_t*, ompt_id_t*, ompt_id_t*) { return 0; }
int get_num_devices() { return 0; }

struct entry_point {
  const char* name;
  ompt_interface_fn_t function;
};

// The conversion fails to compile if a function has not the interface's type.
template <class Interface>
entry_point entry(const char* name, Interface function) {
  return {name, reinterpret_cast<ompt_interface_fn_t>(function)};
}

}  // namespace

ompt_interface_fn_t look_up(const char* name) {
  static const entry_point all[] = {
      entry<ompt_enumerate_states_t>("ompt_enumerate_states", enumerate_states),
      entry<ompt_enumerate_mutex_impls_t>("ompt_enumerate_mutex_impls", enumerate_mutex_kinds),
      entry<ompt_set_callback_t>("ompt_set_callback", set_callback),
      entry<ompt_get_callback_t>("ompt_get_callback", get_callback),
      entry<ompt_get_thread_data_t>("ompt_get_thread_data", get_thread_data),
      entry<ompt_get_num_procs_t>("ompt_get_num_procs", get_num_procs),
      entry<ompt_get_num_places_t>("ompt_get_num_places", get_num_places),
      entry<ompt_get_place_proc_ids_t>("ompt_get_place_proc_ids", get_place_proc_ids),
      entry<ompt_get_place_num_t>("ompt_get_place_num", get_place_num),
      entry<ompt_get_partition_place_nums_t>("ompt_get_partition_place_nums",
                                             get_partition_place_nums),
      entry<ompt_get_proc_id_t>("ompt_get_proc_id", get_proc_id),
      entry<ompt_get_state_t>("ompt_get_state", get_state),
      entry<ompt_get_parallel_info_t>("ompt_get_parallel_info", get_parallel_info),
      entry<ompt_get_task_info_t>("ompt_get_task_info", get_task_info),
      entry<ompt_get_task_memory_t>("ompt_get_task_memory", get_task_memory),
      entry<ompt_get_target_info_t>("ompt_get_target_info", get_target_info),
      entry<ompt_get_num_devices_t>("ompt_get_num_devices", get_num_devices),
      entry<ompt_get_unique_id_t>("ompt_get_unique_id", get_unique_id),
      entry<ompt_finalize_tool_t>("ompt_finalize_tool", end_tool),
  };
  for (const entry_point& each : all)
    if (std::strcmp(name, each.name) == 0) return each.function;
  return nullptr;
}

}  // namespace tutti::openmp::ompt
