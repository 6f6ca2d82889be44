// SPDX-License-Identifier: Apache-2.0
// Regions: sizes, barriers, single, critical, reductions, nesting.
#include <string.h>

#include "preload/openmp/tests/check.h"

static int private_of_thread;
#pragma omp threadprivate(private_of_thread)

static void check_sizes(int n) {
  for (int k = 1; k <= n; ++k) {
    int seen[64] = {0};
#pragma omp parallel num_threads(k)
    {
      CHECK(omp_get_num_threads() == k);
      CHECK(omp_get_level() == 1);
      CHECK(omp_in_parallel() == (k > 1));
      CHECK(omp_get_ancestor_thread_num(1) == omp_get_thread_num());
      CHECK(omp_get_ancestor_thread_num(0) == 0);
      CHECK(omp_get_team_size(1) == k && omp_get_team_size(2) == -1);
      ++seen[omp_get_thread_num()];
    }
    for (int i = 0; i < 64; ++i) CHECK(seen[i] == (i < k));
  }
  CHECK(omp_get_num_threads() == 1 && omp_get_level() == 0 && !omp_in_parallel());
}

static void check_if(int n) {
  int count = 0;
#pragma omp parallel num_threads(n) if (n > 100) reduction(+ : count)
  {
    CHECK(omp_get_num_threads() == 1 && omp_get_level() == 1 && !omp_in_parallel());
    ++count;
  }
  CHECK(count == 1);
}

static void check_barrier(int n) {
  int turn[64] = {0};
#pragma omp parallel num_threads(n)
  {
    const int me = omp_get_thread_num();
    for (int round = 1; round <= 50; ++round) {
      turn[me] = round;
#pragma omp barrier
      for (int i = 0; i < n; ++i) CHECK(turn[i] == round);
#pragma omp barrier
    }
  }
}

static void check_single(int n) {
  int singles = 0, copies = 0, masked = 0;
#pragma omp parallel num_threads(n)
  {
    for (int round = 0; round < 50; ++round) {
#pragma omp single
      ++singles;
      CHECK(singles == round + 1);
#pragma omp barrier
#pragma omp single nowait
      {
#pragma omp atomic
        ++copies;
      }
      int mine = -1;
#pragma omp single copyprivate(mine)
      mine = 100 * round + omp_get_thread_num();
      CHECK(mine / 100 == round);
    }
#pragma omp masked
    ++masked;
  }
  CHECK(singles == 50 && copies == 50 && masked == 1);
}

static void check_locks(int n) {
  long a = 0, b = 0, c = 0, d = 0, e = 0;
  omp_lock_t lock;
  omp_nest_lock_t nest;
  omp_init_lock(&lock);
  omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(n)
  for (int i = 0; i < 100; ++i) {
#pragma omp critical
    ++a;
#pragma omp critical(other)
    ++b;
    omp_set_lock(&lock);
    ++c;
    omp_unset_lock(&lock);
    omp_set_nest_lock(&nest);
    CHECK(omp_test_nest_lock(&nest) == 2);
    ++d;
    omp_unset_nest_lock(&nest);
    ++d;
    omp_unset_nest_lock(&nest);
#pragma omp atomic
    ++e;
  }
  CHECK(a == 100L * n && b == a && c == a && d == 2 * a && e == a);
  omp_set_lock(&lock);
  CHECK(!omp_test_lock(&lock));
  omp_unset_lock(&lock);
  CHECK(omp_test_lock(&lock));
  omp_unset_lock(&lock);
  omp_destroy_lock(&lock);
  omp_destroy_nest_lock(&nest);
}

static void check_reductions(int n) {
  double sum = 0, product = 1;
  int least = 1000, all = 1;
  long array[8] = {0};
#pragma omp parallel num_threads(n) reduction(+ : sum, array) reduction(* : product) \
    reduction(min : least) reduction(&& : all)
  {
    sum += omp_get_thread_num() + 1;
    product *= 2;
    least = omp_get_thread_num() + 5 < least ? omp_get_thread_num() + 5 : least;
    all = all && 1;
    for (int i = 0; i < 8; ++i) array[i] += i;
  }
  CHECK(sum == n * (n + 1) / 2.0 && product == (double)(1ul << n) && least == 5 && all);
  for (int i = 0; i < 8; ++i) CHECK(array[i] == (long)n * i);
}

static void check_threadprivate(int n) {
#pragma omp parallel num_threads(n)
  private_of_thread = omp_get_thread_num() + 1;
#pragma omp parallel num_threads(n)
  CHECK(private_of_thread == omp_get_thread_num() + 1);
  private_of_thread = 77;
#pragma omp parallel num_threads(n) copyin(private_of_thread)
  CHECK(private_of_thread == 77);
}

static void check_nesting(int n) {
  const int inner = n < 4 ? n : 4;
  int count = 0;
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(inner)
  {
    const int outer_rank = omp_get_thread_num();
    int mine = 0;
#pragma omp parallel num_threads(inner) reduction(+ : mine)
    {
      CHECK(omp_get_num_threads() == inner && omp_get_level() == 2);
      CHECK(omp_get_ancestor_thread_num(1) == outer_rank);
      CHECK(omp_get_team_size(1) == inner);
#pragma omp barrier
      ++mine;
#pragma omp parallel num_threads(inner)
      CHECK(omp_get_num_threads() == 1 && omp_get_level() == 3);
    }
#pragma omp atomic
    count += mine;
    CHECK(omp_get_thread_num() == outer_rank && omp_get_level() == 1);
  }
  CHECK(count == inner * inner);
  omp_set_max_active_levels(1);
#pragma omp parallel num_threads(inner)
#pragma omp parallel num_threads(inner)
  CHECK(omp_get_num_threads() == 1);
}

static void check_settings(int n) {
  omp_set_num_threads(n);
  CHECK(omp_get_max_threads() == n);
#pragma omp parallel
  {
    CHECK(omp_get_num_threads() == n);
    omp_set_num_threads(omp_get_thread_num() + 3);
    CHECK(omp_get_max_threads() == omp_get_thread_num() + 3);
  }
  CHECK(omp_get_max_threads() == n);
  omp_set_schedule(omp_sched_guided, 7);
  omp_sched_t kind;
  int chunk;
  omp_get_schedule(&kind, &chunk);
  CHECK(kind == omp_sched_guided && chunk == 7);
  int teams = 0;
#pragma omp teams num_teams(3) reduction(+ : teams)
  {
    CHECK(omp_get_num_teams() == 3 && omp_get_team_num() >= 0 && omp_get_team_num() < 3);
    ++teams;
  }
  CHECK(teams == 3);
  int host = 0;
#pragma omp target map(tofrom : host)
  host = omp_is_initial_device();
  CHECK(host);
}

int main(void) {
  const int n = omp_get_max_threads();
  for (int repeat = 0; repeat < 3; ++repeat) {
    check_sizes(n);
    check_if(n);
    check_barrier(n);
    check_single(n);
    check_locks(n);
    check_reductions(n);
    check_threadprivate(n);
    check_nesting(n);
    check_settings(n);
  }
  return 0;
}
