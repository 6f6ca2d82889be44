// SPDX-License-Identifier: Apache-2.0
// Times OpenMP's constructs, whichever runtime runs them: constructs.py starts this program under
// several. The argument is the time in seconds. Each line of the output has the name of a construct
// and a sample in nanoseconds: the mean of a batch of empty constructs, or of tasks, in a row.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { batch = 200, depth = 9, tasks = 500 };

static void print(const char* name, double start, int times) {
  printf("%s %.1f\n", name, (omp_get_wtime() - start) / times * 1e9);
}

// About 100 ns.
static void work(void) {
  for (int i = 0; i < 300; ++i) __asm__ volatile("");
}

// ---- regions

static void time_regions(void) {
  double start = omp_get_wtime();
  for (int i = 0; i < batch; ++i) {
#pragma omp parallel
    __asm__ volatile("");
  }
  print("parallel", start, batch);

  volatile double sum = 0;
  start = omp_get_wtime();
  for (int i = 0; i < batch; ++i) {
    double mine = 0;
#pragma omp parallel reduction(+ : mine)
    mine += 1;
    sum += mine;
  }
  print("reduction", start, batch);
}

// ---- constructs inside of a region

static volatile int counter = 0;
static omp_lock_t lock;

static void barrier(void) {
#pragma omp barrier
}
static void loop(void) {
#pragma omp for
  for (int i = 0; i < 8; ++i) __asm__ volatile("");
}
static void dynamic_loop(void) {
#pragma omp for schedule(dynamic)
  for (int i = 0; i < 8; ++i) __asm__ volatile("");
}
static void ordered_loop(void) {
#pragma omp for ordered
  for (int i = 0; i < 8; ++i) {
#pragma omp ordered
    ++counter;
  }
}
static void sections(void) {
#pragma omp sections
  {
#pragma omp section
    __asm__ volatile("");
#pragma omp section
    __asm__ volatile("");
  }
}
static void single(void) {
#pragma omp single
  __asm__ volatile("");
}
static void critical(void) {
#pragma omp critical
  ++counter;
}
static void set_lock(void) {
  omp_set_lock(&lock);
  ++counter;
  omp_unset_lock(&lock);
}

static const struct {
  const char* name;
  void (*run)(void);
} constructs[] = {
    {"barrier", barrier},           {"for", loop},          {"for, dynamic", dynamic_loop},
    {"for, ordered", ordered_loop}, {"sections", sections}, {"single", single},
    {"critical", critical},         {"lock", set_lock},
};

// Rank 0 takes the time from barrier to barrier.
static void time_constructs(void) {
  omp_init_lock(&lock);
#pragma omp parallel
  for (unsigned c = 0; c < sizeof constructs / sizeof *constructs; ++c) {
    barrier();
    const double start = omp_get_wtime();
    for (int i = 0; i < batch; ++i) constructs[c].run();
    barrier();
    if (omp_get_thread_num() == 0) print(constructs[c].name, start, batch);
  }
  omp_destroy_lock(&lock);
}

// ---- tasks, the time of each

static void make_tree(int levels) {
  work();
  if (levels == 0) return;
#pragma omp task
  make_tree(levels - 1);
#pragma omp task
  make_tree(levels - 1);
#pragma omp taskwait
}

static void time_tasks(void) {
  const int threads = omp_get_max_threads();
  double start = omp_get_wtime();
#pragma omp parallel
#pragma omp single
  make_tree(depth);
  print("task tree", start, (2 << depth) - 2);

  start = omp_get_wtime();
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < tasks; ++i) {
#pragma omp task
    work();
  }
  print("tasks of one thread", start, tasks);

  start = omp_get_wtime();
#pragma omp parallel
  for (int i = 0; i < tasks; ++i) {
#pragma omp task
    work();
  }
  print("tasks of all threads", start, tasks * threads);

  start = omp_get_wtime();
#pragma omp parallel
  for (int i = 0; i < tasks / 10; ++i) {
#pragma omp task
    work();
#pragma omp barrier
  }
  print("task each, barrier", start, tasks / 10);
}

int main(int count, char** arguments) {
  const double end = omp_get_wtime() + (count > 1 ? atof(arguments[1]) : 0.5);
  do {
    time_regions();
    time_constructs();
    time_tasks();
  } while (omp_get_wtime() < end);
  return 0;
}
