// SPDX-License-Identifier: Apache-2.0
// Threads that the program makes and ends: what each leaves behind, and a main() that ends its
// thread while others go on.
#include <pthread.h>
#include <stdint.h>
#include <string.h>

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

static void* outlive_main(void* main_thread) {
  CHECK(pthread_join(*(pthread_t*)main_thread, NULL) == 0);
  for (int i = 0; i < 10; ++i) short_life((void*)3);
  return NULL;
}

int main(void) {
  const int n = omp_get_max_threads();
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
