// SPDX-License-Identifier: Apache-2.0
// A process forks while another of its threads makes and destroys barriers: the children can make
// some, too. So can handlers of forks, and threads may make barriers under a lock that the program
// takes for each fork.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { forks = 1000 };

static atomic_int is_over;

static void make_and_destroy(pthread_barrierattr_t* shared) {
  pthread_barrier_t one, between_processes;
  pthread_barrier_init(&one, NULL, 1);
  pthread_barrier_wait(&one);
  pthread_barrier_destroy(&one);
  pthread_barrier_init(&between_processes, shared, 1);
  pthread_barrier_wait(&between_processes);
  pthread_barrier_destroy(&between_processes);
}

static pthread_mutex_t taken_for_forks = PTHREAD_MUTEX_INITIALIZER;

static void* make_and_destroy_always(void* raw) {
  while (!is_over) {
    make_and_destroy(raw);
    pthread_mutex_lock(&taken_for_forks);
    make_and_destroy(raw);
    pthread_mutex_unlock(&taken_for_forks);
  }
  return NULL;
}

static void make_one(void) {
  pthread_barrier_t one;
  pthread_barrier_init(&one, NULL, 1);
  pthread_barrier_wait(&one);
  pthread_barrier_destroy(&one);
}
static void before_a_fork(void) {
  make_one();
  pthread_mutex_lock(&taken_for_forks);
}
static void after_a_fork(void) {
  make_one();
  pthread_mutex_unlock(&taken_for_forks);
}
// It runs before the constructors of preloaded libraries.
__attribute__((constructor(101))) static void register_handlers(void) {
  pthread_atfork(before_a_fork, after_a_fork, after_a_fork);
}

int main(void) {
  alarm(100);
  pthread_barrierattr_t shared;
  pthread_barrierattr_init(&shared);
  pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  pthread_t other;
  if (pthread_create(&other, NULL, make_and_destroy_always, &shared) != 0) return 2;
  int status = 0;
  for (int i = 0; i < forks && status == 0; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      make_and_destroy(&shared);
      _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) return 2;
    if (status != 0) fprintf(stderr, "the child of fork %d ended with status %d\n", i, status);
  }
  is_over = 1;
  pthread_join(other, NULL);
  return status != 0;
}
