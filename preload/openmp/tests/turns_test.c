// SPDX-License-Identifier: Apache-2.0
// Atomic updates that GCC leaves to the runtime, in places where their threads wait for each other:
// with --reproducible they must not wait for turns there.
#include "preload/openmp/tests/check.h"

static long double sum;

static void add(int value) {
#pragma omp atomic
  sum += value;
}

static void check_locks(int n) {
  omp_lock_t lock;
  omp_init_lock(&lock);
  sum = 0;
#pragma omp parallel num_threads(n)
  for (int i = 0; i < 5; ++i) {
#pragma omp critical
    add(1);
    omp_set_lock(&lock);
    add(2);
    omp_unset_lock(&lock);
    add(3);
    while (!omp_test_lock(&lock)) {
    }
    add(4);
    omp_unset_lock(&lock);
  }
  CHECK(sum == 50 * n);
  omp_destroy_lock(&lock);
}

// Only some threads add before they wait for others.
static void check_ordered(int n) {
  sum = 0;
#pragma omp parallel for ordered schedule(static, 1) num_threads(n)
  for (int i = 0; i < 3 * n; ++i) {
    if (i == 0) add(1), add(1), add(1);
#pragma omp ordered
    add(1);
    if (i == n - 1) add(1), add(1);
  }
  CHECK(sum == 3 * n + 5);
}

static void check_doacross(int n) {
  sum = 0;
#pragma omp parallel for ordered(1) schedule(static, 1) num_threads(n)
  for (int i = 0; i < 3 * n; ++i) {
    if (i == 0) add(1), add(1), add(1);
#pragma omp ordered depend(sink : i - 1)
    add(1);
#pragma omp ordered depend(source)
  }
  CHECK(sum == 3 * n + 3);
}

// A thread waits in an ordered region and holds the lock that another one wants.
static void check_ordered_with_lock(int n) {
  omp_lock_t lock;
  omp_init_lock(&lock);
  sum = 0;
#pragma omp parallel for ordered schedule(static, 1) num_threads(n)
  for (int i = 0; i < n; ++i) {
    if (i == 0) {
      usleep(1000);
      add(1);
      add(1);
    }
    if (i == 1) omp_set_lock(&lock);
    if (i > 1) {
      usleep(500);
      omp_set_lock(&lock);
      omp_unset_lock(&lock);
      add(1);
    }
#pragma omp ordered
    if (i == 1) omp_unset_lock(&lock);
  }
  CHECK(sum == 2 + (n > 2 ? n - 2 : 0));
  omp_destroy_lock(&lock);
}

static void check_tasks(int n) {
  sum = 0;
  int link = 0;
#pragma omp parallel num_threads(n)
  {
    add(1);
#pragma omp single nowait
    for (int i = 0; i < 20; ++i) {
#pragma omp task depend(inout : link)
      add(1);
#pragma omp task
      add(1);
    }
    add(1);
#pragma omp barrier
    add(1);
#pragma omp single
#pragma omp task
    add(1);
  }
  CHECK(sum == 3 * n + 41);
}

static void add_in_critical(int value) {
#pragma omp critical(outer)
  sum += value;
}

// Critical regions where their threads hold a lock, wait in an ordered region or for a task, or
// open a region with critical regions of its own.
static void check_criticals(int n) {
  omp_lock_t lock;
  omp_init_lock(&lock);
  sum = 0;
#pragma omp parallel num_threads(n)
  {
    if (omp_get_thread_num() == 0) add_in_critical(1), add_in_critical(1);
    omp_set_lock(&lock);
    add_in_critical(1);
    omp_unset_lock(&lock);
#pragma omp for ordered schedule(static, 1) nowait
    for (int i = 0; i < 2 * n; ++i) {
#pragma omp ordered
      add_in_critical(1);
      if (i == n) add_in_critical(1);
    }
#pragma omp critical(outer)
    {
#pragma omp task
      add(1);
#pragma omp taskwait
      omp_set_lock(&lock);
      sum += 1;
      omp_unset_lock(&lock);
    }
#pragma omp critical(outer)
#pragma omp parallel num_threads(2)
    {
#pragma omp critical(inner)
      sum += 1;
      add(1);
    }
  }
  const int inner = n == 1 || omp_get_max_active_levels() > 1 ? 2 : 1;
  CHECK(sum == 2 + n + 2 * n + 1 + 2 * n + 2 * inner * n);
  omp_destroy_lock(&lock);
}

// A thread waits for an event of another one.
static void check_events(int n) {
  if (n < 2) return;
  sum = 0;
  int is_made = 0;
  omp_event_handle_t shared_event;
#pragma omp parallel num_threads(n)
  {
    if (omp_get_thread_num() == 0) {
      omp_event_handle_t event;
      int x = 0;
#pragma omp task detach(event) depend(out : x)
      {}
      shared_event = event;
      __atomic_store_n(&is_made, 1, __ATOMIC_RELEASE);
#pragma omp taskwait
      add(1);
    }
    if (omp_get_thread_num() == 1) {
      while (!__atomic_load_n(&is_made, __ATOMIC_ACQUIRE)) usleep(10);
      add(1);
      add(1);
      omp_fulfill_event(shared_event);
    }
  }
  CHECK(sum == 3);
}

static void check_nesting(int n) {
  const int inner = n < 4 ? n : 4;
  sum = 0;
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(inner)
  {
    if (omp_get_thread_num() % 2 == 0) add(1), add(1);
#pragma omp parallel num_threads(inner)
    {
      add(1);
#pragma omp critical
      add(1);
#pragma omp barrier
      add(1);
    }
#pragma omp critical
    add(1);
    add(1);
  }
  omp_set_max_active_levels(1);
  CHECK(sum == 3 * inner * inner + 2 * inner + 2 * ((inner + 1) / 2));
}

int main(void) {
  const int n = omp_get_max_threads();
  for (int repeat = 0; repeat < 5; ++repeat) {
    check_locks(n);
    check_ordered(n);
    check_doacross(n);
    check_ordered_with_lock(n);
    check_tasks(n);
    check_criticals(n);
    omp_set_max_active_levels(2);
    check_criticals(n);
    omp_set_max_active_levels(1);
    check_events(n);
    check_nesting(n);
  }
  return 0;
}
