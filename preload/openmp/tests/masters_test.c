// SPDX-License-Identifier: Apache-2.0
// Several threads of the program open regions at once, threads come and go, and forked children
// open regions too.
#include <pthread.h>
#include <sys/wait.h>

#include "preload/openmp/tests/check.h"

static long sum_of_regions(int regions) {
  long sum = 0;
  for (int r = 0; r < regions; ++r) {
#pragma omp parallel for schedule(dynamic, 4) reduction(+ : sum)
    for (int i = 0; i < 40; ++i) sum += i;
#pragma omp parallel reduction(+ : sum)
    {
#pragma omp barrier
      sum += omp_get_thread_num() == 0;
    }
  }
  return sum;
}

static void* master(void* raw) {
  (void)raw;
  CHECK(sum_of_regions(50) == 50 * 781);
  return NULL;
}

static void check_masters(void) {
  for (int repeat = 0; repeat < 3; ++repeat) {
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i) CHECK(pthread_create(&threads[i], NULL, master, NULL) == 0);
    for (int i = 0; i < 4; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  }
}

static void check_fork(void) {
  for (int repeat = 0; repeat < 5; ++repeat) {
    CHECK(sum_of_regions(3) == 3 * 781);
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      CHECK(sum_of_regions(5) == 5 * 781);
      _exit(23);
    }
    CHECK(sum_of_regions(3) == 3 * 781);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 23);
  }
}

static void check_pause(void) {
  CHECK(omp_pause_resource_all(omp_pause_soft) == 0);
  CHECK(sum_of_regions(3) == 3 * 781);
}

int main(void) {
  check_fork();
  check_masters();
  check_pause();
  check_fork();
  return 0;
}
