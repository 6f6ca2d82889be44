// SPDX-License-Identifier: Apache-2.0
// Functions of clang's interface that compilers other than clang call, or programs themselves.
// LLVM's runtime gives the same answers.
#define _GNU_SOURCE
#include <complex.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>

#include "preload/openmp/tests/check.h"

// ---- atomic updates of wide values, by wider ones, and comparisons

#define WIDE(type, T)                                     \
  void __kmpc_atomic_##type##_add(void*, int, T*, T);     \
  void __kmpc_atomic_##type##_sub_rev(void*, int, T*, T); \
  void __kmpc_atomic_##type##_div(void*, int, T*, T);     \
  void __kmpc_atomic_##type##_mul(void*, int, T*, T);     \
  T __kmpc_atomic_##type##_rd(void*, int, T*);            \
  void __kmpc_atomic_##type##_wr(void*, int, T*, T);
WIDE(float10, long double)
WIDE(cmplx4, float complex)
WIDE(cmplx8, double complex)
WIDE(cmplx10, long double complex)
long double __kmpc_atomic_float10_max_cpt(void*, int, long double*, long double, int);
long double __kmpc_atomic_float10_swp(void*, int, long double*, long double);
void __kmpc_atomic_cmplx4_add_cpt(void*, int, float complex*, float complex, float complex*, int);
void __kmpc_atomic_cmplx4_swp(void*, int, float complex*, float complex, float complex*);
double complex __kmpc_atomic_cmplx8_mul_cpt(void*, int, double complex*, double complex, int);
double complex __kmpc_atomic_cmplx8_sub_cpt_rev(void*, int, double complex*, double complex, int);
long double complex __kmpc_atomic_cmplx10_swp(void*, int, long double complex*,
                                              long double complex);
void __kmpc_atomic_cmplx4_mul_cmplx8(void*, int, float complex*, double complex);
void __kmpc_atomic_fixed4_mul_float8(void*, int, int32_t*, double);
void __kmpc_atomic_fixed8_div_float8(void*, int, int64_t*, double);
void __kmpc_atomic_float4_sub_float8(void*, int, float*, double);
void __kmpc_atomic_8(void*, int, void*, void*, void (*)(void*, void*, void*));
void __kmpc_atomic_16(void*, int, void*, void*, void (*)(void*, void*, void*));
void __kmpc_atomic_start(void);
void __kmpc_atomic_end(void);
char __kmpc_atomic_bool_4_cas(void*, int, int32_t*, int32_t, int32_t);
int64_t __kmpc_atomic_val_8_cas(void*, int, int64_t*, int64_t, int64_t);
char __kmpc_atomic_bool_2_cas_cpt(void*, int, int16_t*, int16_t, int16_t, int16_t*);
int8_t __kmpc_atomic_val_1_cas_cpt(void*, int, int8_t*, int8_t, int8_t, int8_t*);

struct pair {
  int64_t sum, count;
};
static void add_pair(void* out, void* left, void* right) {
  const struct pair l = *(struct pair*)left, r = *(struct pair*)right;
  *(struct pair*)out = (struct pair){l.sum + r.sum, l.count + r.count};
}

static void add_number(void* out, void* left, void* right) {
  *(int64_t*)out = *(int64_t*)left + *(int64_t*)right;
}

// The program updates a variable both ways.
static void check_mixed_updates(int n) {
  enum { rounds = 2000 };
  int64_t sum = 0;
#pragma omp parallel num_threads(n)
  for (int i = 0; i < rounds; ++i) {
    int64_t two = 2;
    __kmpc_atomic_8(NULL, 0, &sum, &two, add_number);
#pragma omp atomic
    ++sum;
  }
  CHECK(sum == 3L * rounds * n);
}

static void check_atomics(int n) {
  enum { rounds = 50 };
  long double a = 0;
  float complex b = 0;
  double complex c = 0;
  long double complex d = 0;
  struct pair e = {0, 0};
  int between = 0, g = 0;
#pragma omp parallel num_threads(n)
  for (int i = 0; i < rounds; ++i) {
    __kmpc_atomic_float10_add(NULL, 0, &a, 1);
    __kmpc_atomic_cmplx4_add(NULL, 0, &b, 1 + 2 * I);
    __kmpc_atomic_cmplx8_add(NULL, 0, &c, 1 + 2 * I);
    __kmpc_atomic_cmplx10_add(NULL, 0, &d, 1 + 2 * I);
    struct pair one = {3, 1};
    __kmpc_atomic_16(NULL, 0, &e, &one, add_pair);
    __kmpc_atomic_start();
    ++between;
    __kmpc_atomic_end();
    for (int32_t old = 0; !__kmpc_atomic_bool_4_cas(NULL, 0, &g, old, old + 1);) {
#pragma omp atomic read
      old = g;
    }
  }
  const int all = n * rounds;
  CHECK(a == all && b == all + 2 * all * I && c == all + 2 * all * I && d == all + 2 * all * I);
  CHECK(e.sum == 3 * all && e.count == all && between == all && g == all);

  a = 6;
  __kmpc_atomic_float10_sub_rev(NULL, 0, &a, 10);
  __kmpc_atomic_float10_mul(NULL, 0, &a, 3);
  CHECK(__kmpc_atomic_float10_max_cpt(NULL, 0, &a, 20, 0) == 12 && a == 20);
  CHECK(__kmpc_atomic_float10_swp(NULL, 0, &a, 7) == 20 && a == 7);
  __kmpc_atomic_float10_div(NULL, 0, &a, 2);
  CHECK(__kmpc_atomic_float10_rd(NULL, 0, &a) == 3.5L);
  float complex result = 0;
  b = 1 + I;
  __kmpc_atomic_cmplx4_add_cpt(NULL, 0, &b, 2, &result, 1);
  CHECK(result == 3 + I && b == 3 + I);
  __kmpc_atomic_cmplx4_swp(NULL, 0, &b, 2 * I, &result);
  CHECK(result == 3 + I && b == 2 * I);
  __kmpc_atomic_cmplx4_mul_cmplx8(NULL, 0, &b, 3 * I);
  CHECK(b == -6);
  c = 2 * I;
  CHECK(__kmpc_atomic_cmplx8_mul_cpt(NULL, 0, &c, 2 * I, 0) == 2 * I && c == -4);
  CHECK(__kmpc_atomic_cmplx8_sub_cpt_rev(NULL, 0, &c, 1, 1) == 5 && c == 5);
  __kmpc_atomic_cmplx8_wr(NULL, 0, &c, I);
  CHECK(__kmpc_atomic_cmplx8_rd(NULL, 0, &c) == I);
  d = 4 * I;
  CHECK(__kmpc_atomic_cmplx10_swp(NULL, 0, &d, 3) == 4 * I && d == 3);
  __kmpc_atomic_cmplx10_div(NULL, 0, &d, 2 * I);
  CHECK(d == -1.5L * I);
  int32_t f = 7;
  __kmpc_atomic_fixed4_mul_float8(NULL, 0, &f, 1.5);
  CHECK(f == 10);
  int64_t h = 9;
  __kmpc_atomic_fixed8_div_float8(NULL, 0, &h, 0.25);
  CHECK(h == 36);
  float k = 1;
  __kmpc_atomic_float4_sub_float8(NULL, 0, &k, 0.75);
  CHECK(k == 0.25f);
  CHECK(__kmpc_atomic_val_8_cas(NULL, 0, &h, 35, 1) == 36 && h == 36);
  CHECK(__kmpc_atomic_val_8_cas(NULL, 0, &h, 36, 1) == 36 && h == 1);
  int16_t l = 5, old = -1;
  CHECK(!__kmpc_atomic_bool_2_cas_cpt(NULL, 0, &l, 4, 9, &old) && old == 5 && l == 5);
  CHECK(__kmpc_atomic_bool_2_cas_cpt(NULL, 0, &l, 5, 9, &old) && l == 9);
  int8_t m = 5, now = -1;
  CHECK(__kmpc_atomic_val_1_cas_cpt(NULL, 0, &m, 5, 6, &now) == 5 && now == 6 && m == 6);
  CHECK(__kmpc_atomic_val_1_cas_cpt(NULL, 0, &m, 5, 7, &now) == 6 && now == 6 && m == 6);
}

// ---- locks

void __kmpc_init_lock(void*, int, void**);
void __kmpc_init_lock_with_hint(void*, int, void**, uintptr_t);
void __kmpc_destroy_lock(void*, int, void**);
void __kmpc_set_lock(void*, int, void**);
void __kmpc_unset_lock(void*, int, void**);
int __kmpc_test_lock(void*, int, void**);
void __kmpc_init_nest_lock(void*, int, void**);
void __kmpc_init_nest_lock_with_hint(void*, int, void**, uintptr_t);
void __kmpc_destroy_nest_lock(void*, int, void**);
void __kmpc_set_nest_lock(void*, int, void**);
void __kmpc_unset_nest_lock(void*, int, void**);
int __kmpc_test_nest_lock(void*, int, void**);
int __kmpc_global_thread_num(void*);

static void check_locks(int n, int has_hint) {
  void *plain = NULL, *nested = NULL;
  int count = 0, deep = 0;
  const int main_thread = __kmpc_global_thread_num(NULL);
  if (has_hint) {
    __kmpc_init_lock_with_hint(NULL, main_thread, &plain, omp_lock_hint_contended);
    __kmpc_init_nest_lock_with_hint(NULL, main_thread, &nested, omp_lock_hint_uncontended);
  } else {
    __kmpc_init_lock(NULL, main_thread, &plain);
    __kmpc_init_nest_lock(NULL, main_thread, &nested);
  }
#pragma omp parallel num_threads(n)
  for (int i = 0; i < 50; ++i) {
    const int me = __kmpc_global_thread_num(NULL);
    if (i % 2 == 0)
      __kmpc_set_lock(NULL, me, &plain);
    else
      while (!__kmpc_test_lock(NULL, me, &plain)) usleep(1);
    ++count;
    __kmpc_unset_lock(NULL, me, &plain);
    __kmpc_set_nest_lock(NULL, me, &nested);
    CHECK(__kmpc_test_nest_lock(NULL, me, &nested) == 2);
    ++deep;
    __kmpc_unset_nest_lock(NULL, me, &nested);
    __kmpc_unset_nest_lock(NULL, me, &nested);
  }
  CHECK(count == 50 * n && deep == 50 * n);
  // The owner is the thread, whose tasks and regions of one thread may set the lock again.
  __kmpc_set_nest_lock(NULL, main_thread, &nested);
#pragma omp parallel num_threads(1)
  {
    CHECK(__kmpc_test_nest_lock(NULL, main_thread, &nested) == 2);
    __kmpc_unset_nest_lock(NULL, main_thread, &nested);
  }
  __kmpc_unset_nest_lock(NULL, main_thread, &nested);
  omp_nest_lock_t lock;
  omp_init_nest_lock(&lock);
  omp_set_nest_lock(&lock);
#pragma omp parallel num_threads(1)
  {
    omp_set_nest_lock(&lock);
    CHECK(omp_test_nest_lock(&lock) == 3);
    omp_unset_nest_lock(&lock);
    omp_unset_nest_lock(&lock);
  }
  omp_unset_nest_lock(&lock);
  omp_destroy_nest_lock(&lock);
  __kmpc_destroy_lock(NULL, main_thread, &plain);
  __kmpc_destroy_nest_lock(NULL, main_thread, &nested);
}

// ---- loops of teams

void __kmpc_dist_for_static_init_4(void*, int, int, int*, int*, int*, int*, int*, int, int);
void __kmpc_dist_for_static_init_8u(void*, int, int, int*, uint64_t*, uint64_t*, uint64_t*,
                                    int64_t*, int64_t, int64_t);
void __kmpc_team_static_init_4(void*, int, int*, int*, int*, int*, int, int);
void __kmpc_dist_dispatch_init_4(void*, int, int, int*, int, int, int, int);
int __kmpc_dispatch_next_4(void*, int, int*, int*, int*, int*);
void __kmpc_for_static_fini(void*, int);

enum { most = 200, static_chunked = 33, static_whole = 34, dynamic = 35 };

static void check_loops(int n, int teams, int size, int step) {
  int hits[4][most];
  memset(hits, 0, sizeof hits);
  int lasts[2] = {0, 0};
  const int first = step > 0 ? 0 : size - 1, end = step > 0 ? size - 1 : 0;
#pragma omp teams num_teams(teams) thread_limit(n)
#pragma omp parallel num_threads(n)
  {
    const int me = __kmpc_global_thread_num(NULL);
    int last = 0, low = first, high = end, team_end = -99, stride = step;
    __kmpc_dist_for_static_init_4(NULL, me, static_whole, &last, &low, &high, &team_end, &stride,
                                  step, 1);
    for (int i = low; step > 0 ? i <= high : i >= high; i += step) {
#pragma omp atomic
      ++hits[0][i];
    }
#pragma omp atomic
    lasts[0] += last;
    __kmpc_for_static_fini(NULL, me);

    last = 0, low = first, high = end, stride = step;
    __kmpc_dist_for_static_init_4(NULL, me, static_chunked, &last, &low, &high, &team_end, &stride,
                                  step, 3);
    for (; step > 0 ? low <= team_end : low >= team_end; low += stride, high += stride) {
      for (int i = low; step > 0 ? i <= high && i <= team_end : i >= high && i >= team_end;
           i += step) {
#pragma omp atomic
        ++hits[1][i];
      }
      // LLVM's runtime says this of the only iteration.
      if (stride == 0) break;
    }
#pragma omp atomic
    lasts[1] += last;
    __kmpc_for_static_fini(NULL, me);

    __kmpc_dist_dispatch_init_4(NULL, me, dynamic, &last, first, end, step, 2);
    while (__kmpc_dispatch_next_4(NULL, me, &last, &low, &high, &stride)) {
      for (int i = low; step > 0 ? i <= high : i >= high; i += step) {
#pragma omp atomic
        ++hits[2][i];
      }
    }
#pragma omp barrier
#pragma omp master
    {
      low = first, high = end;
      __kmpc_team_static_init_4(NULL, me, &last, &low, &high, &stride, step, 4);
      for (; step > 0 ? low <= end : low >= end; low += stride, high += stride) {
        for (int i = low; step > 0 ? i <= high && i <= end : i >= high && i >= end; i += step) {
#pragma omp atomic
          ++hits[3][i];
        }
        if (stride == 0) break;
      }
    }
  }
  for (int i = 0; i < size; ++i) {
    const int wanted = (i - first) % step == 0;
    for (int kind = 0; kind < 4; ++kind) CHECK(hits[kind][i] == wanted);
  }
  CHECK(lasts[0] == 1 && lasts[1] == 1);
}

static void check_large_loop(int n) {
  uint64_t sum = 0;
  const uint64_t last_value = UINT64_MAX - 5;
#pragma omp teams num_teams(1) thread_limit(n)
#pragma omp parallel num_threads(n)
  {
    int last = 0;
    uint64_t low = last_value - 9, high = last_value, team_end = 0;
    int64_t stride = 0;
    const int me = __kmpc_global_thread_num(NULL);
    __kmpc_dist_for_static_init_8u(NULL, me, static_whole, &last, &low, &high, &team_end, &stride,
                                   1, 1);
    CHECK(team_end == last_value);
    for (uint64_t i = low; i <= high; ++i) {
#pragma omp atomic
      ++sum;
    }
    __kmpc_for_static_fini(NULL, me);
  }
  CHECK(sum == 10);
}

// ---- the rest

void __kmpc_scope(void*, int, void*);
void __kmpc_end_scope(void*, int, void*);
void __kmpc_error(void*, int, const char*);
void __kmpc_pop_num_threads(void*, int);
int __kmpc_pause_resource(int, int);
int __kmpc_get_target_offload(void);
uint64_t __kmpc_get_taskid(void);
uint64_t __kmpc_get_parent_taskid(void);
void* __kmpc_threadprivate(void*, int, void*, size_t);
void __kmpc_threadprivate_register_vec(void*, void*, void* (*)(void*, size_t),
                                       void* (*)(void*, void*, size_t), void (*)(void*, size_t),
                                       size_t);
int omp_get_num_interop_properties(const omp_interop_t);
void ompc_set_num_threads(int);
void* kmpc_malloc(size_t);
void kmpc_free(void*);
void kmp_set_library_(const int*);
int kmp_get_library_(void);

static int plain_variable = 17;
static int array_variable[3];
static void* fill(void* at, size_t count) {
  for (size_t i = 0; i < count; ++i) ((int*)at)[i] = 100 + (int)i;
  return at;
}

static void check_rest(int n) {
  int wrong = 0;
  __kmpc_threadprivate_register_vec(NULL, array_variable, fill, NULL, NULL, 3);
#pragma omp parallel num_threads(n) reduction(+ : wrong)
  {
    const int me = __kmpc_global_thread_num(NULL);
    int* const own = __kmpc_threadprivate(NULL, me, &plain_variable, sizeof plain_variable);
    *own = omp_get_thread_num();
    int* const array = __kmpc_threadprivate(NULL, me, array_variable, sizeof array_variable);
    if (omp_get_thread_num() != 0) wrong += array[0] != 100 || array[2] != 102;
    __kmpc_scope(NULL, me, NULL);
    __kmpc_end_scope(NULL, me, NULL);
#pragma omp barrier
    wrong += *own != omp_get_thread_num();
    const uint64_t implicit = __kmpc_get_taskid();
#pragma omp task shared(wrong) if (0)
    wrong += __kmpc_get_parent_taskid() != implicit;
  }
  CHECK(wrong == 0);
  __kmpc_pop_num_threads(NULL, __kmpc_global_thread_num(NULL));
  ompc_set_num_threads(n);
  CHECK(omp_get_max_threads() == n);
  CHECK(omp_get_num_interop_properties(omp_interop_none) == 0);
  CHECK(__kmpc_get_target_offload() == 1);
  CHECK(__kmpc_pause_resource(7, 0) != 0);
  char* const memory = kmpc_malloc(100);
  memset(memory, 1, 100);
  kmpc_free(memory);
  const int before = kmp_get_library_(), serial = 1;
  kmp_set_library_(&before);
  CHECK(kmp_get_library_() == before && before != serial);
  CHECK(kmp_get_stacksize_s() > 0);
}

static void yield(void) {
#pragma omp taskyield
}

// Yielding runs a task that waits in the queue: a program may wait for one that way. The other
// thread is busy, so nobody else runs the task.
static void check_yield(void) {
  int calls = 0;
#pragma omp parallel num_threads(2) shared(calls)
  {
#pragma omp master
    {
#pragma omp task shared(calls)
#pragma omp atomic
      ++calls;
    }
    for (int seen = 0; seen == 0;) {
      if (omp_get_thread_num() == 0) yield();
#pragma omp atomic read
      seen = calls;
    }
  }
}

static void check_affinity(void) {
  cpu_set_t before;
  CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
  const int processors = kmp_get_affinity_max_proc();
  CHECK(processors >= 1);
  kmp_affinity_mask_t wanted, found;
  kmp_create_affinity_mask(&wanted);
  kmp_create_affinity_mask(&found);
  int mine = 0;
  while (!CPU_ISSET(mine, &before)) ++mine;
  CHECK(kmp_get_affinity_mask_proc(mine, &wanted) == 0);
  CHECK(kmp_set_affinity_mask_proc(mine, &wanted) == 0);
  CHECK(kmp_set_affinity_mask_proc(-1, &wanted) == -1);
  CHECK(kmp_set_affinity_mask_proc(processors, &wanted) == -1);
  CHECK(kmp_get_affinity_mask_proc(mine, &wanted) == 1);
  CHECK(kmp_set_affinity(&wanted) == 0);
  CHECK(kmp_get_affinity(&found) == 0);
  for (int p = 0; p < processors; ++p)
    CHECK(kmp_get_affinity_mask_proc(p, &found) == (p == mine ? 1 : 0));
  CHECK(sched_getcpu() == mine);
  CHECK(kmp_unset_affinity_mask_proc(mine, &wanted) == 0);
  CHECK(kmp_get_affinity_mask_proc(mine, &wanted) == 0);
  kmp_destroy_affinity_mask(&wanted);
  kmp_destroy_affinity_mask(&found);
  CHECK(wanted == NULL);
  CHECK(sched_setaffinity(0, sizeof before, &before) == 0);
}

int main(void) {
  const int n = omp_get_max_threads();
  for (int repeat = 0; repeat < 5; ++repeat) {
    check_atomics(n);
    check_mixed_updates(n);
    check_locks(n, repeat % 2);
    for (int teams = 1; teams <= 3; ++teams)
      for (int size = 1; size < most; size = size * 2 + 1) {
        check_loops(n, teams, size, 1);
        check_loops(n, teams, size, 1 + size % 3);
        check_loops(n, teams, size, -1);
      }
    check_large_loop(n);
    check_rest(n);
    check_yield();
    check_affinity();
  }
  return 0;
}
