// SPDX-License-Identifier: Apache-2.0
// What long runs need: the stack and the memory do not grow with the number of tasks or of loops
// that have ended.
#include <malloc.h>
#include <time.h>

#include "preload/openmp/tests/check.h"

// Each task makes the next one and ends.
static _Thread_local int inside = 0;
static int deepest = 0;

static void plain_chain(int rest, int* count) {
  ++*count;
  if (rest == 0) return;
#pragma omp task firstprivate(rest, count)
  plain_chain(rest - 1, count);
}

static void dependent_chain(int rest, int* count) {
  ++*count;
  ++inside;
  if (inside > deepest) deepest = inside;
  if (rest > 0) {
#pragma omp task firstprivate(rest, count) depend(inout : *count)
    dependent_chain(rest - 1, count);
  }
  --inside;
}

// One thread runs such a chain with a stack that does not grow with it.
static void check_chains_of_one_thread(void) {
  const int length = 100000;
  int count = 0;
#pragma omp parallel num_threads(1)
  {
#pragma omp taskgroup
    plain_chain(length, &count);
    CHECK(count == length + 1);
    dependent_chain(length, &count);
#pragma omp barrier
    CHECK(count == 2 * (length + 1));
    // Deep inside of other tasks a task waits for those that it makes.
#pragma omp taskgroup
    plain_chain(60, &count);
    plain_chain(length, &count);
#pragma omp task shared(count)
    plain_chain(length, &count);
  }
  CHECK(count == 4 * (length + 1) + 61);
  CHECK(deepest < length / 2);
}

// Tasks that are nested deeply and wait for each other run right, and in order if they depend on
// each other.
static int sum_of_nested(int depth) {
  int sums[3] = {0}, order = 0;
  if (depth == 0) return 1;
#pragma omp task shared(sums, order) depend(inout : order)
  {
    CHECK(order++ == 0);
    sums[0] = sum_of_nested(depth - 1);
  }
#pragma omp task shared(sums, order) depend(inout : order)
  {
    CHECK(order++ == 1);
    sums[1] = 1;
  }
#pragma omp task shared(sums, order) depend(in : order) if (depth % 2 == 0)
  {
    CHECK(order == 2);
    sums[2] = 1;
  }
#pragma omp taskwait
  return sums[0] + sums[1] + sums[2];
}

static void check_nested(int threads) {
  int result = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  result = sum_of_nested(500);
  CHECK(result == 1001);
}

// A chain leaves its ancestors out, and the end of a task still queues those that wait for it. If
// tasks run inside of each other, the memory of all is in use.
static void check_dependent_chain(void) {
  const int length = 10000;
  int count = 0, after = 0;
  const size_t before = mallinfo2().uordblks;
  deepest = 0;
#pragma omp parallel
#pragma omp single
  {
    dependent_chain(length, &count);
#pragma omp task depend(in : count) shared(after)
    after = 1;
  }
  CHECK(count == length + 1 && after == 1);
  CHECK(deepest > length / 2 || mallinfo2().uordblks < before + 3000000);
}

// Chains of dependent tasks whose siblings wait for them.
static void check_siblings_of_chains(void) {
  enum { chains = 40 };
  int counts[chains] = {0}, seen[chains] = {0};
#pragma omp parallel
#pragma omp single
  for (int c = 0; c < chains; ++c) {
#pragma omp task shared(counts, seen) firstprivate(c)
    for (int repeat = 0; repeat < 5; ++repeat) {
#pragma omp task shared(counts) firstprivate(c) depend(inout : counts[c])
      {
#pragma omp taskgroup
        plain_chain(10, &counts[c]);
      }
#pragma omp task shared(counts, seen) firstprivate(c) depend(in : counts[c])
      {
#pragma omp atomic
        seen[c] += counts[c];
      }
    }
  }
  for (int c = 0; c < chains; ++c) CHECK(seen[c] == 11 * (1 + 2 + 3 + 4 + 5));
}

static long resident_kilobytes(void) {
  long pages = 0, resident = 0;
  FILE* const file = fopen("/proc/self/statm", "r");
  CHECK(file != NULL && fscanf(file, "%ld %ld", &pages, &resident) == 2);
  fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

// What is known of an address is forgotten when its tasks have ended, also while their maker goes
// on, and also outside of regions.
static void use_addresses(int count) {
  static char addresses[100000];
  for (int i = 0; i < count; ++i) {
    long big[40] = {i};
#pragma omp task depend(inout : addresses[i]) firstprivate(big)
    CHECK(big[0] == i);
    if (i % 3 == 0) {
#pragma omp task depend(in : addresses[i], addresses[i / 2])
      {}
    }
  }
}

static void check_many_addresses(void) {
  use_addresses(1000);
#pragma omp parallel
#pragma omp single
  use_addresses(1000);
  const long before = resident_kilobytes();
  use_addresses(100000);
#pragma omp parallel
#pragma omp single
  use_addresses(100000);
  CHECK(resident_kilobytes() < before + 20000);
}

// ---- the time to make tasks

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// A task takes no longer to make if many wait that read what an unfinished one writes.
static void check_many_readers(void) {
  enum { readers = 50000 };
  int written = 0, done = 0;
#pragma omp parallel
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task depend(out : written) detach(event)
    {}
    const double begin = processor_seconds();
    for (int i = 0; i < readers; ++i) {
#pragma omp task depend(in : written) shared(done)
#pragma omp atomic
      ++done;
    }
    CHECK(processor_seconds() - begin < 0.7);
    omp_fulfill_event(event);
  }
  CHECK(done == readers);
}

// Nor if many of lower priorities wait, whichever thread makes them, all of which it might run.
static void check_many_priorities(void) {
  enum { tasks = 10000 };
  int done = 0, is_made = 0;
#pragma omp parallel
  {
    if (omp_get_thread_num() + 1 == omp_get_num_threads()) {
      const double begin = processor_seconds();
      for (int i = 0; i < 2 * tasks; ++i) {
#pragma omp task shared(done) priority(i < tasks ? i % 5 : 5)
#pragma omp atomic
        ++done;
      }
      CHECK(processor_seconds() - begin < 0.7);
#pragma omp atomic write
      is_made = 1;
    }
    for (int now = 0; !now;) {
      usleep(50);
#pragma omp atomic read
      now = is_made;
    }
  }
  CHECK(done == 2 * tasks);
}

// ---- loops whose iterations wait for earlier ones

static void run_doacross(int loops, int* last) {
  for (int i = 0; i < loops; ++i) {
#pragma omp for ordered(1) nowait
    for (int k = 0; k < 4; ++k) {
#pragma omp ordered depend(sink : k - 1)
      if (k == 3) last[i] = k;
#pragma omp ordered depend(source)
    }
  }
}

static void check_many_doacross_loops(void) {
  enum { few = 300, many = 100000 };
  static int last[many];
#pragma omp parallel
  run_doacross(few, last);
  for (int i = 0; i < few; ++i) CHECK(last[i] == 3);
#pragma omp parallel num_threads(1)
  {
    run_doacross(few, last);
    const struct mallinfo2 before = mallinfo2();
    run_doacross(many, last);
    const struct mallinfo2 after = mallinfo2();
    CHECK(after.uordblks + after.hblkhd < before.uordblks + before.hblkhd + 100000);
  }
}

int main(void) {
  check_chains_of_one_thread();
  check_nested(1);
  check_nested(omp_get_max_threads());
  check_dependent_chain();
  check_siblings_of_chains();
  check_many_addresses();
  check_many_readers();
  check_many_priorities();
  check_many_doacross_loops();
  return 0;
}
