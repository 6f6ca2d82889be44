// SPDX-License-Identifier: Apache-2.0
// Sums whose bits depend on the order of their parts, with random delays: with --reproducible all
// repeats agree. The argument is the number of repeats. With the argument `differs` the program
// succeeds if two repeats differ, as they do without --reproducible and with several threads.
#include <string.h>
#include <time.h>

#include "preload/openmp/tests/check.h"

enum { values = 96 };

static unsigned random_of(unsigned* state) { return *state = *state * 1664525u + 1013904223u; }

static void delay(unsigned* state) {
  if (random_of(state) >> 24 > 24) return;
  for (volatile unsigned i = random_of(state) >> 20; i > 0; --i) {
  }
}

static double value_of(int i) { return (i % 2 == 0 ? 1e16 : 1.0) / (i + 3); }

struct results {
  double of_two, also, of_one, dynamic, guided, product, in_turn, sections, tasks, critical, named;
};

// Partial sums that the program itself adds in critical regions, some ranks more often than others.
static void add_in_critical_regions(unsigned seed, struct results* r) {
  double critical = 0, named = 0;
  // GCC leaves its atomic updates to the runtime.
  long double wide = 0;
#pragma omp parallel
  {
    unsigned state = seed * 47 + (unsigned)omp_get_thread_num();
    double mine = 0;
#pragma omp for schedule(dynamic, 3) nowait
    for (int i = 0; i < values; ++i) {
      delay(&state);
      mine += value_of(i);
      if (i % 5 == 0) {
#pragma omp critical(sum)
        {
          named += value_of(i);
          // It belongs to the turn of the critical region.
#pragma omp atomic
          wide -= value_of(i + 1);
        }
      }
    }
#pragma omp critical
    critical += mine;
  }
  r->critical = critical, r->named = named + (double)wide;
}

static struct results compute(unsigned seed) {
  struct results r;
  memset(&r, 0, sizeof r);
  double a = 0, b = 0, one = 0, dynamic = 0, guided = 0, product = 1, in_turn = 0, parts = 0,
         tasks = 0;
#pragma omp parallel reduction(+ : a, b)
  {
    unsigned state = seed * 31 + (unsigned)omp_get_thread_num();
#pragma omp for nowait
    for (int i = 0; i < values; ++i) a += value_of(i), b -= value_of(i + 1);
    delay(&state);
  }
#pragma omp parallel reduction(+ : one)
  {
    unsigned state = seed * 37 + (unsigned)omp_get_thread_num();
#pragma omp for
    for (int i = 0; i < values; ++i) one += value_of(i);
    delay(&state);
  }
#pragma omp parallel reduction(+ : dynamic, guided) reduction(* : product)
  {
    unsigned state = seed * 41 + (unsigned)omp_get_thread_num();
#pragma omp for schedule(dynamic, 2)
    for (int i = 0; i < values; ++i) {
      delay(&state);
      dynamic += value_of(i);
      product *= 1 + 1.0 / (i + 3);
    }
#pragma omp for schedule(guided)
    for (int i = 0; i < values; ++i) {
      delay(&state);
      guided += value_of(i);
    }
  }
#pragma omp parallel
  {
    unsigned state = seed * 43 + (unsigned)omp_get_thread_num();
    for (int round = 0; round < 3; ++round) {
      delay(&state);
      const double mine = value_of(omp_get_thread_num() + round);
#pragma omp atomic
      in_turn += mine;
#pragma omp barrier
    }
#pragma omp sections reduction(+ : parts)
    {
#pragma omp section
      parts += 1e16;
#pragma omp section
      parts += 1;
#pragma omp section
      parts -= 1e16;
    }
#pragma omp single
    for (int i = 0; i < 8; ++i) {
#pragma omp task
      {
#pragma omp atomic
        tasks += value_of(i);
      }
    }
  }
  add_in_critical_regions(seed, &r);
  r.of_two = a, r.also = b, r.of_one = one, r.dynamic = dynamic, r.guided = guided;
  r.product = product, r.in_turn = in_turn, r.sections = parts, r.tasks = tasks;
  return r;
}

int main(int count, char** arguments) {
  const int expects_difference = count > 1 && strcmp(arguments[1], "differs") == 0;
  const int repeats = expects_difference ? 3000 : count > 1 ? atoi(arguments[1]) : 50;
  const unsigned seed = (unsigned)time(NULL) + (unsigned)getpid();
  const struct results first = compute(seed);
  int different = 0;
  for (int i = 1; i < repeats; ++i) {
    const struct results again = compute(seed + (unsigned)i);
    different += memcmp(&first, &again, sizeof first) != 0;
  }
  printf("%d of %d repeats differ with %d threads\n", different, repeats, omp_get_max_threads());
  return expects_difference ? different == 0 : different != 0;
}
