// SPDX-License-Identifier: Apache-2.0
// Functions of clang's interface that the other programs do not call: some are of compilers before
// clang 14, some are called by programs themselves. Each is called as LLVM's own runtime expects.
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/wait.h>

#include "preload/openmp/tests/check.h"

struct clang_task {
  void* shared;
  int (*routine)(int, struct clang_task*);
  int part;
  void* others[2];
};

struct earlier_variable {
  void* shared;
  size_t bytes;
  void (*begin)(void*);
  void (*end)(void*);
  void (*combine)(void*, void*);
  unsigned flags;
};

int __kmpc_global_thread_num(void*);
struct clang_task* __kmpc_omp_task_alloc(void*, int, unsigned, size_t, size_t,
                                         int (*)(int, struct clang_task*));
int __kmpc_omp_task(void*, int, struct clang_task*);
void __kmpc_proxy_task_completed(int, struct clang_task*);
void __kmpc_proxy_task_completed_ooo(struct clang_task*);
void* __kmpc_task_reduction_init(int, int, void*);
void* __kmpc_task_reduction_modifier_init(void*, int, int, int, void*);
void __kmpc_task_reduction_modifier_fini(void*, int, int);
void* __kmpc_task_reduction_get_th_data(int, void*, void*);
uintptr_t __kmpc_init_allocator(int, uintptr_t, int, void*);
void __kmpc_destroy_allocator(int, uintptr_t);
void __kmpc_set_default_allocator(int, uintptr_t);
uintptr_t __kmpc_get_default_allocator(int);
void* __kmpc_alloc(int, size_t, uintptr_t);
void* __kmpc_calloc(int, size_t, size_t, uintptr_t);
void* __kmpc_realloc(int, void*, size_t, uintptr_t, uintptr_t);
void __kmpc_free(int, void*, uintptr_t);
int kmp_get_num_known_threads(void);
void __kmpc_for_static_init_4u(void*, int, int, int*, unsigned*, unsigned*, int*, int, int);
void __kmpc_for_static_fini(void*, int);

// ---- the tasks of target regions

static void check_target(int n) {
  int value = 0, after = 0;
#pragma omp parallel num_threads(n)
#pragma omp single
  {
#pragma omp target nowait map(tofrom : value) depend(out : value)
    value = 5;
#pragma omp target nowait map(tofrom : value) depend(inout : value)
    value += 2;
#pragma omp task depend(in : value) shared(value, after)
    after = value;
#pragma omp taskwait
    CHECK(value == 7 && after == 7);
  }
}

// ---- proxy tasks end when the program says so

enum { tied = 1, proxy = 16 };
static int routines_run, completed;

static int count_routine(int thread, struct clang_task* t) {
  (void)thread;
  (void)t;
#pragma omp atomic
  ++routines_run;
  return 0;
}

static void* complete_later(void* t) {
  usleep(2000);
#pragma omp atomic write
  completed = 1;
  __kmpc_proxy_task_completed_ooo(t);
  return NULL;
}

static void check_proxy(int n) {
  routines_run = completed = 0;
#pragma omp parallel num_threads(n)
#pragma omp single
  {
    const int me = __kmpc_global_thread_num(NULL);
    struct clang_task* const t =
        __kmpc_omp_task_alloc(NULL, me, tied | proxy, sizeof *t, 0, count_routine);
    __kmpc_omp_task(NULL, me, t);
    pthread_t helper;
    CHECK(pthread_create(&helper, NULL, complete_later, t) == 0);
#pragma omp taskwait
    int is_completed, run;
#pragma omp atomic read
    is_completed = completed;
#pragma omp atomic read
    run = routines_run;
    CHECK(is_completed && run == 1);
    CHECK(pthread_join(helper, NULL) == 0);
    // The team's own threads complete one too, before its routine has run or after it.
    struct clang_task* const other =
        __kmpc_omp_task_alloc(NULL, me, tied | proxy, sizeof *other, 0, count_routine);
    __kmpc_omp_task(NULL, me, other);
    __kmpc_proxy_task_completed(me, other);
#pragma omp taskwait
#pragma omp atomic read
    run = routines_run;
    CHECK(run == 2);
  }
}

// ---- a task with destructors is destroyed once, whether it runs or is discarded

static int destroyed, run_late;

static int count_destroyed(int thread, struct clang_task* t) {
  (void)thread;
  (void)t;
#pragma omp atomic
  ++destroyed;
  return 0;
}

static int count_late(int thread, struct clang_task* t) {
  (void)thread;
  (void)t;
#pragma omp atomic
  ++run_late;
  return 0;
}

static void make_with_destructors(int (*routine)(int, struct clang_task*)) {
  enum { has_destructors = 8 };
  const int me = __kmpc_global_thread_num(NULL);
  struct clang_task* const t =
      __kmpc_omp_task_alloc(NULL, me, tied | has_destructors, sizeof *t, 0, routine);
  t->others[0] = (void*)count_destroyed;
  __kmpc_omp_task(NULL, me, t);
}

static void check_destructors(int n) {
  enum { each = 100 };
  routines_run = destroyed = run_late = 0;
#pragma omp parallel num_threads(n)
#pragma omp single
#pragma omp taskgroup
  {
    for (int i = 0; i < each; ++i) make_with_destructors(count_routine);
#pragma omp task if (0)
    {
#pragma omp cancel taskgroup
    }
    for (int i = 0; i < each; ++i) make_with_destructors(count_late);
  }
  CHECK(destroyed == 2 * each);
  if (omp_get_cancellation())
    CHECK(routines_run <= each && run_late == 0);
  else
    CHECK(routines_run == each && run_late == each);
}

// ---- a task that its maker runs awaits its event

static void* fulfill_later(void* event) {
  usleep(2000);
#pragma omp atomic write
  completed = 1;
  omp_fulfill_event((omp_event_handle_t)(uintptr_t)event);
  return NULL;
}

static void check_undeferred_event(int n) {
  completed = 0;
#pragma omp parallel num_threads(n)
#pragma omp single
  {
    omp_event_handle_t event;
    pthread_t helper;
#pragma omp task detach(event) if (0) shared(helper)
    CHECK(pthread_create(&helper, NULL, fulfill_later, (void*)(uintptr_t)event) == 0);
    int is_completed;
#pragma omp atomic read
    is_completed = completed;
    CHECK(is_completed);
    CHECK(pthread_join(helper, NULL) == 0);
  }
}

// ---- reductions over tasks, as earlier compilers begin them

static void begin_at_zero(void* copy) { *(long*)copy = 0; }
static void add(void* into, void* copy) { *(long*)into += *(long*)copy; }

static void check_reductions(int n) {
  long sum = 100;
#pragma omp parallel num_threads(n)
#pragma omp single
  {
#pragma omp taskgroup
    {
      struct earlier_variable variable = {&sum, sizeof sum, begin_at_zero, NULL, add, 0};
      void* const group = __kmpc_task_reduction_init(__kmpc_global_thread_num(NULL), 1, &variable);
      for (int i = 1; i <= 20; ++i) {
#pragma omp task firstprivate(i, group) shared(sum)
        {
          const int me = __kmpc_global_thread_num(NULL);
          long* const mine = __kmpc_task_reduction_get_th_data(me, group, &sum);
          CHECK(mine != &sum);
          *mine += i;
        }
      }
    }
    CHECK(sum == 100 + 210);
  }
  // All threads of a region take part, each with a variable of its own.
  long totals[64] = {0};
#pragma omp parallel num_threads(n)
  {
    const int me = __kmpc_global_thread_num(NULL);
    long* const own = &totals[omp_get_thread_num()];
    struct earlier_variable variable = {own, sizeof *own, begin_at_zero, NULL, add, 0};
    void* const group = __kmpc_task_reduction_modifier_init(NULL, me, 0, 1, &variable);
#pragma omp task firstprivate(group, own)
    *(long*)__kmpc_task_reduction_get_th_data(__kmpc_global_thread_num(NULL), group, own) += 1;
    __kmpc_task_reduction_modifier_fini(NULL, me, 0);
  }
  long total = 0;
  for (int i = 0; i < 64; ++i) total += totals[i];
  CHECK(total == n);
}

// ---- static chunks that are longer than the loop: several of them go beyond the type's values

static void check_long_chunks(void) {
  enum { size = 10 };
  int hits[size] = {0};
#pragma omp parallel for schedule(static, 1 << 30) num_threads(4)
  for (int i = 0; i < size; ++i) {
#pragma omp atomic
    ++hits[i];
  }
#pragma omp parallel for schedule(static, INT_MAX) num_threads(2)
  for (int i = size - 1; i >= 0; --i) {
#pragma omp atomic
    ++hits[i];
  }
#pragma omp parallel for schedule(static, LONG_MAX) num_threads(3)
  for (long i = 0; i < size; ++i) {
#pragma omp atomic
    ++hits[i];
  }
#pragma omp teams distribute num_teams(4) dist_schedule(static, 1 << 30)
  for (int i = 0; i < size; ++i) {
#pragma omp atomic
    ++hits[i];
  }
#pragma omp teams distribute parallel for num_teams(2) dist_schedule(static, INT_MAX) \
    schedule(static, 1 << 30) num_threads(4)
  for (int i = 0; i < size; ++i) {
#pragma omp atomic
    ++hits[i];
  }
  for (int i = 0; i < size; ++i) CHECK(hits[i] == 5);
}

// Flang's programs divide by the stride. Of five iterations in chunks of three only two threads get
// a chunk.
static void check_strides(int n) {
#pragma omp parallel num_threads(n)
  {
    enum { chunked = 33 };
    const int me = __kmpc_global_thread_num(NULL);
    unsigned lower = 0, upper = 4;
    int is_last = 0, stride = 0;
    __kmpc_for_static_init_4u(NULL, me, chunked, &is_last, &lower, &upper, &stride, 1, 3);
    CHECK(stride > 0);
    CHECK((lower <= upper) == (omp_get_thread_num() < 2));
    __kmpc_for_static_fini(NULL, me);
  }
}

// ---- memory

static void check_memory(void) {
  omp_alloctrait_t traits[] = {{omp_atk_alignment, 256}};
  const uintptr_t a = __kmpc_init_allocator(0, (uintptr_t)omp_default_mem_space, 1, traits);
  CHECK(a != 0);
  const uintptr_t before = __kmpc_get_default_allocator(0);
  __kmpc_set_default_allocator(0, a);
  CHECK(__kmpc_get_default_allocator(0) == a && (uintptr_t)omp_get_default_allocator() == a);
  char* at = __kmpc_calloc(0, 10, 10, 0);
  CHECK(at != NULL && (uintptr_t)at % 256 == 0);
  for (int i = 0; i < 100; ++i) CHECK(at[i] == 0);
  at[99] = 7;
  at = __kmpc_realloc(0, at, 5000, a, a);
  CHECK(at != NULL && (uintptr_t)at % 256 == 0 && at[99] == 7);
  __kmpc_free(0, at, a);
  __kmpc_set_default_allocator(0, before);
  CHECK(__kmpc_get_default_allocator(0) == before);
  __kmpc_destroy_allocator(0, a);
  // 3 is no power of two.
  traits[0].value = 3;
  CHECK(__kmpc_init_allocator(0, (uintptr_t)omp_default_mem_space, 1, traits) == 0);
  void* const aligned = kmp_aligned_malloc(100, 512);
  CHECK(aligned != NULL && (uintptr_t)aligned % 512 == 0);
  kmp_free(aligned);
  CHECK(kmp_aligned_malloc(100, 24) == NULL);
}

// ---- a region that uses more variables than most do; clang passes the address of each

#define TEN(x) x##0, x##1, x##2, x##3, x##4, x##5, x##6, x##7, x##8, x##9
#define SET_TEN(x, value) \
  x##0 = x##1 = x##2 = x##3 = x##4 = x##5 = x##6 = x##7 = x##8 = x##9 = (value)
#define HUNDRED(x)                                                                        \
  TEN(x##0), TEN(x##1), TEN(x##2), TEN(x##3), TEN(x##4), TEN(x##5), TEN(x##6), TEN(x##7), \
      TEN(x##8), TEN(x##9)
#define SET_HUNDRED(x, value)                                                                 \
  SET_TEN(x##0, value), SET_TEN(x##1, value), SET_TEN(x##2, value), SET_TEN(x##3, value),     \
      SET_TEN(x##4, value), SET_TEN(x##5, value), SET_TEN(x##6, value), SET_TEN(x##7, value), \
      SET_TEN(x##8, value), SET_TEN(x##9, value)

static void check_many_variables(int n) {
  int HUNDRED(a), HUNDRED(b), HUNDRED(c), HUNDRED(d), HUNDRED(e), HUNDRED(f);
#pragma omp parallel num_threads(n)
#pragma omp single
  {
    SET_HUNDRED(a, 1), SET_HUNDRED(b, 2), SET_HUNDRED(c, 3);
    SET_HUNDRED(d, 4), SET_HUNDRED(e, 5), SET_HUNDRED(f, 6);
  }
  CHECK(a00 == 1 && b55 == 2 && b99 == 2 && c00 == 3 && c99 == 3);
  CHECK(d00 == 4 && e10 == 5 && e99 == 5 && f00 == 6 && f99 == 6);
}

// ---- a function that combines values and opens regions, whose reductions have the same name

struct row {
  double of[40];
};

static void add_rows(struct row* to, const struct row* from) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 40; ++i) {
    to->of[i] += from->of[i];
    ++sum;
  }
  CHECK(sum == 40);
}
#pragma omp declare reduction(add                            \
                              : struct row                   \
                              : add_rows(&omp_out, &omp_in)) \
    initializer(omp_priv = (struct row){{0}})

static void check_combining_regions(int n) {
  struct row all = {{0}};
#pragma omp parallel for reduction(add : all) num_threads(n)
  for (int i = 0; i < 100; ++i) all.of[i % 40] += i;
  double sum = 0;
  for (int i = 0; i < 40; ++i) sum += all.of[i];
  CHECK(sum == 4950);
}

// ---- with --reproducible the ranks of a region do not run one after the other because teams
// before it update a floating-point variable

__attribute__((always_inline)) static inline void add_half(double* sum) {
#pragma omp atomic
  *sum += 0.5;
}

static void check_region_after_teams(int n) {
  double sum = 0;
#pragma omp teams num_teams(2)
  add_half(&sum);
  CHECK(sum == 1);
  int arrived = 0;
#pragma omp parallel num_threads(n)
  {
#pragma omp atomic
    ++arrived;
    for (int now = 0; now < n;) {
      usleep(10);
#pragma omp atomic read
      now = arrived;
    }
  }
}

// ---- the runtime knows the threads that exist

static void* call_once(void* unused) {
  (void)unused;
  CHECK(omp_get_num_threads() == 1);
  return NULL;
}

static void check_known_threads(void) {
  const int before = kmp_get_num_known_threads();
  CHECK(before >= 1);
  for (int i = 0; i < 20; ++i) {
    pthread_t other;
    CHECK(pthread_create(&other, NULL, call_once, NULL) == 0 && pthread_join(other, NULL) == 0);
  }
  CHECK(kmp_get_num_known_threads() == before);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) _exit(kmp_get_num_known_threads());
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 1);
}

int main(void) {
  const int n = omp_get_max_threads();
  kmp_set_disp_num_buffers(4);
  for (int repeat = 0; repeat < 10; ++repeat) {
    check_target(n);
    check_proxy(n);
    check_destructors(n);
    check_undeferred_event(n);
    check_reductions(n);
    check_memory();
    check_long_chunks();
    check_strides(n);
    check_many_variables(n);
    check_combining_regions(n);
    check_region_after_teams(n);
    check_known_threads();
  }
  return 0;
}
