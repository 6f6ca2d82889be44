// SPDX-License-Identifier: Apache-2.0
// Prints the settings that OMP_* variables have made; settings_test.py compares what it prints
// under libgomp and under tutti. The argument names one more thing to do.
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_settings(void) {
  omp_sched_t kind;
  int chunk;
  char format[256];
  omp_get_schedule(&kind, &chunk);
  omp_get_affinity_format(format, sizeof format);
  printf("threads %d of %d, dynamic %d\n", omp_get_max_threads(), omp_get_thread_limit(),
         omp_get_dynamic());
  printf("levels %d of %d\n", omp_get_max_active_levels(), omp_get_supported_active_levels());
  printf("schedule %x, %d\n", (unsigned)kind, chunk);
  printf("bind %d, places %d\n", (int)omp_get_proc_bind(), omp_get_num_places());
  printf("cancellation %d, device %d, priority %d\n", omp_get_cancellation(),
         omp_get_default_device(), omp_get_max_task_priority());
  printf("teams %d of %d threads\n", omp_get_max_teams(), omp_get_teams_thread_limit());
  printf("allocator %lu, format %s\n", (unsigned long)omp_get_default_allocator(), format);
}

static void print_regions(void) {
  int threads[3] = {0};
#pragma omp parallel
  {
#pragma omp masked
    {
      threads[0] = omp_get_num_threads();
#pragma omp parallel
#pragma omp masked
      {
        threads[1] = omp_get_num_threads();
#pragma omp parallel
#pragma omp masked
        threads[2] = omp_get_num_threads();
      }
    }
  }
  printf("regions of %d, %d, %d\n", threads[0], threads[1], threads[2]);
}

static void ignore(int rank) {
  static volatile int last;
#pragma omp atomic write
  last = rank;
}

// OMP_DISPLAY_AFFINITY prints lines for some of these regions.
static void open_regions(void) {
  static const int sizes[] = {2, 2, 1, 2, 3, 3, 2};
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    fprintf(stderr, "region of %d\n", sizes[i]);
#pragma omp parallel num_threads(sizes[i])
    ignore(omp_get_thread_num());
  }
  for (int bind = 0; bind < 3; ++bind) {
    fprintf(stderr, "bound in another way\n");
#pragma omp parallel num_threads(3) proc_bind(primary)
    ignore(omp_get_thread_num());
#pragma omp parallel num_threads(3) proc_bind(close)
    ignore(omp_get_thread_num());
#pragma omp parallel num_threads(3) proc_bind(spread)
    ignore(omp_get_thread_num());
#pragma omp parallel num_threads(3)
    ignore(omp_get_thread_num());
  }
  for (int again = 0; again < 2; ++again) {
    fprintf(stderr, "nested regions\n");
#pragma omp parallel num_threads(3)
    if (omp_get_thread_num() == 2) {
#pragma omp parallel num_threads(2)
      ignore(omp_get_thread_num());
    }
  }
  fprintf(stderr, "after a pause\n");
  omp_pause_resource_all(omp_pause_hard);
#pragma omp parallel num_threads(3)
  ignore(omp_get_thread_num());
}

// The size of a worker's stack. The runtimes add some to what a program wants.
static void print_stack(void) {
  size_t size = 0;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) {
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_destroy(&attributes);
  }
  printf("stack of %zu times 64 KB\n", size >> 16);
}

enum { most_threads = 9, most_places = 16 };
struct of_rank {
  int place, first, count;
};

static struct of_rank here(void) {
  int numbers[most_places] = {-1};
  omp_get_partition_place_nums(numbers);
  return (struct of_rank){omp_get_place_num(), numbers[0], omp_get_partition_num_places()};
}

static void print_places(const char* name, const struct of_rank* ranks, int count) {
  printf("%s %d:", name, count);
  for (int i = 0; i < count; ++i)
    printf(" %d of %d+%d", ranks[i].place, ranks[i].first, ranks[i].count);
  puts("");
}

// The places of the ranks, in regions and in nested ones. The regions become smaller: in one that
// needs more threads than the last, libgomp may give the last thread the place after its own.
static void open_bound_regions(void) {
  struct of_rank ranks[most_threads], inner[most_threads];
  for (int n = most_threads; n > 0; --n) {
#pragma omp parallel num_threads(n)
    ranks[omp_get_thread_num()] = here();
    print_places("default", ranks, n);
#pragma omp parallel num_threads(n) proc_bind(primary)
    ranks[omp_get_thread_num()] = here();
    print_places("primary", ranks, n);
#pragma omp parallel num_threads(n) proc_bind(close)
    ranks[omp_get_thread_num()] = here();
    print_places("close", ranks, n);
#pragma omp parallel num_threads(n) proc_bind(spread)
    ranks[omp_get_thread_num()] = here();
    print_places("spread", ranks, n);
  }
  for (int outer = 5; outer > 0; --outer)
    for (int opener = 0; opener < outer; ++opener)
      for (int n = 1; n <= 5; ++n) {
#pragma omp parallel num_threads(outer) proc_bind(spread)
        if (omp_get_thread_num() == opener) {
#pragma omp parallel num_threads(n) proc_bind(spread)
          ranks[omp_get_thread_num()] = here();
#pragma omp parallel num_threads(n) proc_bind(close)
          inner[omp_get_thread_num()] = here();
        }
        printf("in rank %d of %d: ", opener, outer);
        print_places("spread", ranks, n);
        print_places("close", inner, n);
      }
  ranks[0] = here();
  print_places("afterwards", ranks, 1);
}

// The places of regions without the clause, inside of one that has it.
static void open_regions_inside(void) {
  struct of_rank ranks[2][2];
#define OPEN(bind)                                                                       \
  _Pragma(bind) {                                                                        \
    const int opener = omp_get_thread_num();                                             \
    _Pragma("omp parallel num_threads(2)") ranks[opener][omp_get_thread_num()] = here(); \
    _Pragma("omp barrier") _Pragma("omp masked")                                         \
        printf("%s: bind %d\n", bind, (int)omp_get_proc_bind());                         \
  }                                                                                      \
  for (int i = 0; i < 2; ++i) print_places("inside", ranks[i], 2)
  OPEN("omp parallel num_threads(2) proc_bind(primary)");
  OPEN("omp parallel num_threads(2) proc_bind(close)");
  OPEN("omp parallel num_threads(2) proc_bind(spread)");
  OPEN("omp parallel num_threads(2)");
}

int main(int count, char** arguments) {
  const char* const what = count > 1 ? arguments[1] : "";
  print_settings();
  print_regions();
  fflush(stdout);
  if (strcmp(what, "display") == 0) omp_display_env(0);
  if (strcmp(what, "display_all") == 0) omp_display_env(1);
  if (strcmp(what, "affinity") == 0) {
    omp_display_affinity("level %L of %N");
    omp_display_affinity(NULL);
  }
  if (strcmp(what, "capture") == 0) {
    char text[32];
    const size_t size = omp_capture_affinity(text, sizeof text, arguments[2]);
    printf("%zu '%s'\n", size, text);
    omp_display_affinity(arguments[2]);
#pragma omp parallel num_threads(2)
#pragma omp masked
    omp_display_affinity(arguments[2]);
  }
  if (strcmp(what, "again") == 0) {
    print_regions();
    print_regions();
  }
  if (strcmp(what, "regions") == 0) open_regions();
  if (strcmp(what, "stack") == 0) print_stack();
  if (strcmp(what, "inside") == 0) open_regions_inside();
  if (strcmp(what, "places") == 0) open_bound_regions();
  if (strcmp(what, "pause") == 0)
    printf("pauses %d %d %d %d\n", omp_pause_resource((omp_pause_resource_t)3, 0),
           omp_pause_resource_all((omp_pause_resource_t)0), omp_pause_resource(omp_pause_soft, 1),
           omp_pause_resource(omp_pause_hard, -1));
#ifndef __clang__
  if (strcmp(what, "warning") == 0) {
#pragma omp error at(execution) severity(warning) message("it goes on")
#pragma omp error at(execution) severity(warning)
    puts("after the warnings");
  }
  if (strcmp(what, "fatal") == 0) {
#pragma omp error at(execution) severity(fatal) message("it ends here")
    puts("after the end");
  }
  if (strcmp(what, "fatal_in_region") == 0) {
#pragma omp parallel
    {
#pragma omp barrier
      if (omp_get_thread_num() == omp_get_num_threads() - 1) {
#pragma omp error at(execution)
      }
#pragma omp barrier
#pragma omp single
      puts("after the end");
    }
  }
#endif
  return 0;
}
