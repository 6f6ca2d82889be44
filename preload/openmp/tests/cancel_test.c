// SPDX-License-Identifier: Apache-2.0
// Cancellation, with OMP_CANCELLATION=true; without it nothing is cancelled.
#include "preload/openmp/tests/check.h"

static void check_parallel(int is_on) {
  int passed = 0;
#pragma omp parallel reduction(+ : passed)
  {
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
#pragma omp cancel parallel
    }
#pragma omp barrier
    ++passed;
  }
  CHECK(is_on ? passed == 0 : passed > 0);
}

// Barriers of functions that a region calls cannot leave the region. Those who have not left it
// wait there for each other: the values of `copyprivate` and what `single` writes are there
// afterwards.
static int* written;
static int singles, copied;

static void pass_barriers(void) {
  int value = 0;
#pragma omp single copyprivate(value)
  {
#pragma omp atomic
    ++singles;
    usleep(1000);
    value = 42;
  }
  CHECK(value == 42);
#pragma omp atomic
  ++copied;
#pragma omp single
  {
    usleep(1000);
    written = &singles;
  }
  CHECK(written == &singles);
#pragma omp barrier
#pragma omp single
  written = NULL;
  CHECK(written == NULL);
}

static void check_barriers_after_cancellation(int is_on) {
  singles = copied = 0;
  int in_region = 0, leaves = 0;
#pragma omp parallel
  {
    int value = 0;
    if (omp_get_thread_num() == 0) {
#pragma omp atomic write
      leaves = 1;
#pragma omp cancel parallel
    }
    // Most threads come to the barriers after the cancellation, but may come before.
    int has_left = 0;
    while (!has_left) {
#pragma omp atomic read
      has_left = leaves;
    }
    if (omp_get_thread_num() == 1) usleep(500);
    pass_barriers();
#pragma omp single copyprivate(value)
    {
#pragma omp atomic
      ++in_region;
      usleep(1000);
      value = 42;
    }
    CHECK(value == 42);
  }
  const int inside = omp_get_max_threads() - is_on;
  CHECK(singles == (inside > 0) && copied == inside && in_region == (inside > 0));
}

static void check_loop(int is_on) {
  int done = 0;
#pragma omp parallel
  {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 2000; ++i) {
      // The last one waits until the thread of the fourth, which may be preempted, has cancelled.
      do {
#pragma omp cancellation point for
      } while (is_on && i == 1999);
#pragma omp atomic
      ++done;
      if (i == 3) {
#pragma omp cancel for
      }
    }
#pragma omp for schedule(static)
    for (int i = 0; i < 100; ++i) {
#pragma omp atomic
      ++done;
    }
  }
  CHECK(is_on ? done < 2100 && done >= 100 : done == 2100);
}

// Each cancellation is that of its own loop, also if the barrier of the loop before it has just
// ended. The last iteration waits for the cancellation.
static void check_loops_in_a_row(int is_on) {
  int done = 0;
#pragma omp parallel
  for (int loop = 0; loop < 100; ++loop) {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 20; ++i) {
      do {
#pragma omp cancellation point for
      } while (is_on && i == 19);
#pragma omp atomic
      ++done;
      if (i == 1) {
#pragma omp cancel for
      }
    }
  }
  CHECK(is_on ? done < 2000 : done == 2000);
}

static void check_group(int is_on) {
  int done = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup
    for (int i = 0; i < 200; ++i) {
#pragma omp task shared(done) firstprivate(i)
      {
#pragma omp cancellation point taskgroup
#pragma omp atomic
        ++done;
        if (i == 2) {
#pragma omp cancel taskgroup
        }
      }
    }
  }
  CHECK(is_on ? done >= 1 && done <= 200 : done == 200);
}

// No task of a group runs that was made after the group had been cancelled.
static void check_tasks_after_cancellation(int is_on) {
  int done = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
  {
#pragma omp task if (0)
    {
#pragma omp cancel taskgroup
    }
    for (int i = 0; i < 300; ++i) {
#pragma omp task shared(done)
#pragma omp atomic
      ++done;
    }
#pragma omp taskloop num_tasks(100) shared(done) nogroup
    for (int i = 0; i < 100; ++i)
#pragma omp atomic
      ++done;
#pragma omp taskloop num_tasks(100) shared(done) nogroup if (0)
    for (int i = 0; i < 100; ++i)
#pragma omp atomic
      ++done;
  }
  CHECK(done == (is_on ? 0 : 500));
}

#ifdef __clang__
// A region that is cancelled leaves nothing of its reductions over tasks to the next one.
static int add_in_tasks(int cancels) {
  int sum = 0;
#pragma omp parallel reduction(task, + : sum)
  {
    for (int i = 0; i < 10; ++i) {
#pragma omp task in_reduction(+ : sum)
      ++sum;
    }
    if (cancels) {
#pragma omp cancel parallel
    }
  }
  return sum;
}

static void check_reductions(int is_on) {
  const int all = 10 * omp_get_max_threads();
  CHECK(add_in_tasks(0) == all);
  const int sum = add_in_tasks(1);
  CHECK(is_on ? sum <= all : sum == all);
  CHECK(add_in_tasks(0) == all);
}
#endif

static int count_orphaned(int cancels) {
  int done = 0;
#pragma omp for
  for (int i = 0; i < 10; ++i) {
    if (cancels && i == 3) {
#pragma omp cancel for
    }
#pragma omp cancellation point for
    ++done;
  }
#pragma omp sections
  {
    {
      if (cancels) {
#pragma omp cancel sections
      }
      ++done;
    }
#pragma omp section
    {
#pragma omp cancellation point sections
      ++done;
    }
  }
  return done;
}

// Outside of regions a cancellation ends with its construct, which belongs to the thread.
static void check_orphaned(int is_on) {
  CHECK(count_orphaned(0) == 12);
  CHECK(is_on ? count_orphaned(1) <= 4 : count_orphaned(1) == 12);
  CHECK(count_orphaned(0) == 12);
}

int main(void) {
  for (int repeat = 0; repeat < 30; ++repeat) {
    check_parallel(omp_get_cancellation());
    check_barriers_after_cancellation(omp_get_cancellation());
    check_loop(omp_get_cancellation());
    check_loops_in_a_row(omp_get_cancellation());
    check_group(omp_get_cancellation());
    check_tasks_after_cancellation(omp_get_cancellation());
    check_orphaned(omp_get_cancellation());
#ifdef __clang__
    check_reductions(omp_get_cancellation());
#endif
  }
  return 0;
}
