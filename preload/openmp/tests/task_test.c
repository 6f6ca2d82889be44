// SPDX-License-Identifier: Apache-2.0
// Tasks: waiting, groups, dependences, loops of tasks, reductions, priorities, events.
#include <malloc.h>
#include <string.h>

#include "preload/openmp/tests/check.h"

static long fibonacci(int n) {
  long a, b;
  if (n < 2) return n;
#pragma omp task shared(a)
  a = fibonacci(n - 1);
#pragma omp task shared(b) if (n > 5)
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}

static void check_taskwait(void) {
  long result = 0;
#pragma omp parallel
#pragma omp single
  result = fibonacci(13);
  CHECK(result == 233);
}

// A barrier, and the end of a region, wait for all tasks, and the other threads help.
static void check_barriers(void) {
  int done = 0;
#pragma omp parallel
  {
#pragma omp task shared(done)
    {
#pragma omp task shared(done)
      {
#pragma omp atomic
        ++done;
      }
#pragma omp atomic
      ++done;
    }
#pragma omp barrier
    CHECK(done == 2 * omp_get_num_threads());
#pragma omp barrier
#pragma omp task shared(done)
    {
#pragma omp atomic
      ++done;
    }
  }
  CHECK(done % 3 == 0 && done > 0);
}

static void check_group(void) {
#pragma omp parallel
#pragma omp single
  {
    int inner = 0;
#pragma omp taskgroup
    {
#pragma omp task shared(inner)
      {
#pragma omp task shared(inner)
        {
#pragma omp atomic
          ++inner;
        }
      }
    }
    CHECK(inner == 1);
  }
}

static void check_dependences(void) {
  int order = 0, x = 0, y = 0, readers = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 50; ++i) {
#pragma omp task depend(out : x) shared(order) firstprivate(i)
      CHECK(order++ == i);
    }
#pragma omp task depend(in : x) shared(readers)
    {
#pragma omp atomic
      ++readers;
    }
#pragma omp task depend(in : x) shared(readers)
    {
#pragma omp atomic
      ++readers;
    }
#pragma omp task depend(inout : x) depend(out : y) shared(readers, order)
    CHECK(readers == 2 && order == 50);
#pragma omp task depend(in : y) if (0) shared(readers)
    readers = 3;
    CHECK(readers == 3);
    for (int i = 0; i < 20; ++i) {
#pragma omp task depend(mutexinoutset : y) shared(readers)
      ++readers;
    }
#pragma omp taskwait depend(in : y)
    CHECK(readers == 23);
  }
}

static void check_taskloop(void) {
  int hits[500] = {0}, total = 0, nothing = 3;
  volatile int none = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop shared(hits)
    for (int i = 0; i < 500; ++i) ++hits[i];
#pragma omp taskloop grainsize(7) shared(hits)
    for (int i = 499; i >= 0; --i) ++hits[i];
#pragma omp taskloop num_tasks(9) shared(hits)
    for (unsigned long i = 0; i < 500; i += 2) ++hits[i];
#pragma omp taskloop reduction(+ : total) grainsize(11)
    for (int i = 0; i < 500; ++i) total += i;
#pragma omp taskloop reduction(+ : nothing)
    for (int i = 0; i < none; ++i) nothing += i;
#pragma omp taskloop reduction(+ : nothing)
    for (unsigned long long i = 10; i < (unsigned long long)none; ++i) nothing += 1;
  }
  CHECK(nothing == 3);
  for (int i = 0; i < 500; ++i) CHECK(hits[i] == 2 + (i % 2 == 0));
  CHECK(total == 499 * 250);
}

static void check_reductions(void) {
  int sum = 0;
#pragma omp parallel reduction(task, + : sum)
  {
    sum += 1;
#pragma omp task in_reduction(+ : sum)
    sum += 10;
  }
  CHECK(sum % 11 == 0 && sum > 0);
  int group = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup task_reduction(+ : group)
    for (int i = 0; i < 30; ++i) {
#pragma omp task in_reduction(+ : group) firstprivate(i)
      group += i;
    }
  }
  CHECK(group == 435);
  int loop = 0;
#pragma omp parallel
#pragma omp for reduction(task, + : loop)
  for (int i = 0; i < 30; ++i) {
#pragma omp task in_reduction(+ : loop) firstprivate(i)
    loop += i;
  }
  CHECK(loop == 435);
  // Tasks of the loop take part in the reduction of the region, too.
  int region = 0, inner = 1;
#pragma omp parallel reduction(task, + : region)
  for (int repeat = 0; repeat < 3; ++repeat) {
#pragma omp for reduction(task, * : inner)
    for (int i = 0; i < 30; ++i) {
#pragma omp task in_reduction(+ : region) in_reduction(* : inner) firstprivate(i)
      {
        region += i;
        if (i % 6 == 0) inner *= 2;
      }
    }
  }
  CHECK(region == 3 * 435 && inner == 1 << 15);
}

// Clang's functions for parts of arrays find their sizes in variables of the thread, which tasks
// set.
// It has to know the size of each array, also if the first tasks of the group take no part.
static void check_sizes_learned_late(int size) {
  long first[size], second[size + 1];
  for (int i = 0; i < size; ++i) first[i] = second[i] = 0;
  second[size] = 0;
  int done = 0, others = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(+ : first, second)
  {
    for (int t = 0; t < 10; ++t) {
#pragma omp task shared(others)
#pragma omp atomic
      ++others;
#pragma omp task in_reduction(+ : first) shared(done)
      {
        for (int i = 0; i < size; ++i) first[i] += i;
#pragma omp atomic
        ++done;
      }
    }
    for (int t = 0; t < 10; ++t) {
#pragma omp task in_reduction(+ : second) shared(done)
      {
        for (int i = 0; i <= size; ++i) second[i] += 2 * i;
#pragma omp atomic
        ++done;
      }
    }
    for (int wait = 0, d = 0; wait < 20 && d < 20; ++wait) {
      usleep(500);
#pragma omp atomic read
      d = done;
    }
  }
  CHECK(others == 10);
  for (int i = 0; i < size; ++i) CHECK(first[i] == 10L * i && second[i] == 20L * i);
  CHECK(second[size] == 20L * size);
}

static void check_array_reductions(int size) {
  enum { all = 600 };
  static long grouped[all], of_region[all];
  long own[size];
  for (int i = 0; i < all; ++i) grouped[i] = of_region[i] = i;
  for (int i = 0; i < size; ++i) own[i] = i;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(+ : grouped [1:size]) task_reduction(+ : own)
  for (int t = 1; t <= 20; ++t) {
#pragma omp task in_reduction(+ : grouped [1:size]) in_reduction(+ : own) firstprivate(t)
    for (int i = 0; i < size; ++i) {
      grouped[1 + i] += t;
      own[i] += t;
    }
  }
#pragma omp parallel reduction(task, + : of_region [1:size])
#pragma omp for
  for (int t = 1; t <= 20; ++t) {
#pragma omp task in_reduction(+ : of_region [1:size]) firstprivate(t)
    for (int i = 0; i < size; ++i) of_region[1 + i] += t;
  }
  for (int i = 0; i < all; ++i) {
    const long wanted = i + (i >= 1 && i <= size ? 210 : 0);
    CHECK(grouped[i] == wanted && of_region[i] == wanted);
  }
  for (int i = 0; i < size; ++i) CHECK(own[i] == i + 210);
    // The thread that ends the group has to know them even if another one ran its only task.
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(+ : grouped [1:size])
  {
    int is_done = 0;
#pragma omp task in_reduction(+ : grouped [1:size]) shared(is_done)
    {
      for (int i = 0; i < size; ++i) ++grouped[1 + i];
#pragma omp atomic write
      is_done = 1;
    }
    for (int wait = 0, d = 0; wait < 20 && !d; ++wait) {
      usleep(500);
#pragma omp atomic read
      d = is_done;
    }
  }
  CHECK(grouped[1] == 212 && grouped[size] == size + 211);
  check_sizes_learned_late(size);
}

// Tasks end before the tasks that they made, or wait for some of them: a thread that waits has to
// find out which queued tasks descend from its own through tasks that have ended.
static void grow(int depth, int* count) {
#pragma omp atomic
  ++*count;
  for (int k = 0; k < 3 && depth > 0; ++k) {
#pragma omp task firstprivate(depth, count)
    grow(depth - 1, count);
  }
  if (depth % 2 == 1) {
#pragma omp taskwait
  }
}

static void check_ended_ancestors(void) {
  for (int repeat = 0; repeat < 5; ++repeat) {
    int count = 0;
#pragma omp parallel
    {
#pragma omp single nowait
      grow(6, &count);
#pragma omp single nowait
      grow(4, &count);
#pragma omp barrier
#pragma omp for
      for (int i = 0; i < 8; ++i) {
#pragma omp task shared(count)
        grow(2, &count);
      }
    }
    CHECK(count == 1093 + 121 + 8 * 13);
  }
}

// Each task makes the next one and ends: the memory of those that have ended is used again. A
// thread that runs each task inside of the one that made it needs the memory of all.
static _Thread_local int inside = 0;
static int deepest = 0;

static void follow(int rest, int* count) {
#pragma omp atomic
  ++*count;
  ++inside;
#pragma omp critical
  if (inside > deepest) deepest = inside;
  if (rest > 0) {
#pragma omp task firstprivate(rest, count)
    follow(rest - 1, count);
  }
  --inside;
}

static void check_chain(void) {
  const int length = 10000;
  const size_t before = mallinfo2().uordblks;
  int count = 0;
#pragma omp parallel
#pragma omp single
  follow(length, &count);
  CHECK(count == length + 1);
  CHECK(deepest > length / 2 || mallinfo2().uordblks < before + 3000000);
}

static void check_final(void) {
#pragma omp parallel
#pragma omp single
  {
    CHECK(!omp_in_final());
    int order = 0;
#pragma omp task final(1) shared(order)
    {
      CHECK(omp_in_final());
#pragma omp task shared(order)
      {
        CHECK(omp_in_final());
        order = 1;
      }
      CHECK(order == 1);
    }
#pragma omp taskwait
#pragma omp task if (0) shared(order)
    order = 2;
    CHECK(order == 2);
  }
}

static void check_detach(void) {
  int after = 0;
#pragma omp parallel
#pragma omp single
  {
    omp_event_handle_t event;
    int x = 0;
#pragma omp task detach(event) depend(out : x)
    {}
#pragma omp task depend(in : x) shared(after)
    after = 1;
#pragma omp task firstprivate(event)
    omp_fulfill_event(event);
#pragma omp taskwait
    CHECK(after == 1);
  }
}

// Tasks copy what they use when they are made.
static void check_data(void) {
  long sum = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 300; ++i) {
    long big[64];
    for (int k = 0; k < 64; ++k) big[k] = i;
#pragma omp task firstprivate(big) shared(sum) priority(i % 3)
    for (int k = 0; k < 64; ++k) {
#pragma omp atomic
      sum += big[k];
    }
  }
  CHECK(sum == 64L * 299 * 150);
}

// A tree whose branches differ in size; a branch waits for its children in one of two ways.
static long nodes_below(unsigned seed, int depth) {
  long sums[3] = {0};
  const int children = depth == 0 ? 0 : (int)(seed % 4);
  if (seed % 2 == 0) {
    for (int i = 0; i < children && i < 3; ++i) {
#pragma omp task shared(sums) firstprivate(i) untied
      sums[i] = nodes_below(seed * 1103515245u + 12345u * (unsigned)(i + 1), depth - 1);
    }
#pragma omp taskwait
  } else {
#pragma omp taskgroup
    for (int i = 0; i < children && i < 3; ++i) {
#pragma omp task shared(sums) firstprivate(i)
      sums[i] = nodes_below(seed * 1103515245u + 12345u * (unsigned)(i + 1), depth - 1);
    }
  }
  return 1 + sums[0] + sums[1] + sums[2];
}

static long nodes_serially(unsigned seed, int depth) {
  long sum = 1;
  for (int i = 0; i < (depth == 0 ? 0 : (int)(seed % 4)) && i < 3; ++i)
    sum += nodes_serially(seed * 1103515245u + 12345u * (unsigned)(i + 1), depth - 1);
  return sum;
}

static void check_trees(void) {
  for (unsigned seed = 3; seed < 12; ++seed) {
    long parallel[64] = {0};
#pragma omp parallel
    parallel[omp_get_thread_num()] = nodes_below(seed, 7);
    const long expected = nodes_serially(seed, 7);
    CHECK(parallel[0] == expected && parallel[omp_get_max_threads() - 1] == expected);
  }
}

// A thread that waits in a tied task runs only descendants of that task.
struct ancestors {
  const struct ancestors* parent;
};
static const struct ancestors* waiting;
#pragma omp threadprivate(waiting)

static void tied_tree(const struct ancestors* parent, int depth) {
  const struct ancestors here = {parent};
  const struct ancestors* const before = waiting;
  if (before != NULL) {
    const struct ancestors* up = parent;
    while (up != NULL && up != before) up = up->parent;
    CHECK(up == before);
  }
  if (depth == 0) return;
  for (int i = 0; i < 3; ++i) {
#pragma omp task shared(here)
    tied_tree(&here, depth - 1);
  }
  waiting = &here;
#pragma omp taskwait
  waiting = before;
}

static void check_constraint(void) {
#pragma omp parallel
#pragma omp single
  tied_tree(NULL, 5);
}

// All threads make many tasks that end in another order than they began.
static void check_many(void) {
  long sum = 0;
#pragma omp parallel reduction(+ : sum)
  {
    long mine = 0;
    for (int i = 0; i < 400; ++i) {
#pragma omp task shared(mine) if (i % 7 != 0)
      {
#pragma omp atomic
        mine += i;
      }
      if (i % 100 == 99) {
#pragma omp taskwait
        CHECK(mine == (long)i * (i + 1) / 2);
      }
    }
    sum += mine;
  }
  CHECK(sum % (399 * 200) == 0 && sum > 0);
}

static unsigned mixed(unsigned seed, int phase, int rank) {
  unsigned x = seed * 2654435761u + (unsigned)phase * 40503u + (unsigned)rank * 2246822519u;
  x ^= x >> 15;
  x *= 2654435761u;
  return x ^ (x >> 13);
}

// In about half of the phases no thread makes a task; a task of every second thread makes another.
static int tasks_of(unsigned seed, int phase, int rank) {
  if (mixed(seed, phase, -1) % 2 == 0) return 0;
  const unsigned x = mixed(seed, phase, rank);
  return x % 4 == 0 ? (int)(x >> 8) % 3 + 1 : 0;
}

// Phases with and without tasks follow each other in any order, and the region ends after one of
// either kind. Each barrier waits for all tasks and publishes what each thread wrote before it.
static void check_phases(unsigned seed) {
  enum { most_phases = 24, most_threads = 64 };
  static int written[most_phases][most_threads];
  int done[most_phases] = {0};
  const int phases = 1 + (int)(mixed(seed, 0, 0) % most_phases);
#pragma omp parallel
  {
    const int rank = omp_get_thread_num(), threads = omp_get_num_threads();
    CHECK(threads <= most_threads);
    for (int phase = 0; phase < phases; ++phase) {
      for (volatile unsigned work = mixed(seed, phase, rank) % 1000; work > 0;) work = work - 1;
      for (int i = tasks_of(seed, phase, rank); i > 0; --i) {
#pragma omp task firstprivate(phase) shared(done)
        {
          if (rank % 2 == 0) {
#pragma omp task firstprivate(phase) shared(done)
#pragma omp atomic
            ++done[phase];
          }
#pragma omp atomic
          ++done[phase];
        }
      }
      written[phase][rank] = (int)seed;
      if (phase + 1 == phases) break;
#pragma omp barrier
      int expected = 0, now;
      for (int r = 0; r < threads; ++r) {
        CHECK(written[phase][r] == (int)seed);
        expected += tasks_of(seed, phase, r) * (r % 2 == 0 ? 2 : 1);
      }
#pragma omp atomic read
      now = done[phase];
      CHECK(now == expected);
    }
  }
  int expected = 0;
  for (int r = 0; r < omp_get_max_threads(); ++r)
    expected += tasks_of(seed, phases - 1, r) * (r % 2 == 0 ? 2 : 1);
  CHECK(done[phases - 1] == expected);
}

int main(void) {
  for (unsigned seed = 1; seed <= 300; ++seed) check_phases(seed);
  for (int repeat = 0; repeat < 20; ++repeat) {
    check_taskwait();
    check_barriers();
    check_group();
    check_dependences();
    check_taskloop();
    check_reductions();
    check_array_reductions(5 + 97 * repeat % 595);
    check_ended_ancestors();
    check_final();
    check_detach();
    check_data();
    check_trees();
    check_constraint();
    check_many();
  }
  check_chain();
  return 0;
}
