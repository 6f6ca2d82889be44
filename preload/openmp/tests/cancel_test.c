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
    check_loop(omp_get_cancellation());
    check_group(omp_get_cancellation());
    check_orphaned(omp_get_cancellation());
  }
  return 0;
}
