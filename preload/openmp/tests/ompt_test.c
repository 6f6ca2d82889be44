/* SPDX-License-Identifier: Apache-2.0
 * Each construct a known number of times, for the counts of ompt_test.py; with an argument, the
 * ways in which a program ends or forks beside a tool. */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>

#include "preload/openmp/tests/check.h"

static int shared_sum;

static void constructs(void) {
  omp_lock_t lock;
  omp_nest_lock_t nest;
  omp_init_lock(&lock);
  omp_init_nest_lock(&nest);
#pragma omp parallel
  {
#pragma omp barrier
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 10; ++i) {
#pragma omp atomic
      ++shared_sum;
    }
#pragma omp single nowait
    {
#pragma omp atomic
      ++shared_sum;
    }
#pragma omp sections
    {
#pragma omp section
      {
#pragma omp atomic
        ++shared_sum;
      }
#pragma omp section
      {
#pragma omp atomic
        ++shared_sum;
      }
    }
#pragma omp critical
    ++shared_sum;
    omp_set_lock(&lock);
    omp_unset_lock(&lock);
    omp_set_nest_lock(&nest);
    omp_set_nest_lock(&nest);
    omp_unset_nest_lock(&nest);
    omp_unset_nest_lock(&nest);
#pragma omp for ordered schedule(dynamic)
    for (int i = 0; i < 8; ++i) {
#pragma omp ordered
      ++shared_sum;
    }
#pragma omp single
    {
      for (int i = 0; i < 5; ++i) {
#pragma omp task
        {
#pragma omp atomic
          ++shared_sum;
        }
      }
#pragma omp task if (0)
      {
#pragma omp atomic
        ++shared_sum;
      }
#pragma omp taskwait
#pragma omp taskgroup
      {
#pragma omp task depend(out : shared_sum)
        {
#pragma omp atomic
          ++shared_sum;
        }
      }
#pragma omp taskloop num_tasks(3)
      for (int i = 0; i < 6; ++i) {
#pragma omp atomic
        ++shared_sum;
      }
    }
  }
#pragma omp parallel for schedule(dynamic) num_threads(2)
  for (int i = 0; i < 4; ++i) {
#pragma omp atomic
    ++shared_sum;
  }
#pragma omp parallel num_threads(2)
  {
#pragma omp parallel num_threads(2)
    {
#pragma omp atomic
      ++shared_sum;
    }
  }
  omp_destroy_lock(&lock);
  omp_destroy_nest_lock(&nest);
}

static void* other_thread(void* unused) {
#pragma omp parallel num_threads(2)
  {
#pragma omp atomic
    ++shared_sum;
  }
  return unused;
}

/* A region of the child uses new threads, and the child's end is the tool's, too. */
static void fork_once(void) {
#pragma omp parallel
  {
#pragma omp atomic
    ++shared_sum;
  }
  const pid_t child = fork();
  if (child == 0) {
#pragma omp parallel
    {
#pragma omp atomic
      ++shared_sum;
    }
    exit(7);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* A region that ends the program while the others work. */
static void exit_inside(void) {
#pragma omp parallel
  {
    for (int i = 0; i < 20; ++i) {
#pragma omp task
      {
#pragma omp atomic
        ++shared_sum;
      }
    }
    if (omp_get_thread_num() == omp_get_num_threads() - 1) exit(0);
#pragma omp taskwait
  }
}

/* Another thread runs the task of one that waits, so its ancestors are those of several threads. */
static void tasks_elsewhere(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(3)
  if (omp_get_thread_num() == 1) {
    int is_done = 0;
#pragma omp task shared(is_done, lock)
    {
#pragma omp parallel num_threads(2)
      {
        omp_set_lock(&lock);
        omp_unset_lock(&lock);
      }
#pragma omp task if (0)
      {
        omp_set_lock(&lock);
        omp_unset_lock(&lock);
      }
#pragma omp atomic write
      is_done = 1;
    }
    for (int now = 0; !now;) {
#pragma omp atomic read
      now = is_done;
    }
  }
  omp_destroy_lock(&lock);
}

int main(int count, char** arguments) {
  const char* const what = count > 1 ? arguments[1] : "";
  omp_set_max_active_levels(2);
  if (strcmp(what, "fork") == 0) {
    fork_once();
  } else if (strcmp(what, "exit") == 0) {
    exit_inside();
  } else if (strcmp(what, "threads") == 0) {
    pthread_t two[2];
    for (int i = 0; i < 2; ++i) pthread_create(&two[i], NULL, other_thread, NULL);
    for (int i = 0; i < 2; ++i) pthread_join(two[i], NULL);
  } else if (strcmp(what, "tasks") == 0) {
    tasks_elsewhere();
  } else if (strcmp(what, "many") == 0) {
    for (int i = 0; i < 200; ++i) constructs();
  } else {
    constructs();
  }
  return 0;
}
