// SPDX-License-Identifier: Apache-2.0
// Clauses and directives that the other tests do not have. Each function runs a construct with its
// clause, and then without it or with its opposite, and checks that the two differ as they should.
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "preload/openmp/tests/check.h"

enum { most = 64 };

static void check_linear(void) {
  int value = 5, last = 0;
#pragma omp parallel for linear(value : 3) lastprivate(last)
  for (int i = 0; i < 100; ++i) {
    CHECK(value == 5 + 3 * i);
    last = i;
    // GCC leaves the step to the program.
    value += 3;
  }
  CHECK(value == 5 + 3 * 100 && last == 99);
  // A private copy does not come back.
  value = 5;
#pragma omp parallel for firstprivate(value)
  for (int i = 0; i < 100; ++i) value += 3;
  CHECK(value == 5);
}

static void check_proc_bind(int n) {
  int ranks[most] = {0};
#pragma omp parallel num_threads(n) proc_bind(spread)
  ++ranks[omp_get_thread_num()];
#pragma omp parallel num_threads(n) proc_bind(close)
  ++ranks[omp_get_thread_num()];
#pragma omp parallel num_threads(n)
  ++ranks[omp_get_thread_num()];
  for (int i = 0; i < most; ++i) CHECK(ranks[i] == (i < n ? 3 : 0));
}

static void check_depobj(int n) {
  int value = 0, seen = -1, other = 0;
  omp_depend_t object;
#pragma omp depobj(object) depend(inout : value)
#pragma omp parallel num_threads(n)
#pragma omp single
  {
#pragma omp task depend(out : value) shared(value)
    value = 1;
#pragma omp task depend(depobj : object) shared(value, seen)
    seen = value++;
#pragma omp task depend(depobj : object) shared(value)
    ++value;
  }
  CHECK(seen == 1 && value == 3);
#pragma omp depobj(object) update(in)
#pragma omp parallel num_threads(n)
#pragma omp single
  for (int i = 0; i < 20; ++i) {
    // Readers run in any order, but after the writer.
#pragma omp task depend(out : value) shared(value)
    value = i;
#pragma omp task depend(depobj : object) shared(value, other)
    {
      CHECK(value == i);
#pragma omp atomic
      ++other;
    }
  }
  CHECK(other == 20);
#pragma omp depobj(object) destroy
}

static void check_iterator(int n) {
  int parts[8] = {0}, sum = 0;
#pragma omp parallel num_threads(n)
#pragma omp single
  {
    for (int i = 0; i < 8; ++i) {
#pragma omp task depend(out : parts[i]) shared(parts) firstprivate(i)
      parts[i] = i + 1;
    }
#pragma omp task depend(iterator(k = 0 : 8), in : parts[k]) shared(parts, sum)
    for (int i = 0; i < 8; ++i) sum += parts[i];
#pragma omp taskwait
    CHECK(sum == 36);
    // It waits for the named elements alone.
    parts[0] = 0;
#pragma omp task depend(out : parts[0]) shared(parts)
    parts[0] = 7;
#pragma omp taskwait depend(in : parts[0])
    CHECK(parts[0] == 7);
  }
}

static void check_nogroup(int n) {
  int done = 0, before = -1;
#pragma omp parallel num_threads(n)
#pragma omp single
  {
#pragma omp taskloop grainsize(1) shared(done)
    for (int i = 0; i < 40; ++i) {
#pragma omp atomic
      ++done;
    }
    CHECK(done == 40);
#pragma omp taskloop grainsize(1) nogroup shared(done)
    for (int i = 0; i < 40; ++i) {
#pragma omp atomic
      ++done;
    }
#pragma omp taskwait
#pragma omp atomic read
    before = done;
    CHECK(before == 80);
  }
}

static void check_atomics(int n) {
  int value = 0, seen[most] = {0};
#pragma omp parallel num_threads(n)
  for (int i = 0; i < 10; ++i) {
    int before = 0;
#pragma omp atomic capture seq_cst
    before = value++;
#pragma omp atomic write
    seen[before % most] = 1;
  }
  int now = 0;
#pragma omp atomic read acquire
  now = value;
  CHECK(now == 10 * n);
  for (int i = 0; i < most; ++i) CHECK(seen[i] == (i < 10 * n));
}

static void check_hints(int n) {
  int value = 0;
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(n)
  for (int i = 0; i < 50; ++i) {
#pragma omp critical(with_hint) hint(omp_sync_hint_contended)
    ++value;
    omp_set_lock(&lock);
    CHECK(!omp_test_lock(&lock));
    omp_unset_lock(&lock);
  }
  CHECK(value == 50 * n);
  CHECK(omp_test_lock(&lock));
  omp_unset_lock(&lock);
  omp_destroy_lock(&lock);
}

// ThreadSanitizer does not follow fences, whichever runtime there is.
#ifndef __SANITIZE_THREAD__
static void check_flush(int n) {
  if (n < 2) return;
  int data = 0, flag = 0;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      data = 42;
#pragma omp flush
#pragma omp atomic write
      flag = 1;
    } else {
      int is_set = 0;
      while (!is_set) {
#pragma omp taskyield
#pragma omp atomic read
        is_set = flag;
      }
#pragma omp flush
      CHECK(data == 42);
    }
  }
}
#endif

static void check_cancel_sections(int is_on) {
  int after = 0, whole = 0;
#pragma omp parallel num_threads(1)
  {
#pragma omp sections
    {
#pragma omp section
        {
#pragma omp cancel sections
            ++after;
  }
#pragma omp section
  {
#pragma omp cancellation point sections
    ++after;
  }
}
#pragma omp sections
{
#pragma omp section
  ++whole;
#pragma omp section
  ++whole;
}
}
CHECK(after == (is_on ? 0 : 2) && whole == 2);
}

static void check_teams(int n) {
  int counts[most] = {0}, teams = 0;
#pragma omp teams num_teams(3) thread_limit(1) reduction(+ : teams)
  {
    if (omp_get_team_num() == 0) teams += omp_get_num_teams();
#pragma omp distribute parallel for
    for (int i = 0; i < most; ++i) {
      CHECK(omp_get_num_threads() == 1);
#pragma omp atomic
      ++counts[i];
    }
  }
  CHECK(teams >= 1 && teams <= 3);
#pragma omp teams num_teams(2)
#pragma omp distribute parallel for num_threads(n) dist_schedule(static, 4)
  for (int i = 0; i < most; ++i) {
#pragma omp atomic
    ++counts[i];
  }
  for (int i = 0; i < most; ++i) CHECK(counts[i] == 2);
}

static void check_loop_construct(int n) {
  int sum = 0;
#ifndef __clang__
  int counts[most] = {0};
#pragma omp parallel num_threads(n)
  {
#pragma omp loop bind(parallel)
    for (int i = 0; i < most; ++i) ++counts[i];
    // The loop's barrier lets every rank see all of them.
    for (int i = 0; i < most; ++i) CHECK(counts[i] == 1);
#pragma omp barrier
    int own = 0;
#pragma omp loop bind(thread) reduction(+ : own)
    for (int i = 0; i < 10; ++i) own += i;
    CHECK(own == 45);
  }
#endif
#pragma omp parallel for order(concurrent) reduction(+ : sum) num_threads(n)
  for (int i = 0; i < 100; ++i) sum += i;
  CHECK(sum == 4950);
#pragma omp parallel for simd reduction(+ : sum) num_threads(n) schedule(simd : static)
  for (int i = 0; i < 100; ++i) sum += i;
  CHECK(sum == 9900);
}

struct pair {
  long count, most;
};
#pragma omp declare reduction(                                                \
    join                                                                      \
    : struct pair                                                             \
    : omp_out.count += omp_in.count,                                          \
      omp_out.most = omp_out.most > omp_in.most ? omp_out.most : omp_in.most) \
    initializer(omp_priv = {0, -1})

static void check_declared_reduction(int n) {
  struct pair all = {0, -1};
#pragma omp parallel for reduction(join : all) num_threads(n)
  for (int i = 0; i < 1000; ++i) {
    ++all.count;
    if ((i * 7) % 1000 > all.most) all.most = (i * 7) % 1000;
  }
  CHECK(all.count == 1000 && all.most == 999);
}

static void check_memory(int n) {
  int* const shared_values = omp_alloc(most * sizeof(int), omp_default_mem_alloc);
  CHECK(shared_values != NULL);
  memset(shared_values, 0, most * sizeof(int));
#pragma omp parallel num_threads(n)
  {
    int* const own = omp_alloc(sizeof(int), omp_cgroup_mem_alloc);
    *own = omp_get_thread_num();
    shared_values[*own] = *own + 1;
    omp_free(own, omp_cgroup_mem_alloc);
  }
  for (int i = 0; i < most; ++i) CHECK(shared_values[i] == (i < n ? i + 1 : 0));
  omp_free(shared_values, omp_default_mem_alloc);
}

// In C, LLVM's omp.h gives these routines other names.
static void check_affinity_format(int n) {
  char before[128], own[64], expected[64];
  CHECK(omp_get_affinity_format(before, sizeof before) < sizeof before);
  omp_set_affinity_format("%n of %N");
  CHECK(omp_get_affinity_format(own, sizeof own) == 8 && strcmp(own, "%n of %N") == 0);
#pragma omp parallel num_threads(n) private(own, expected)
  {
    snprintf(expected, sizeof expected, "%d of %d", omp_get_thread_num(), n);
    CHECK(omp_capture_affinity(own, sizeof own, NULL) == strlen(expected));
    CHECK(strcmp(own, expected) == 0);
    // A buffer that is too small gets what fits.
    CHECK(omp_capture_affinity(own, 3, "%n of %N") == strlen(expected) && strlen(own) == 2);
  }
  omp_set_affinity_format(before);
}

// Target regions that their maker does not wait for may wait for an event that it fulfils later.
static void check_deferred_targets(int n) {
  int data = 0, value = 1, copied = 7;
#pragma omp parallel num_threads(n)
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : data) shared(data)
    data = 1;
#pragma omp target nowait depend(inout : data) map(tofrom : value) firstprivate(copied)
    value += copied;
#pragma omp target enter data nowait depend(inout : data) map(to : value)
#pragma omp target update nowait depend(inout : data) to(value)
#pragma omp task depend(in : data) shared(value)
    value *= 2;
    copied = 0;
    CHECK(value == 1);
    omp_fulfill_event(event);
#pragma omp taskwait
    CHECK(value == 16);
  }
}

// Clang 14 passes no limit to the host.
#ifndef __clang__
static void check_thread_limit_of_target(void) {
  int limits[3] = {0}, threads = 0;
  const int before = omp_get_thread_limit();
#pragma omp target map(from : limits, threads) thread_limit(2)
  {
    limits[0] = omp_get_thread_limit();
#pragma omp parallel num_threads(5)
#pragma omp single
    {
      threads = omp_get_num_threads();
      limits[1] = omp_get_thread_limit();
    }
  }
  CHECK(threads <= 2 && limits[0] == 2 && limits[1] == 2);
#pragma omp parallel
#pragma omp single
  {
    volatile int limit = 3;
#pragma omp target nowait map(from : limits) thread_limit(limit)
    limits[2] = omp_get_thread_limit();
    limit = 1;
#pragma omp taskwait
  }
  CHECK(limits[2] == 3 && omp_get_thread_limit() == before);
}
#endif

// A target region also waits for a task that awaits an event if another task has made it.
static atomic_int event_is_known, is_fulfilled;
static omp_event_handle_t event_of_target;

static void* fulfil_later(void* unused) {
  (void)unused;
  while (!event_is_known) usleep(100);
  usleep(2000);
  is_fulfilled = 1;
  omp_fulfill_event(event_of_target);
  return NULL;
}

static void make_detached(void) {
#pragma omp task
  {
    int x = 0;
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : x)
    {}
    event_of_target = event;
    event_is_known = 1;
  }
}

static void check_event_of_target(void) {
  event_is_known = is_fulfilled = 0;
  pthread_t other;
  CHECK(pthread_create(&other, NULL, fulfil_later, NULL) == 0);
#pragma omp target
  make_detached();
#ifndef __clang__
  // Clang runs the region as a part of the task that comes to it.
  CHECK(is_fulfilled);
#endif
  pthread_join(other, NULL);
}

static void check_merged_tasks(int n) {
  int value = 0, in_final = 0;
#pragma omp parallel num_threads(n)
#pragma omp single
  {
#pragma omp task mergeable if (0) shared(value)
    ++value;
    CHECK(value == 1);
#pragma omp task final(1) shared(value, in_final)
    {
      in_final = omp_in_final();
#pragma omp task mergeable shared(value)
      ++value;
      // A final task runs its children at once.
      CHECK(value == 2);
    }
#pragma omp taskwait
    CHECK(in_final && !omp_in_final());
#pragma omp task affinity(value) shared(value)
    ++value;
#pragma omp taskwait
    CHECK(value == 3);
  }
}

// clang 14 has none of these; its `loop` does not share the iterations.
#ifndef __clang__
static void check_scope(int n) {
  int sum = 0;
#pragma omp parallel num_threads(n)
  {
#pragma omp scope reduction(+ : sum)
    sum += omp_get_thread_num() + 1;
    CHECK(sum == n * (n + 1) / 2);
#pragma omp barrier
#pragma omp scope nowait reduction(+ : sum)
    sum += 1;
  }
  CHECK(sum == n * (n + 1) / 2 + n);
}

static void check_filter(int n) {
  int ran = -1, count = 0;
#pragma omp parallel num_threads(n)
  {
#pragma omp masked filter(n - 1)
    ran = omp_get_thread_num();
#pragma omp masked filter(n)
    ++count;
  }
  CHECK(ran == n - 1 && count == 0);
}

static void check_compare(int n) {
  int largest = -1;
#pragma omp parallel for num_threads(n)
  for (int i = 0; i < 500; ++i) {
    const int candidate = (i * 7) % 500;
#pragma omp atomic compare
    if (candidate > largest) {
      largest = candidate;
    }
  }
  CHECK(largest == 499);
}

static void check_strict(int n) {
  int sizes[most] = {0}, tasks = 0;
#pragma omp parallel num_threads(n)
#pragma omp single
#pragma omp taskloop grainsize(strict : 7) shared(sizes, tasks)
  for (int i = 0; i < 50; ++i) {
    // The first iteration of each task counts it.
    if (i % 7 == 0) {
#pragma omp atomic
      ++tasks;
    }
#pragma omp atomic
    ++sizes[i / 7];
  }
  CHECK(tasks == 8);
  for (int i = 0; i < most; ++i) CHECK(sizes[i] == (i < 7 ? 7 : i == 7 ? 1 : 0));
}

static void check_error(void) {
  int passed = 0;
#pragma omp error at(execution) severity(warning) message("a warning that the test expects")
  ++passed;
  CHECK(passed == 1);
}
#endif

int main(void) {
  const int n = omp_get_max_threads();
  for (int repeat = 0; repeat < 5; ++repeat) {
    check_linear();
    check_proc_bind(n);
    check_depobj(n);
    check_iterator(n);
    check_nogroup(n);
    check_atomics(n);
    check_hints(n);
#ifndef __SANITIZE_THREAD__
    check_flush(n);
#endif
    check_cancel_sections(omp_get_cancellation());
    check_teams(n);
    check_loop_construct(n);
    check_declared_reduction(n);
    check_memory(n);
    check_affinity_format(n);
    check_merged_tasks(n);
    check_deferred_targets(n);
    check_event_of_target();
#ifndef __clang__
    check_scope(n);
    check_filter(n);
    check_compare(n);
    check_strict(n);
    check_thread_limit_of_target();
    check_error();
#endif
  }
  return 0;
}
