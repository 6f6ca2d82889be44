// SPDX-License-Identifier: Apache-2.0
// Threads that the program makes and ends: what each leaves behind, and a main() that ends its
// thread while others go on; and the ends of the runtime's own threads.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

#include "preload/openmp/tests/check.h"

static long resident_kib(void) {
  FILE* const status = fopen("/proc/self/status", "r");
  CHECK(status != NULL);
  char line[256];
  long found = -1;
  while (fgets(line, sizeof line, status) != NULL)
    if (strncmp(line, "VmRSS:", 6) == 0) found = atol(line + 6);
  fclose(status);
  CHECK(found > 0);
  return found;
}

// Orphaned constructs outside of regions belong to the thread, too.
static long work_alone(void) {
  long sum = 0;
  int first = 0;
#pragma omp for schedule(dynamic) ordered
  for (int i = 0; i < 20; ++i)
#pragma omp ordered
    sum += i;
#pragma omp task depend(out : first) shared(first)
  first = 1;
#pragma omp task depend(in : first) shared(first, sum)
  sum += first;
#pragma omp taskwait
  return sum;
}

static void* short_life(void* threads) {
  CHECK(omp_get_max_threads() > 0 && omp_get_num_threads() == 1 && omp_get_level() == 0);
  CHECK(work_alone() == 191);
  long sum = 0;
#pragma omp parallel for num_threads((int)(intptr_t)threads) reduction(+ : sum)
  for (int i = 0; i < 100; ++i) sum += i;
  CHECK(sum == 4950);
  // The next thread has its own settings.
  omp_set_num_threads(1 + omp_get_max_threads());
  CHECK(work_alone() == 191);
  return NULL;
}

static void live_shortly(int times, intptr_t threads) {
  const int usual = omp_get_max_threads();
  for (int i = 0; i < times; ++i) {
    pthread_t both[2];
    for (int k = 0; k < 2; ++k)
      CHECK(pthread_create(&both[k], NULL, short_life, (void*)threads) == 0);
    for (int k = 0; k < 2; ++k) CHECK(pthread_join(both[k], NULL) == 0);
  }
  CHECK(omp_get_max_threads() == usual);
}

// ---- what a worker answers to the program's destructors when it ends

static pthread_key_t at_end;
static int asked;

static void ask_at_end(void* unused) {
  (void)unused;
  CHECK(!omp_in_parallel() && omp_get_level() == 0 && omp_get_num_threads() == 1);
  CHECK(omp_get_thread_num() == 0 && omp_get_max_threads() > 0 && omp_get_num_procs() > 0);
#pragma omp atomic
  ++asked;
}

static void check_ends_of_workers(int n) {
  asked = 0;
#pragma omp parallel num_threads(n)
  {
#pragma omp task
    CHECK(omp_in_parallel() == (n > 1));
    if (omp_get_thread_num() != 0) CHECK(pthread_setspecific(at_end, &at_end) == 0);
  }
  CHECK(omp_pause_resource_all(omp_pause_hard) == 0);
  for (int now = 0; now < n - 1;) {
    usleep(100);
#pragma omp atomic read
    now = asked;
  }
}

// A worker that ends leaves nothing behind. (It used to be 640 bytes.)
static void check_memory_of_workers(int n) {
  for (int i = 0; i < 100; ++i) check_ends_of_workers(n);
  const long before = resident_kib();
  for (int i = 0; i < 250; ++i) check_ends_of_workers(n);
  CHECK(resident_kib() < before + 64 * n);
}

// ---- workers use the CPUs that the thread may use which opens the region

static void* use_one_cpu(void* threads) {
  cpu_set_t all, one;
  CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
  const int had = omp_get_num_procs();
  CHECK(had >= 1 && had <= CPU_COUNT(&all));
  size_t cpu = CPU_SETSIZE;
  while (!CPU_ISSET(cpu - 1, &all)) --cpu;
  CPU_ZERO(&one);
  CPU_SET(cpu - 1, &one);
  CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
  CHECK(omp_get_num_procs() == 1);
  for (int i = 0; i < 20; ++i) {
#pragma omp parallel num_threads((int)(intptr_t)threads)
    {
      cpu_set_t mine;
      CHECK(sched_getaffinity(0, sizeof mine, &mine) == 0 && CPU_EQUAL(&mine, &one));
      CHECK(omp_get_num_procs() == 1);
    }
  }
  return NULL;
}

static void check_cpus(intptr_t threads) {
  pthread_t other;
  CHECK(pthread_create(&other, NULL, use_one_cpu, (void*)threads) == 0);
  CHECK(pthread_join(other, NULL) == 0);
  const int usual = omp_get_num_procs();
  // Its workers are not for threads that may use more CPUs.
#pragma omp parallel num_threads((int)threads)
  CHECK(omp_get_num_procs() == usual);
}

// ---- forks while other threads open regions that they may not have opened before: a thread
// remembers at most 64

static int is_over;

#define REGION(i)                                                             \
  static void region_##i(void) {                                              \
    _Pragma("omp parallel num_threads(1)") CHECK(omp_get_num_threads() == 1); \
  }
#define TEN(X, i) X(i##0) X(i##1) X(i##2) X(i##3) X(i##4) X(i##5) X(i##6) X(i##7) X(i##8) X(i##9)
#define FIFTY(X, i) TEN(X, i##1) TEN(X, i##2) TEN(X, i##3) TEN(X, i##4) TEN(X, i##5)
#define MANY(X) FIFTY(X, 1) FIFTY(X, 2) FIFTY(X, 3)
MANY(REGION)
#define CALL(i) region_##i();

static void* open_many_regions(void* unused) {
  for (int ends = 0; !ends;) {
    MANY(CALL)
#pragma omp atomic read
    ends = is_over;
  }
  return unused;
}

static int count_in_child(void) {
  int threads = 0;
#pragma omp parallel num_threads(2) reduction(+ : threads)
  ++threads;
  return threads;
}

static void check_forks(void) {
  pthread_t openers[2];
  for (int k = 0; k < 2; ++k)
    CHECK(pthread_create(&openers[k], NULL, open_many_regions, NULL) == 0);
  for (int i = 0; i < 100; ++i) {
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      // A child that waits for a thread that it does not have dies of it.
      alarm(20);
      _exit(count_in_child() == 2 ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
  }
#pragma omp atomic write
  is_over = 1;
  for (int k = 0; k < 2; ++k) CHECK(pthread_join(openers[k], NULL) == 0);
}

static void* outlive_main(void* main_thread) {
  CHECK(pthread_join(*(pthread_t*)main_thread, NULL) == 0);
  for (int i = 0; i < 10; ++i) short_life((void*)3);
  return NULL;
}

int main(void) {
  // The key is older than those of the runtime, so its destructor comes first.
  CHECK(pthread_key_create(&at_end, ask_at_end) == 0);
  const int n = omp_get_max_threads();
  check_memory_of_workers(n);
  check_cpus(n);
  check_forks();
  live_shortly(200, n);
  const long before = resident_kib();
  live_shortly(800, n);
  // A thread used to leave 9 KiB behind.
  CHECK(resident_kib() < before + 4000);
  static pthread_t me, other;
  me = pthread_self();
  CHECK(pthread_create(&other, NULL, outlive_main, &me) == 0);
  // The process ends with status 0 when the last thread of the program does.
  pthread_exit(NULL);
}
