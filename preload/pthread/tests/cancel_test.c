// SPDX-License-Identifier: Apache-2.0
// Threads that are cancelled while they meet at a barrier, which is no cancellation point: all pass
// the barrier, and end at the cancellation point that follows.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { threads = 4 };

static pthread_barrier_t barrier;
static atomic_int is_asked_to_end, is_over;

static void* meet(void* raw) {
  for (int over = 0; !over;) {
    if (is_asked_to_end) is_over = 1;
    pthread_barrier_wait(&barrier);
    over = is_over;
    pthread_barrier_wait(&barrier);
  }
  *(int*)raw = 1;
  pthread_testcancel();
  return NULL;
}

int main(void) {
  alarm(60);
  // Threads that share a core ask the system, each 50 ms, where another one is idle.
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET((unsigned)sched_getcpu(), &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) return 2;
  pthread_t made[threads];
  int met[threads] = {0};
  if (pthread_barrier_init(&barrier, NULL, threads) != 0) return 2;
  for (int i = 0; i < threads; ++i)
    if (pthread_create(&made[i], NULL, meet, &met[i]) != 0) return 2;
  for (int i = 0; i < threads; ++i) pthread_cancel(made[i]);
  usleep(400000);
  is_asked_to_end = 1;
  int failed = 0;
  for (int i = 0; i < threads; ++i) {
    void* result = NULL;
    pthread_join(made[i], &result);
    if (met[i] && result == PTHREAD_CANCELED) continue;
    fprintf(stderr, "thread %d was cancelled %s\n", i, met[i] ? "never" : "at the barrier");
    failed = 1;
  }
  return failed;
}
