/* SPDX-License-Identifier: Apache-2.0
 * A tool that checks what the runtime tells it: each begin has its end, tasks are created, run and
 * completed once, regions end after their implicit tasks. It writes a line for each kind of event
 * to the file that OMPT_TOOL_OUTPUT names, and the lines that begin with "wrong" say what is wrong.
 *
 * OMPT_TOOL_MODE lets it misbehave: "null" declines in ompt_start_tool and "zero" in initialize,
 * "omp" calls routines of OpenMP in callbacks, "unset" unregisters and registers callbacks while
 * they are in use, "finalize" ends the tool in the third region, "slow" sleeps in callbacks. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifndef OMP_TOOLS_HEADER
#define OMP_TOOLS_HEADER "preload/openmp/ompt/omp-tools.h"
#endif
#include OMP_TOOLS_HEADER

/* The tool is not linked with a runtime. */
#pragma weak omp_get_thread_num
#pragma weak omp_get_max_threads
#pragma weak omp_get_level
int omp_get_thread_num(void);
int omp_get_max_threads(void);
int omp_get_level(void);

enum { most_kinds = 256, most_open = 64, most_wrong = 20 };

static ompt_set_callback_t set_callback;
static ompt_get_callback_t get_callback;
static ompt_get_thread_data_t get_thread_data;
static ompt_get_parallel_info_t get_parallel_info;
static ompt_get_task_info_t get_task_info;
static ompt_get_state_t get_state;
static ompt_get_unique_id_t get_unique_id;
static ompt_finalize_tool_t finalize_tool;
static const char* mode = "";
static int is_tutti;

/* ---- counts */

static struct count {
  char name[64];
  atomic_long value;
} counts[most_kinds];
static pthread_mutex_t counts_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int kinds;
static atomic_int wrongs;
static char wrong_lines[most_wrong][256];

static void wrong(const char* format, ...) {
  const int n = atomic_fetch_add(&wrongs, 1);
  if (n >= most_wrong) return;
  va_list more;
  va_start(more, format);
  vsnprintf(wrong_lines[n], sizeof wrong_lines[n], format, more);
  va_end(more);
}
#define CHECK(condition, ...)             \
  do {                                    \
    if (!(condition)) wrong(__VA_ARGS__); \
  } while (0)

static void count(const char* event, const char* kind, const char* end) {
  char name[64];
  snprintf(name, sizeof name, "%s%s%s%s%s", event, *kind ? "." : "", kind, *end ? "." : "", end);
  const int known = atomic_load(&kinds);
  for (int i = 0; i < known; ++i)
    if (strcmp(counts[i].name, name) == 0) {
      atomic_fetch_add(&counts[i].value, 1);
      return;
    }
  pthread_mutex_lock(&counts_lock);
  int i = 0;
  while (i < atomic_load(&kinds) && strcmp(counts[i].name, name) != 0) ++i;
  if (i == atomic_load(&kinds) && i < most_kinds) {
    strcpy(counts[i].name, name);
    atomic_store(&kinds, i + 1);
  }
  atomic_fetch_add(&counts[i].value, 1);
  pthread_mutex_unlock(&counts_lock);
}

static void misbehave(void) {
  if (strcmp(mode, "omp") == 0 && omp_get_thread_num != NULL) {
    CHECK(omp_get_thread_num() >= 0, "omp_get_thread_num in a callback");
    CHECK(omp_get_max_threads() >= 1, "omp_get_max_threads in a callback");
    CHECK(omp_get_level() >= 0, "omp_get_level in a callback");
  }
  if (strcmp(mode, "slow") == 0) usleep(200);
}

/* ---- what the tool knows of threads, regions and tasks */

struct region {
  atomic_int begun, ended, is_over;
  unsigned size;
};
enum task_state { created = 1, running, waiting, done };
struct task {
  int kind; /* ompt_task_flag_t */
  int rank; /* of the thread that runs it */
  atomic_int state;
  int open[most_open];
  int depth;
};
static atomic_long tasks_created, tasks_done, threads_now;

static _Thread_local struct {
  int is_known;
  int has_ended;
  uint64_t acquiring[16];
  int acquires;
  uint64_t held[64];
  int holds;
} here;

static int is_strict(void) { return strcmp(mode, "unset") != 0; }

static struct task* task_of(ompt_data_t* data, const char* event) {
  if (data == NULL || data->ptr == NULL) {
    if (is_strict()) wrong("%s: unknown task", event);
    return NULL;
  }
  return data->ptr;
}

static void open_in(ompt_data_t* data, int what, const char* event) {
  struct task* const t = task_of(data, event);
  if (t == NULL || !is_strict()) return;
  if (t->depth == most_open) {
    wrong("%s: too many open", event);
    return;
  }
  t->open[t->depth++] = what;
}
static void close_in(ompt_data_t* data, int what, const char* event) {
  struct task* const t = task_of(data, event);
  if (t == NULL || !is_strict()) return;
  if (t->depth == 0 || t->open[t->depth - 1] != what)
    wrong("%s: end of %x, open is %x (depth %d)", event, (unsigned)what,
          t->depth ? (unsigned)t->open[t->depth - 1] : 0, t->depth);
  else
    --t->depth;
}
static const char* endpoint_name(ompt_scope_endpoint_t endpoint) {
  return endpoint == ompt_scope_begin ? "begin" : endpoint == ompt_scope_end ? "end" : "beginend";
}
static void at_endpoint(ompt_scope_endpoint_t endpoint, ompt_data_t* task, int what,
                        const char* event) {
  if (endpoint == ompt_scope_begin) open_in(task, what, event);
  if (endpoint == ompt_scope_end) close_in(task, what, event);
}

static void on_thread_begin(ompt_thread_t type, ompt_data_t* data) {
  count("thread_begin", type == ompt_thread_initial ? "initial" : "worker", "");
  CHECK(!here.is_known, "a thread begins twice");
  CHECK(data->ptr == NULL, "a new thread has data");
  here.is_known = 1;
  data->ptr = &here;
  atomic_fetch_add(&threads_now, 1);
  misbehave();
}
static void on_thread_end(ompt_data_t* data) {
  count("thread_end", "", "");
  if (is_strict()) {
    CHECK(here.is_known && !here.has_ended, "a thread ends that is not there");
    CHECK(data->ptr == &here, "a thread ends with other data");
  }
  here.has_ended = 1;
  atomic_fetch_sub(&threads_now, 1);
  misbehave();
}

static void check_thread(const char* event) {
  if (!is_strict()) return;
  CHECK(here.is_known, "%s on an unknown thread", event);
  CHECK(get_thread_data() != NULL && get_thread_data()->ptr == &here, "%s: thread data", event);
  CHECK(get_state(NULL) != ompt_state_undefined, "%s: the state is undefined", event);
}

static atomic_int regions;

static void on_parallel_begin(ompt_data_t* task, const ompt_frame_t* frame, ompt_data_t* parallel,
                              unsigned requested, int flags, const void* code) {
  const int is_league = (flags & ompt_parallel_league) != 0;
  count("parallel_begin", is_league ? "league" : "", "");
  check_thread("parallel_begin");
  if (is_strict()) CHECK(task != NULL && task->ptr != NULL, "a region opens in an unknown task");
  CHECK(parallel->ptr == NULL, "a new region has data");
  CHECK(requested >= 1, "a region asks for no threads");
  CHECK(code != NULL, "parallel_begin without an address");
  CHECK(frame == NULL || frame->enter_frame.ptr != NULL, "parallel_begin without a frame");
  parallel->ptr = calloc(1, sizeof(struct region));
  misbehave();
  if (strcmp(mode, "finalize") == 0 && atomic_fetch_add(&regions, 1) == 2) finalize_tool();
}
static void on_parallel_end(ompt_data_t* parallel, ompt_data_t* task, int flags, const void* code) {
  count("parallel_end", (flags & ompt_parallel_league) != 0 ? "league" : "", "");
  struct region* const r = parallel->ptr;
  (void)code;
  if (is_strict()) {
    CHECK(task != NULL && task->ptr != NULL, "a region ends in an unknown task");
    CHECK(r != NULL, "an unknown region ends");
    if (r != NULL) {
      CHECK(!atomic_exchange(&r->is_over, 1), "a region ends twice");
      CHECK((unsigned)r->begun == r->size, "%d of %u implicit tasks began", r->begun, r->size);
      /* LLVM's workers tell it later. */
      CHECK(!is_tutti || r->begun == r->ended, "%d began and %d ended", r->begun, r->ended);
    }
  }
  misbehave();
}

static void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* parallel,
                             ompt_data_t* task, unsigned size, unsigned index, int flags) {
  const int is_initial = (flags & ompt_task_initial) != 0;
  count("implicit_task", is_initial ? "initial" : "", endpoint_name(endpoint));
  if (endpoint == ompt_scope_begin) {
    CHECK(task->ptr == NULL, "a new implicit task has data");
    struct task* const t = calloc(1, sizeof *t + sizeof(void*));
    t->kind = flags;
    t->state = running;
    task->ptr = t;
    struct region* const r = parallel != NULL ? parallel->ptr : NULL;
    if (!is_initial && is_strict()) CHECK(r != NULL, "an implicit task of an unknown region");
    if (!is_initial && r != NULL) {
      CHECK(index < size, "rank %u of %u", index, size);
      r->size = size;
      atomic_fetch_add(&r->begun, 1);
      CHECK(!r->is_over, "an implicit task begins after its region");
      ompt_data_t *data = NULL, *of_task = NULL;
      int threads = 0, rank = -1, kind = 0;
      CHECK(get_parallel_info(0, &data, &threads) == 2 && data == parallel && threads == (int)size,
            "ompt_get_parallel_info: %d threads of %u", threads, size);
      CHECK(get_task_info(0, &kind, &of_task, NULL, &data, &rank) == 2 && of_task == task &&
                data == parallel && rank == (int)index && (kind & ompt_task_implicit) != 0,
            "ompt_get_task_info: rank %d of %u, kind %x", rank, index, (unsigned)kind);
      t->rank = (int)index;
      *(struct region**)(t + 1) = r;
    }
  } else {
    struct task* const t = task_of(task, "implicit_task");
    if (t != NULL && is_strict()) {
      CHECK(t->depth == 0, "an implicit task ends in %x", (unsigned)t->open[0]);
      CHECK(t->state == running, "an implicit task ends in state %d", t->state);
      t->state = done;
      struct region* const r = *(struct region**)(t + 1);
      if (r != NULL) atomic_fetch_add(&r->ended, 1);
    }
  }
  check_thread("implicit_task");
  misbehave();
}

static const char* sync_name(ompt_sync_region_t kind) {
  switch ((int)kind) {
    case ompt_sync_region_barrier_explicit: return "explicit";
    case ompt_sync_region_barrier_implicit: return "implicit";
    case ompt_sync_region_barrier_implicit_workshare: return "workshare";
    case ompt_sync_region_barrier_implicit_parallel: return "parallel";
    case ompt_sync_region_taskwait: return "taskwait";
    case ompt_sync_region_taskgroup: return "taskgroup";
    case ompt_sync_region_reduction: return "reduction";
    default: return "implementation";
  }
}
static void on_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint,
                           ompt_data_t* parallel, ompt_data_t* task, const void* code) {
  (void)parallel, (void)code;
  count("sync_region", sync_name(kind), endpoint_name(endpoint));
  at_endpoint(endpoint, task, 0x100 + (int)kind, "sync_region");
  check_thread("sync_region");
  misbehave();
}
static void on_sync_region_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint,
                                ompt_data_t* parallel, ompt_data_t* task, const void* code) {
  (void)parallel, (void)code;
  count("sync_region_wait", sync_name(kind), endpoint_name(endpoint));
  at_endpoint(endpoint, task, 0x200 + (int)kind, "sync_region_wait");
  misbehave();
}
static void on_reduction(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint,
                         ompt_data_t* parallel, ompt_data_t* task, const void* code) {
  (void)parallel, (void)code;
  count("reduction", "", endpoint_name(endpoint));
  at_endpoint(endpoint, task, 0x300 + (int)kind, "reduction");
  misbehave();
}

static void on_work(ompt_work_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* parallel,
                    ompt_data_t* task, uint64_t amount, const void* code) {
  static const char* const names[] = {"",           "loop",         "sections",
                                      "single",     "single_other", "workshare",
                                      "distribute", "taskloop",     "scope"};
  (void)parallel, (void)amount, (void)code;
  count("work", names[kind], endpoint_name(endpoint));
  at_endpoint(endpoint, task, 0x400 + (int)kind, "work");
  check_thread("work");
  misbehave();
}
static void on_masked(ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task,
                      const void* code) {
  (void)parallel, (void)code;
  count("masked", "", endpoint_name(endpoint));
  at_endpoint(endpoint, task, 0x500, "masked");
}

static void on_task_create(ompt_data_t* parent, const ompt_frame_t* frame, ompt_data_t* new_task,
                           int flags, int has_dependences, const void* code) {
  (void)frame, (void)code;
  count("task_create",
        (flags & ompt_task_taskwait) != 0     ? "taskwait"
        : (flags & ompt_task_undeferred) != 0 ? "undeferred"
                                              : "deferred",
        has_dependences ? "depend" : "");
  if (is_strict()) CHECK(parent != NULL && parent->ptr != NULL, "an unknown task makes a task");
  CHECK(new_task->ptr == NULL, "a new task has data");
  struct task* const t = calloc(1, sizeof *t);
  t->kind = flags;
  t->state = created;
  new_task->ptr = t;
  atomic_fetch_add(&tasks_created, 1);
  misbehave();
}
static void on_task_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
  static const char* const names[] = {
      "",       "complete",         "yield", "cancel", "detach", "early_fulfill", "late_fulfill",
      "switch", "taskwait_complete"};
  count("task_schedule", names[status], "");
  struct task* const from = task_of(prior, "task_schedule");
  struct task* const to = next != NULL ? task_of(next, "task_schedule") : NULL;
  misbehave();
  if (from == NULL || !is_strict()) return;
  /* Time for another thread to fulfill the event: its call must come after this one. */
  if (status == ompt_task_detach) usleep(2000);
  const int is_explicit = (from->kind & ompt_task_explicit) != 0;
  switch (status) {
    case ompt_task_complete:
    case ompt_task_cancel:
      CHECK(from->state == running || (status == ompt_task_cancel && from->state == created),
            "a task completes in state %d", from->state);
      CHECK(is_explicit, "a task completes that is not explicit");
      from->state = done;
      atomic_fetch_add(&tasks_done, 1);
      break;
    case ompt_task_detach:
      CHECK(from->state == running, "a task detaches in state %d", from->state);
      from->state = waiting;
      break;
    case ompt_task_late_fulfill:
      CHECK(from->state == waiting, "an event of a task in state %d", from->state);
      from->state = done;
      atomic_fetch_add(&tasks_done, 1);
      return;
    case ompt_task_early_fulfill: return;
    case ompt_taskwait_complete:
      CHECK((from->kind & ompt_task_taskwait) != 0, "it is no taskwait");
      from->state = done;
      atomic_fetch_add(&tasks_done, 1);
      return;
    default: break;
  }
  if (to == NULL) return;
  if (status == ompt_task_switch) {
    CHECK(to->state == created, "a task begins in state %d", to->state);
    to->state = running;
    ompt_data_t* data = NULL;
    CHECK(get_task_info(0, NULL, &data, NULL, NULL, &to->rank) == 2, "no current task");
  } else {
    CHECK(to->state == running, "a task goes on in state %d", to->state);
  }
}
static void on_dependences(ompt_data_t* task, const ompt_dependence_t* list, int length) {
  const int is_doacross = list[0].dependence_type == ompt_dependence_type_source ||
                          list[0].dependence_type == ompt_dependence_type_sink;
  count("dependences", is_doacross ? "doacross" : "", "");
  CHECK(length > 0, "no dependences");
  (void)task_of(task, "dependences");
}
static void on_task_dependence(ompt_data_t* from, ompt_data_t* to) {
  count("task_dependence", "", "");
  (void)task_of(from, "task_dependence");
  (void)task_of(to, "task_dependence");
}

/* ---- locks */

static const char* mutex_name(ompt_mutex_t kind) {
  static const char* const names[] = {"",          "lock",     "lock",   "nest_lock",
                                      "nest_lock", "critical", "atomic", "ordered"};
  return names[kind];
}
static void on_mutex_acquire(ompt_mutex_t kind, unsigned hint, unsigned impl, ompt_wait_id_t id,
                             const void* code) {
  (void)hint, (void)impl, (void)code;
  count("mutex_acquire", mutex_name(kind), "");
  CHECK(id != 0, "a mutex without a number");
  if (here.acquires < 16) here.acquiring[here.acquires++] = id;
  ompt_data_t* data = NULL;
  int rank = 0;
  for (int i = 0; i < 8 && is_strict() && get_task_info(i, NULL, &data, NULL, NULL, &rank) == 2;
       ++i) {
    const struct task* const t = data->ptr;
    CHECK(t == NULL || rank == t->rank, "rank %d of ancestor %d, not %d", rank, i, t->rank);
  }
  misbehave();
}
static void on_mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t id, const void* code) {
  (void)code;
  count("mutex_acquired", mutex_name(kind), "");
  if (is_strict())
    CHECK(here.acquires > 0 && here.acquiring[here.acquires - 1] == id, "%s: not acquired before",
          mutex_name(kind));
  here.acquires = 0;
  if (here.holds < 64) here.held[here.holds++] = id;
  misbehave();
}
static void on_mutex_released(ompt_mutex_t kind, ompt_wait_id_t id, const void* code) {
  (void)code;
  count("mutex_released", mutex_name(kind), "");
  int i = here.holds;
  while (i > 0 && here.held[i - 1] != id) --i;
  if (is_strict()) CHECK(i > 0, "%s is released and not held", mutex_name(kind));
  if (i > 0) here.held[i - 1] = here.held[--here.holds];
  misbehave();
}
static void on_nest_lock(ompt_scope_endpoint_t endpoint, ompt_wait_id_t id, const void* code) {
  (void)id, (void)code;
  count("nest_lock", "", endpoint_name(endpoint));
  here.acquires = 0;
}
static void on_lock_init(ompt_mutex_t kind, unsigned hint, unsigned impl, ompt_wait_id_t id,
                         const void* code) {
  (void)hint, (void)impl, (void)id, (void)code;
  count("lock_init", mutex_name(kind), "");
}
static void on_lock_destroy(ompt_mutex_t kind, ompt_wait_id_t id, const void* code) {
  (void)id, (void)code;
  count("lock_destroy", mutex_name(kind), "");
}

static void on_flush(ompt_data_t* thread, const void* code) {
  (void)thread, (void)code;
  count("flush", "", "");
}
static void on_cancel(ompt_data_t* task, int flags, const void* code) {
  (void)task, (void)code;
  count("cancel",
        (flags & ompt_cancel_activated) != 0  ? "activated"
        : (flags & ompt_cancel_detected) != 0 ? "detected"
                                              : "discarded",
        "");
}
static int on_control_tool(uint64_t command, uint64_t modifier, void* argument, const void* code) {
  (void)argument;
  count("control_tool", "", "");
  CHECK(code != NULL, "control_tool without an address");
  return command == 64 && modifier == 7 ? 5 : 0;
}

/* ---- the start and the end */

static const struct {
  ompt_callbacks_t event;
  ompt_callback_t function;
} wanted[] = {
#define EVENT(name) \
  { ompt_callback_##name, (ompt_callback_t)on_##name }
    EVENT(thread_begin),     EVENT(thread_end),     EVENT(parallel_begin),
    EVENT(parallel_end),     EVENT(task_create),    EVENT(task_schedule),
    EVENT(implicit_task),    EVENT(control_tool),   EVENT(sync_region),
    EVENT(sync_region_wait), EVENT(mutex_released), EVENT(dependences),
    EVENT(task_dependence),  EVENT(work),           EVENT(masked),
    EVENT(lock_init),        EVENT(lock_destroy),   EVENT(mutex_acquire),
    EVENT(mutex_acquired),   EVENT(nest_lock),      EVENT(flush),
    EVENT(cancel),           EVENT(reduction),
};
enum { events = sizeof wanted / sizeof *wanted };

static atomic_int is_over;
static pthread_t spoiler;
static void* spoil(void* unused) {
  for (unsigned i = 0; !is_over; ++i) {
    const int which = (int)(i / 2 % events);
    if (wanted[which].event == ompt_callback_control_tool) continue;
    set_callback(wanted[which].event, i % 2 == 0 ? NULL : wanted[which].function);
    usleep(20);
  }
  return unused;
}

static int start(ompt_function_lookup_t lookup, int device, ompt_data_t* data) {
  (void)device;
  if (strcmp(mode, "zero") == 0) return 0;
  set_callback = (ompt_set_callback_t)lookup("ompt_set_callback");
  get_callback = (ompt_get_callback_t)lookup("ompt_get_callback");
  get_thread_data = (ompt_get_thread_data_t)lookup("ompt_get_thread_data");
  get_parallel_info = (ompt_get_parallel_info_t)lookup("ompt_get_parallel_info");
  get_task_info = (ompt_get_task_info_t)lookup("ompt_get_task_info");
  get_state = (ompt_get_state_t)lookup("ompt_get_state");
  get_unique_id = (ompt_get_unique_id_t)lookup("ompt_get_unique_id");
  finalize_tool = (ompt_finalize_tool_t)lookup("ompt_finalize_tool");
  /* LLVM's runtime does not know them when the tool starts. */
  if (is_tutti)
    CHECK(((ompt_get_num_procs_t)lookup("ompt_get_num_procs"))() > 0, "ompt_get_num_procs");
  CHECK(lookup("ompt_get_proc_id") != NULL, "ompt_get_proc_id");
  CHECK(lookup("no_such_function") == NULL, "a function that is not there");
  CHECK(get_unique_id() != get_unique_id(), "ompt_get_unique_id");
  CHECK(data->value == 17, "the tool's data");
  const ompt_enumerate_states_t next = (ompt_enumerate_states_t)lookup("ompt_enumerate_states");
  int state = ompt_state_undefined, states = 0;
  const char* name = NULL;
  while (states < 100 && next(state, &state, &name)) ++states;
  CHECK(states > 10 && states < 100, "%d states", states);
  ompt_callback_t now = NULL;
  if (is_tutti) CHECK(get_callback(ompt_callback_work, &now) == 0, "a callback before one is set");
  for (int i = 0; i < events; ++i) {
    const int answer = (int)set_callback(wanted[i].event, wanted[i].function);
    char text[8];
    snprintf(text, sizeof text, "%d", answer);
    char event[8];
    snprintf(event, sizeof event, "%d", (int)wanted[i].event);
    count("answer", event, text);
  }
  if (is_tutti)
    CHECK(get_callback(ompt_callback_parallel_begin, &now) == 1 &&
              now == (ompt_callback_t)on_parallel_begin,
          "ompt_get_callback");
  if (strcmp(mode, "omp") == 0 && omp_get_max_threads != NULL)
    CHECK(omp_get_max_threads() > 0, "omp_get_max_threads in initialize");
  if (strcmp(mode, "unset") == 0) pthread_create(&spoiler, NULL, spoil, NULL);
  return 1;
}

static void end(ompt_data_t* data) {
  atomic_store(&is_over, 1);
  if (strcmp(mode, "unset") == 0) pthread_join(spoiler, NULL);
  CHECK(data->value == 17, "the tool's data at the end");
  const char* const output = getenv("OMPT_TOOL_OUTPUT");
  char file[512];
  /* A child of a fork has a file of its own. */
  snprintf(file, sizeof file, "%s.%d", output != NULL ? output : "/dev/null", (int)getpid());
  FILE* const out = fopen(output != NULL ? file : "/dev/stderr", "w");
  if (out == NULL) return;
  for (int i = 0; i < most_wrong && i < wrongs; ++i) fprintf(out, "wrong %s\n", wrong_lines[i]);
  fprintf(out, "wrongs %d\n", wrongs);
  fprintf(out, "tasks_open %ld\n", tasks_created - tasks_done);
  fprintf(out, "threads_open %ld\n", (long)threads_now);
  for (int i = 0; i < kinds; ++i) fprintf(out, "%s %ld\n", counts[i].name, counts[i].value);
  fprintf(out, "end 1\n");
  fclose(out);
}

__attribute__((visibility("default"))) ompt_start_tool_result_t* ompt_start_tool(
    unsigned version, const char* runtime) {
  static ompt_start_tool_result_t result = {start, end, {17}};
  if (getenv("OMPT_TOOL_MODE") != NULL) mode = getenv("OMPT_TOOL_MODE");
  if (runtime == NULL || version < 201511) return NULL;
  is_tutti = strncmp(runtime, "tutti ", 6) == 0;
  if (strcmp(mode, "omp") == 0 && omp_get_max_threads != NULL && omp_get_max_threads() < 1)
    return NULL;
  return strcmp(mode, "null") == 0 ? NULL : &result;
}
