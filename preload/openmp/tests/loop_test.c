// SPDX-License-Identifier: Apache-2.0
// Loops: every schedule runs every iteration once, in order where the program asks for it.
#include <limits.h>
#include <string.h>
#include <sys/resource.h>

#include "preload/openmp/tests/check.h"

enum { most = 1000 };
static int hits[most];

static void expect_once(int count) {
  for (int i = 0; i < most; ++i) CHECK(hits[i] == (i < count));
  memset(hits, 0, sizeof hits);
}

#define LOOP(clauses, count)                             \
  do {                                                   \
    _Pragma(clauses) for (int i = 0; i < (count); ++i) { \
      __atomic_fetch_add(&hits[i], 1, __ATOMIC_RELAXED); \
    }                                                    \
    expect_once(count);                                  \
  } while (0)

static void check_schedules(int count) {
  LOOP("omp parallel for schedule(static)", count);
  LOOP("omp parallel for schedule(static, 3)", count);
  LOOP("omp parallel for schedule(dynamic)", count);
  LOOP("omp parallel for schedule(dynamic, 7)", count);
  LOOP("omp parallel for schedule(monotonic : dynamic, 2)", count);
  LOOP("omp parallel for schedule(guided)", count);
  LOOP("omp parallel for schedule(guided, 5)", count);
  LOOP("omp parallel for schedule(auto)", count);
  LOOP("omp parallel for schedule(runtime)", count);
  LOOP("omp parallel for schedule(nonmonotonic : runtime)", count);
}

static void check_runtime(int count) {
  static const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided,
                                      omp_sched_auto};
  for (int k = 0; k < 4; ++k) {
    omp_set_schedule(kinds[k], k);
    LOOP("omp parallel for schedule(runtime)", count);
  }
}

// GCC passes the schedule as a number if the loop has reductions over tasks, and that of `auto` for
// `nonmonotonic: runtime`.
static void check_nonmonotonic_runtime(void) {
  enum { count = 40 };
  int ranks[count], done = 0;
  omp_set_schedule(omp_sched_static, 1);
#pragma omp parallel
#pragma omp for schedule(nonmonotonic : runtime) reduction(task, + : done)
  for (int i = 0; i < count; ++i) {
    ranks[i] = omp_get_thread_num();
    ++done;
  }
  CHECK(done == count);
  for (int i = 0; i < count; ++i) CHECK(ranks[i] == i % omp_get_max_threads());
}

static void check_many_in_a_region(void) {
  long sum = 0;
#pragma omp parallel reduction(+ : sum)
  for (int round = 0; round < 40; ++round) {
#pragma omp for schedule(dynamic, 3) nowait
    for (int i = 0; i < 50; ++i) sum += i;
#pragma omp for schedule(guided) nowait
    for (int i = 0; i < 50; ++i) sum += i;
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 10; ++i) sum += i;
#pragma omp sections nowait
    {
#pragma omp section
      sum += 1;
#pragma omp section
      sum += 2;
#pragma omp section
      sum += 3;
    }
  }
  CHECK(sum == 40 * (2 * 1225 + 45 + 6));
}

static void check_bounds(void) {
  long sum = 0;
  // The last steps end at the bounds of the type; a step beyond them would be undefined.
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
  for (long i = LONG_MAX - 6; i < LONG_MAX; i += 2) ++sum;
  CHECK(sum == 3);
  sum = 0;
#pragma omp parallel for schedule(guided) reduction(+ : sum)
  for (long i = LONG_MIN + 6; i > LONG_MIN; i -= 2) ++sum;
  CHECK(sum == 3);
  sum = 0;
#pragma omp parallel for schedule(dynamic, 2) reduction(+ : sum)
  for (unsigned long i = 1; i <= ULONG_MAX / 2; i += ULONG_MAX / 16) ++sum;
  CHECK(sum == 9);
  sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
  for (unsigned long i = 100; i > 3; i -= 3) sum += (long)i;
  CHECK(sum == 33 * (100 + 4) / 2);
  sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
  for (long i = 5; i < 5; ++i) ++sum;
  CHECK(sum == 0);
  int last = -1;
#pragma omp parallel for schedule(dynamic, 3) lastprivate(last)
  for (int i = 0; i < 100; i += 7) last = i;
  CHECK(last == 98);
  sum = 0;
#pragma omp parallel for collapse(2) schedule(dynamic) reduction(+ : sum)
  for (int i = 0; i < 10; ++i)
    for (int j = 0; j < 7; ++j) sum += i * j;
  CHECK(sum == 45 * 21);
}

static void check_ordered(void) {
  int next = 0;
#pragma omp parallel for ordered schedule(dynamic, 2)
  for (int i = 0; i < 100; ++i) {
#pragma omp ordered
    CHECK(next++ == i);
  }
  CHECK(next == 100);
  next = 0;
#pragma omp parallel for ordered schedule(static)
  for (int i = 0; i < 100; ++i) {
#pragma omp ordered
    CHECK(next++ == i);
  }
  next = 0;
#pragma omp parallel for ordered schedule(static, 3)
  for (int i = 0; i < 100; ++i) {
    if (i % 3 != 0) continue;
#pragma omp ordered
    CHECK(next++ == i / 3);
  }
  next = 0;
#pragma omp parallel for ordered schedule(guided)
  for (unsigned long i = 0; i < 100; ++i) {
#pragma omp ordered
    CHECK(next++ == (int)i);
  }
  CHECK(next == 100);
}

#define DOACROSS(clauses)                                                                     \
  do {                                                                                        \
    static long grid[21][31];                                                                 \
    memset(grid, 0, sizeof grid);                                                             \
    _Pragma(clauses) for (int i = 1; i <= 20; ++i) {                                          \
      for (int j = 1; j <= 30; ++j) {                                                         \
        _Pragma("omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)") grid[i][j] =   \
            1 + (i > 1 ? grid[i - 1][j] : 0) + (j > 1 ? grid[i][j - 1] : 0);                  \
        _Pragma("omp ordered depend(source)")                                                 \
      }                                                                                       \
    }                                                                                         \
    for (int i = 1; i <= 20; ++i)                                                             \
      for (int j = 1; j <= 30; ++j)                                                           \
        CHECK(grid[i][j] == 1 + (i > 1 ? grid[i - 1][j] : 0) + (j > 1 ? grid[i][j - 1] : 0)); \
  } while (0)

static void check_doacross(void) {
  DOACROSS("omp parallel for ordered(2) schedule(static)");
  DOACROSS("omp parallel for ordered(2) schedule(static, 2)");
  DOACROSS("omp parallel for ordered(2) schedule(dynamic)");
  DOACROSS("omp parallel for ordered(2) schedule(dynamic, 3)");
  DOACROSS("omp parallel for ordered(2) schedule(guided)");
}

// A loop without iterations, the outer or the inner one, has nothing to wait for.
static void check_empty_doacross(int outer, int inner) {
  int ran = 0;
#pragma omp parallel for ordered(2) schedule(dynamic) reduction(+ : ran)
  for (int i = 0; i < outer; ++i)
    for (int j = 0; j < inner; ++j) {
#pragma omp ordered depend(sink : i - 1, j)
      ++ran;
#pragma omp ordered depend(source)
    }
  CHECK(ran == 0);
}

// GCC 12 passes a number that is too large by 2^32 for these iterations, to which one thread alone
// pays no attention.
static void check_unsigned_doacross(void) {
  int values[40] = {0};
#pragma omp parallel for ordered(1) schedule(dynamic, 2) num_threads(1)
  for (unsigned i = 3; i < 40; ++i) {
#pragma omp ordered depend(sink : i - 3)
    values[i] = values[i - 3] + 1;
#pragma omp ordered depend(source)
  }
  for (int i = 3; i < 40; ++i) CHECK(values[i] == i / 3);
}

static void check_scan(void) {
  int in[most], out[most], sum = 0;
  for (int i = 0; i < most; ++i) in[i] = i % 7;
#pragma omp parallel for reduction(inscan, + : sum)
  for (int i = 0; i < most; ++i) {
    sum += in[i];
#pragma omp scan inclusive(sum)
    out[i] = sum;
  }
  for (int i = 0, expected = 0; i < most; ++i) CHECK(out[i] == (expected += in[i]));
}

// One thread is always the first that comes to a loop, and another one the last that leaves it.
static void check_memory(void) {
  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);
#pragma omp parallel
  for (int i = 0; i < 20000; ++i) {
    if (omp_get_thread_num() != 0)
      for (int k = 0; k < 200; ++k) __asm__ volatile("");
#pragma omp for schedule(dynamic) nowait
    for (int j = 0; j < 2; ++j) __asm__ volatile("");
#pragma omp barrier
  }
  getrusage(RUSAGE_SELF, &after);
  // ThreadSanitizer's own memory grows with what the threads do.
#ifndef __SANITIZE_THREAD__
  CHECK(after.ru_maxrss - before.ru_maxrss < 2048);
#endif
}

int main(void) {
  for (int repeat = 0; repeat < 3; ++repeat) {
    static const int counts[] = {0, 1, 2, 3, 17, 100, most};
    for (int k = 0; k < 7; ++k) {
      check_schedules(counts[k]);
      check_runtime(counts[k]);
    }
    check_nonmonotonic_runtime();
    check_many_in_a_region();
    check_bounds();
    check_ordered();
    check_doacross();
    check_unsigned_doacross();
    check_empty_doacross(5, 0);
    check_empty_doacross(5, -7);
    check_empty_doacross(-7, 5);
    check_scan();
  }
  check_memory();
  return 0;
}
