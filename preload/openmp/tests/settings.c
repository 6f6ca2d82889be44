// SPDX-License-Identifier: Apache-2.0
// Prints the settings that OMP_* variables have made; settings_test.py compares what it prints
// under libgomp and under tutti. The argument names one more thing to do.
#include <omp.h>
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
  return 0;
}
