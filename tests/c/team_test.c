/* SPDX-License-Identifier: Apache-2.0
 * Teams: regions, what ranks do in them, loops, deadlines, failing ranks, and every error that
 * tutti.h lists. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/c/teams.h"

enum { most_ranks = 9, episodes = 30, long_array = 1000, failed_on_purpose = 42 };
static const uint64_t minute_ns = UINT64_C(60000000000);
static const uint64_t blink_ns = 2000000;

/* ---- the work of the ranks */

struct board {
  uint64_t written[2][most_ranks];
  uint32_t calls[most_ranks], threads[most_ranks];
  double sums[most_ranks], arrays[most_ranks][long_array];
  int64_t inclusive[most_ranks][9], exclusive[most_ranks][9];
  int wrong[most_ranks];
};
static struct board board;

/* Every rank sees what all wrote before each barrier. */
static int meet(tutti_member* me, void* arg) {
  struct board* b = arg;
  const uint32_t rank = tutti_member_rank(me), size = tutti_member_size(me);
  ++b->calls[rank];
  b->threads[rank] = tutti_member_thread(me);
  b->wrong[rank] += tutti_member_here() != me;
  for (uint64_t e = 0; e < episodes; ++e) {
    b->written[e % 2][rank] = e + 1;
    const int error = tutti_member_barrier(me);
    if (error != TUTTI_OK) return error;
    b->wrong[rank] += tutti_member_here() != me;
    for (uint32_t other = 0; other < size; ++other)
      b->wrong[rank] += b->written[e % 2][other] != e + 1;
  }
  return 0;
}

static int reduce(tutti_member* me, void* arg) {
  struct board* b = arg;
  const uint32_t rank = tutti_member_rank(me), size = tutti_member_size(me);
  /* 1 + 2 + ... + size. */
  const double triangle = 0.5 * size * (size + 1);
  b->sums[rank] = rank + 1;
  int error = tutti_member_reduce(me, &b->sums[rank], 1, TUTTI_DOUBLE, TUTTI_PLUS);
  if (error != TUTTI_OK) return error;
  b->wrong[rank] += b->sums[rank] != triangle;

  int32_t few[3] = {(int32_t)rank, -(int32_t)rank, 5};
  error = tutti_member_reduce(me, few, 3, TUTTI_INT32, TUTTI_MAXIMUM);
  if (error != TUTTI_OK) return error;
  b->wrong[rank] += few[0] != (int32_t)size - 1 || few[1] != 0 || few[2] != 5;
  b->wrong[rank] += tutti_member_here() != me;

  for (size_t i = 0; i < long_array; ++i) b->arrays[rank][i] = (double)(rank + 1) * (double)i;
  error = tutti_member_reduce(me, b->arrays[rank], long_array, TUTTI_DOUBLE, TUTTI_PLUS);
  if (error != TUTTI_OK) return error;
  for (size_t i = 0; i < long_array; ++i)
    b->wrong[rank] += b->arrays[rank][i] != triangle * (double)i;
  b->wrong[rank] += tutti_member_here() != me;
  return tutti_member_reduce(me, NULL, 0, TUTTI_DOUBLE, TUTTI_PLUS);
}

/* Nine values are more than travel at a time. */
static int scan(tutti_member* me, void* arg) {
  struct board* b = arg;
  const int64_t rank = tutti_member_rank(me);
  const int64_t first[9] = {100, 100, 100, 100, 100, 100, 100, 100, 100};
  int64_t from_identity = 7;
  for (int i = 0; i < 9; ++i) b->inclusive[rank][i] = b->exclusive[rank][i] = rank + i;
  int error = tutti_member_inclusive_scan(me, b->inclusive[rank], 9, TUTTI_INT64, TUTTI_PLUS);
  if (error == TUTTI_OK)
    error = tutti_member_exclusive_scan(me, b->exclusive[rank], 9, TUTTI_INT64, TUTTI_PLUS, first);
  if (error == TUTTI_OK)
    error = tutti_member_exclusive_scan(me, &from_identity, 1, TUTTI_INT64, TUTTI_PLUS, NULL);
  for (int i = 0; i < 9; ++i) {
    int64_t before = 0;
    for (int64_t r = 0; r < rank; ++r) before += r + i;
    b->wrong[rank] += b->inclusive[rank][i] != before + rank + i;
    b->wrong[rank] += b->exclusive[rank][i] != (rank == 0 ? 100 : before);
  }
  b->wrong[rank] += from_identity != 7 * rank;
  b->wrong[rank] += tutti_member_here() != me;
  return error;
}

static int add_to_sums(tutti_member* me, void* arg, double* values) {
  const size_t count = *(const size_t*)arg;
  if (tutti_member_here() != me) return 1;
  for (size_t i = 0; i < count; ++i) values[i] += (double)(tutti_member_rank(me) + 1 + i);
  return 0;
}

static void test_run_reduce(tutti_team* team, uint32_t ranks) {
  for (size_t count = 1; count <= TUTTI_RUN_REDUCE_MAX; ++count) {
    double results[TUTTI_RUN_REDUCE_MAX + 1];
    for (size_t i = 0; i <= TUTTI_RUN_REDUCE_MAX; ++i) results[i] = -1;
    CHECK(tutti_team_run_reduce(team, add_to_sums, &count, TUTTI_PLUS, results, count) == TUTTI_OK);
    for (size_t i = 0; i < count; ++i)
      CHECK(results[i] == 0.5 * ranks * (ranks + 1) + (double)i * ranks);
    CHECK(results[count] == -1);
  }
}

static int nothing_to_add(tutti_member* me, void* arg, double* values) {
  (void)me, (void)arg, (void)values;
  return 0;
}

struct loop {
  atomic_uint visits[long_array];
  atomic_uint beyond;
};
static struct loop loop;

static int visit(tutti_member* me, size_t from, size_t to, void* arg) {
  struct loop* l = arg;
  if (from >= to || to > long_array || tutti_member_here() != me) ++l->beyond;
  for (size_t i = from; i < to && i < long_array; ++i) ++l->visits[i];
  return 0;
}

static void test_loops(tutti_team* team) {
  const size_t chunks[] = {0, 1, 7, 2 * long_array};
  for (int how = TUTTI_STATIC_BLOCKS; how <= TUTTI_ADAPTIVE; ++how)
    for (size_t c = 0; c < sizeof chunks / sizeof *chunks; ++c) {
      memset(&loop, 0, sizeof loop);
      CHECK(tutti_team_parallel_for(team, 3, long_array, how, chunks[c], visit, &loop) == TUTTI_OK);
      unsigned wrong = loop.beyond;
      for (size_t i = 0; i < long_array; ++i) wrong += loop.visits[i] != (i < 3 ? 0 : 1);
      CHECK(wrong == 0);
    }
  CHECK(tutti_team_parallel_for(team, 5, 5, TUTTI_STATIC_BLOCKS, 0, visit, &loop) == TUTTI_OK);
  CHECK(tutti_team_parallel_for(team, 6, 5, TUTTI_DYNAMIC_CHUNKS, 0, visit, &loop) == TUTTI_OK);
}

static int cover(tutti_member* me, void* arg) {
  size_t first = 9, last = 9;
  tutti_member_block(me, long_array, &first, &last);
  return visit(me, first, last, arg);
}

/* Every rank waits for the others in a barrier that knows nothing of the team. */
static int meet_elsewhere(tutti_member* me, void* arg) {
  const uint32_t rank = tutti_member_rank(me);
  const int error = tutti_barrier_wait(arg, rank);
  if (error != TUTTI_OK) return error;
  return tutti_member_here() == me ? 0 : 1;
}

static void test_member_here(uint32_t threads, uint32_t ranks) {
  tutti_team* team = make_team(threads, ranks, NULL);
  tutti_barrier* barrier = NULL;
  CHECK(tutti_barrier_create(&barrier, ranks, NULL, NULL) == TUTTI_OK);
  for (int repeat = 0; repeat < 3; ++repeat)
    CHECK(tutti_team_run(team, meet_elsewhere, barrier) == TUTTI_OK);
  CHECK(tutti_member_here() == NULL);
  tutti_barrier_destroy(barrier);
  tutti_team_destroy(team);
}

static void test_regions(uint32_t threads, uint32_t ranks, const char* barrier) {
  tutti_team* team = make_team(threads, ranks, barrier);
  const tutti_region_function regions[] = {meet, reduce, scan};
  for (size_t i = 0; i < sizeof regions / sizeof *regions; ++i) {
    memset(&board, 0, sizeof board);
    CHECK(tutti_team_run(team, regions[i], &board) == TUTTI_OK);
    CHECK(tutti_member_here() == NULL);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      CHECK(board.wrong[rank] == 0);
      CHECK(board.threads[rank] < threads);
      if (i == 0) CHECK(board.calls[rank] == 1);
    }
    CHECK(board.threads[0] == 0);
  }
  memset(&loop, 0, sizeof loop);
  CHECK(tutti_team_run(team, cover, &loop) == TUTTI_OK);
  for (size_t i = 0; i < long_array; ++i) CHECK(loop.visits[i] == 1);
  test_run_reduce(team, ranks);
  double product = 9;
  CHECK(tutti_team_run_reduce(team, nothing_to_add, NULL, TUTTI_MULTIPLIES, &product, 1) ==
        TUTTI_OK);
  CHECK(product == 1);
  test_loops(team);
  CHECK(tutti_team_failed_rank(team) == TUTTI_NO_RANK);
  tutti_team_destroy(team);
}

/* ---- the first ranks */

static int note_first(tutti_member* me, void* arg) {
  uint32_t* sizes = arg;
  sizes[tutti_member_rank(me)] = tutti_member_size(me);
  return tutti_member_barrier(me);
}

static void test_first_ranks(uint32_t threads, uint32_t ranks, const char* barrier) {
  tutti_team* team = make_team(threads, ranks, barrier);
  for (uint32_t k = ranks; k > 0; --k) {
    uint32_t sizes[most_ranks] = {0};
    CHECK(tutti_team_run_first(team, k, note_first, sizes) == TUTTI_OK);
    for (uint32_t rank = 0; rank < ranks; ++rank) CHECK(sizes[rank] == (rank < k ? k : 0));
  }
  uint32_t none[most_ranks] = {0};
  CHECK(tutti_team_run_first(team, 0, note_first, none) == TUTTI_EINVAL);
  CHECK(tutti_team_run_first(team, ranks + 1, note_first, none) == TUTTI_EINVAL);
  CHECK(tutti_team_run_first(NULL, 1, note_first, none) == TUTTI_EINVAL);
  CHECK(tutti_team_run_first(team, 1, NULL, none) == TUTTI_EINVAL);
  CHECK(none[0] == 0);
  tutti_team_destroy(team);
}

/* ---- failing ranks */

struct failure {
  uint32_t ranks[2]; /* that fail */
  atomic_uint cancelled;
};

static int fail_before_the_others_meet(tutti_member* me, void* arg) {
  struct failure* f = arg;
  const uint32_t rank = tutti_member_rank(me);
  for (int i = 0; i < 2; ++i)
    if (rank == f->ranks[i]) return failed_on_purpose + i;
  double sum = 1;
  const int error = tutti_member_reduce(me, &sum, 1, TUTTI_DOUBLE, TUTTI_PLUS);
  f->cancelled += error == TUTTI_ECANCELED;
  return error;
}

static int fail_with_sums(tutti_member* me, void* arg, double* values) {
  values[0] = 3;
  return tutti_member_rank(me) == *(const uint32_t*)arg ? failed_on_purpose : 0;
}

static int fail_in_loop(tutti_member* me, size_t from, size_t to, void* arg) {
  (void)me, (void)arg;
  return from <= 500 && 500 < to ? failed_on_purpose : 0;
}

static int say_cancelled(tutti_member* me, void* arg) {
  (void)arg;
  return tutti_member_rank(me) == 1 ? TUTTI_ECANCELED : 0;
}

static void test_failures(uint32_t threads, uint32_t ranks, const char* barrier) {
  tutti_team* team = make_team(threads, ranks, barrier);
  for (uint32_t failing = 0; failing < ranks; ++failing) {
    struct failure one = {{failing, UINT32_MAX}, 0};
    CHECK(tutti_team_run(team, fail_before_the_others_meet, &one) == failed_on_purpose);
    CHECK(tutti_team_failed_rank(team) == failing);
    CHECK(one.cancelled == ranks - 1);
    /* The team can be used further. */
    memset(&board, 0, sizeof board);
    CHECK(tutti_team_run(team, meet, &board) == TUTTI_OK);
    for (uint32_t rank = 0; rank < ranks; ++rank) CHECK(board.wrong[rank] == 0);
    CHECK(tutti_team_failed_rank(team) == TUTTI_NO_RANK);

    double kept = 7;
    CHECK(tutti_team_run_reduce(team, fail_with_sums, &failing, TUTTI_PLUS, &kept, 1) ==
          failed_on_purpose);
    CHECK(tutti_team_failed_rank(team) == failing && kept == 7);
  }
  /* The error is that of the lower rank, which is listed second here. */
  struct failure two = {{ranks - 1, 0}, 0};
  CHECK(tutti_team_run(team, fail_before_the_others_meet, &two) == failed_on_purpose + 1);
  CHECK(tutti_team_failed_rank(team) == 0);
  CHECK(tutti_team_parallel_for(team, 0, long_array, TUTTI_DYNAMIC_CHUNKS, 10, fail_in_loop,
                                NULL) == failed_on_purpose);
  CHECK(tutti_team_failed_rank(team) < ranks);
  CHECK(tutti_team_run(team, say_cancelled, NULL) == TUTTI_ECANCELED);
  CHECK(tutti_team_failed_rank(team) == 1);
  tutti_team_destroy(team);
}

/* ---- regions inside regions, and from other threads */

struct nested {
  tutti_team* team;
  int errors[most_ranks];
  uint32_t sizes[most_ranks];
  uint32_t inner_fails;
};

static int inner(tutti_member* me, void* arg) {
  *(uint32_t*)arg = tutti_member_size(me);
  double sum = 3;
  if (tutti_member_here() != me) return 4;
  if (tutti_member_barrier(me) != TUTTI_OK) return 1;
  if (tutti_member_reduce(me, &sum, 1, TUTTI_DOUBLE, TUTTI_PLUS) != TUTTI_OK) return 2;
  return sum == 3 ? 0 : 3;
}

static int outer(tutti_member* me, void* arg) {
  struct nested* n = arg;
  const uint32_t rank = tutti_member_rank(me);
  n->errors[rank] = tutti_team_run(n->team, inner, &n->sizes[rank]);
  return tutti_member_here() == me ? 0 : failed_on_purpose;
}

static int fail_inside(tutti_member* me, void* arg) {
  struct nested* n = arg;
  struct failure f = {{0, UINT32_MAX}, 0};
  n->errors[tutti_member_rank(me)] = tutti_team_run(n->team, fail_before_the_others_meet, &f);
  return tutti_member_here() == me ? 0 : failed_on_purpose;
}

struct outsider {
  tutti_team* team;
  int error;
  uint32_t size;
};
static void* open_region(void* arg) {
  struct outsider* s = arg;
  s->error = tutti_team_run(s->team, inner, &s->size);
  CHECK(tutti_member_here() == NULL);
  return NULL;
}
static int let_an_outsider_try(tutti_member* me, void* arg) {
  pthread_t thread;
  if (tutti_member_rank(me) != 0) return 0;
  if (pthread_create(&thread, NULL, open_region, arg) != 0) return 1;
  return pthread_join(thread, NULL);
}

static void test_nested(uint32_t threads) {
  struct nested n = {.team = make_team(threads, 3, NULL)};
  CHECK(tutti_team_run(n.team, outer, &n) == TUTTI_OK);
  for (int rank = 0; rank < 3; ++rank) CHECK(n.errors[rank] == TUTTI_OK && n.sizes[rank] == 1);
  CHECK(tutti_team_run(n.team, fail_inside, &n) == TUTTI_OK);
  for (int rank = 0; rank < 3; ++rank) CHECK(n.errors[rank] == failed_on_purpose);
  CHECK(tutti_team_failed_rank(n.team) == TUTTI_NO_RANK);
  struct outsider s = {n.team, TUTTI_OK, 0};
  CHECK(tutti_team_run(n.team, let_an_outsider_try, &s) == TUTTI_OK);
  CHECK(s.error == TUTTI_OK && s.size == 1);
  tutti_team_destroy(n.team);
}

/* ---- deadlines */

struct held {
  uint32_t rank;
  atomic_int may_go;
};
static int hold(tutti_member* me, void* arg) {
  struct held* h = arg;
  while (tutti_member_rank(me) == h->rank && !h->may_go) sched_yield();
  return 0;
}

/* Opens a region on the team on a thread of its own. */
static void* run_in_time(void* team) {
  for (int i = 0; i < 100; ++i)
    if (tutti_team_run_for(team, do_nothing, NULL, minute_ns) != TUTTI_OK) return team;
  return NULL;
}

/* Regions of another thread run alone while this thread's is late, and its list stays. */
static void test_another_threads_regions(void) {
  tutti_team* team = make_team(2, 2, NULL);
  struct held h = {1, 0};
  size_t count = 9;
  pthread_t other;
  void* failed = team;
  CHECK(tutti_team_run_for(team, hold, &h, blink_ns) == TUTTI_ETIMEDOUT);
  CHECK(pthread_create(&other, NULL, run_in_time, team) == 0);
  for (int i = 0; i < 100; ++i) CHECK(tutti_team_wait_for(team, 0) == TUTTI_ETIMEDOUT);
  CHECK(pthread_join(other, &failed) == 0 && failed == NULL);
  CHECK(tutti_team_missing(team, NULL, 0, &count) == TUTTI_OK && count == 1);
  CHECK(run_in_time(team) != NULL);
  h.may_go = 1;
  CHECK(tutti_team_wait_for(team, UINT64_MAX) == TUTTI_OK);
  tutti_team_destroy(team);
}

static void test_deadlines(void) {
  tutti_team* team = make_team(3, 3, NULL);
  struct held h = {2, 0};
  uint32_t ranks[3] = {9, 9, 9};
  size_t count = 9;
  CHECK(tutti_team_run_for(team, hold, &h, blink_ns) == TUTTI_ETIMEDOUT);
  do { /* Rank 1 may be late as well, but not for long. */
    CHECK(tutti_team_missing(team, ranks, 3, &count) == TUTTI_OK);
  } while (count > 1 && tutti_team_wait_for(team, blink_ns) == TUTTI_ETIMEDOUT);
  CHECK(count == 1 && ranks[0] == 2);
  CHECK(tutti_team_run(team, hold, &h) == TUTTI_EBUSY);
  CHECK(tutti_team_run_for(team, hold, &h, minute_ns) == TUTTI_EBUSY);
  CHECK(tutti_team_missing(team, NULL, 0, &count) == TUTTI_OK && count == 1);
  h.may_go = 1;
  CHECK(tutti_team_wait_for(team, UINT64_MAX) == TUTTI_OK);
  CHECK(tutti_team_missing(team, ranks, 3, &count) == TUTTI_OK && count == 0);
  CHECK(tutti_team_wait_for(team, 0) == TUTTI_OK);
  CHECK(tutti_team_run_for(team, hold, &h, minute_ns) == TUTTI_OK);

  /* This rank fails late. */
  struct failure f = {{1, UINT32_MAX}, 0};
  int error = tutti_team_run_for(team, fail_before_the_others_meet, &f, minute_ns);
  CHECK(error == failed_on_purpose && tutti_team_failed_rank(team) == 1);

  /* The team is destroyed while a region is late, so destroying it waits. */
  h.may_go = 0;
  CHECK(tutti_team_run_for(team, hold, &h, 0) == TUTTI_ETIMEDOUT);
  h.may_go = 1;
  tutti_team_destroy(team);

  team = make_team(2, 2, "flags");
  CHECK(tutti_team_run_for(team, hold, &h, minute_ns) == TUTTI_ENOTSUP);
  CHECK(tutti_team_run(team, hold, &h) == TUTTI_OK);
  tutti_team_destroy(team);
}

/* ---- misuse */

static int create_with(tutti_team_options options) {
  tutti_team* team = (tutti_team*)(void*)&failures;
  if (options.size == 0) options.size = sizeof options;
  const int error = tutti_team_create(&team, &options);
  CHECK((error == TUTTI_OK) == (team != NULL));
  tutti_team_destroy(team);
  return error;
}

static void test_create_errors(void) {
  typedef tutti_team_options o;
  CHECK(tutti_team_create(NULL, NULL) == TUTTI_EINVAL);
  CHECK(create_with((o){.size = 4}) == TUTTI_EINVAL);
  CHECK(create_with((o){.threads = 3, .ranks = 2}) == TUTTI_EINVAL);
  CHECK(create_with((o){.threads = 65536}) == TUTTI_EINVAL);
  CHECK(create_with((o){.ranks = UINT32_MAX}) == TUTTI_EINVAL);
  CHECK(create_with((o){.place = -1}) == TUTTI_EINVAL);
  CHECK(create_with((o){.place = TUTTI_SPREAD + 1}) == TUTTI_EINVAL);
  CHECK(create_with((o){.reserved = 1}) == TUTTI_EINVAL);
  CHECK(create_with((o){.stack_bytes = 1}) == TUTTI_EINVAL);
  CHECK(create_with((o){.stack_bytes = SIZE_MAX}) == TUTTI_EINVAL);
  CHECK(create_with((o){.threads = 2, .barrier = "flag"}) == TUTTI_ENAME);
  CHECK(create_with((o){.threads = 2, .barrier = ""}) == TUTTI_ENAME);
  CHECK(create_with((o){.threads = 2, .barrier = "flags", .wait = "busy"}) == TUTTI_ENAME);
  CHECK(create_with((o){.threads = 2, .wait = "spin"}) == TUTTI_ENOTSUP);
  CHECK(create_with((o){.threads = 2, .barrier = "default", .wait = "park"}) == TUTTI_ENOTSUP);
  /* The correct counterparts. */
  CHECK(create_with((o){.threads = 2, .ranks = 3, .stack_bytes = 65536}) == TUTTI_OK);
  CHECK(create_with((o){.threads = 2, .barrier = "flags", .wait = "park"}) == TUTTI_OK);
  CHECK(create_with((o){.threads = 2, .barrier = "default", .place = TUTTI_SPREAD}) == TUTTI_OK);

  CHECK(create_with((o){.threads = 2, .patience = "soon"}) == TUTTI_EINVAL);
  CHECK(create_with((o){.threads = 2, .patience = "-5us"}) == TUTTI_EINVAL);
  CHECK(create_with((o){.threads = 2, .patience = "200us"}) == TUTTI_OK);
  CHECK(create_with((o){.threads = 2, .barrier = "mcs", .wait = "spin", .patience = "1ms"}) ==
        TUTTI_ENOTSUP);
  /* An older program does not know patience, and the memory at its place is the program's own. */
  CHECK(create_with((o){.size = offsetof(o, patience), .threads = 2, .patience = "soon"}) ==
        TUTTI_OK);

  /* A program may be newer than the library if it leaves the new options alone. */
  struct {
    tutti_team_options now;
    uint64_t later;
  } newer = {{.size = sizeof newer, .threads = 2}, 0};
  CHECK(create_with((o){.threads = 2}) == TUTTI_OK);
  tutti_team* team = NULL;
  CHECK(tutti_team_create(&team, &newer.now) == TUTTI_OK);
  tutti_team_destroy(team);
  newer.later = 1;
  CHECK(tutti_team_create(&team, &newer.now) == TUTTI_ENOTSUP && team == NULL);

  CHECK(tutti_team_create(&team, NULL) == TUTTI_OK);
  CHECK(tutti_team_size(team) == tutti_team_threads(team) && tutti_team_size(team) > 0);
  CHECK(tutti_team_set_patience(team, "passive") == TUTTI_OK);
  CHECK(tutti_team_set_patience(team, "1 ms") == TUTTI_EINVAL);
  CHECK(tutti_team_set_patience(NULL, "passive") == TUTTI_EINVAL);
  tutti_team_destroy(team);
  tutti_team_destroy(NULL);
  CHECK(tutti_team_size(NULL) == 0 && tutti_team_threads(NULL) == 0);
}

static int misuse_member(tutti_member* me, void* arg) {
  int* wrong = arg;
  double value = 1;
  *wrong += tutti_member_barrier(NULL) != TUTTI_EINVAL;
  *wrong += tutti_member_reduce(NULL, &value, 1, TUTTI_DOUBLE, TUTTI_PLUS) != TUTTI_EINVAL;
  *wrong += tutti_member_reduce(me, NULL, 1, TUTTI_DOUBLE, TUTTI_PLUS) != TUTTI_EINVAL;
  *wrong += tutti_member_reduce(me, &value, 1, 4, TUTTI_PLUS) != TUTTI_EINVAL;
  *wrong += tutti_member_reduce(me, &value, 1, TUTTI_DOUBLE, 9) != TUTTI_EINVAL;
  *wrong += tutti_member_reduce(me, &value, 1, TUTTI_DOUBLE, TUTTI_BIT_OR) != TUTTI_EINVAL;
  *wrong += tutti_member_inclusive_scan(NULL, &value, 1, TUTTI_DOUBLE, TUTTI_PLUS) != TUTTI_EINVAL;
  *wrong += tutti_member_inclusive_scan(me, NULL, 1, TUTTI_DOUBLE, TUTTI_PLUS) != TUTTI_EINVAL;
  *wrong +=
      tutti_member_exclusive_scan(me, &value, 1, TUTTI_FLOAT, TUTTI_BIT_AND, NULL) != TUTTI_EINVAL;
  return value == 1 ? 0 : 1;
}

static void test_use_errors(void) {
  tutti_team* team = make_team(1, 1, NULL);
  double result = 0;
  size_t count = 1;
  int wrong = 0;
  CHECK(tutti_team_run(NULL, meet, &board) == TUTTI_EINVAL);
  CHECK(tutti_team_run(team, NULL, NULL) == TUTTI_EINVAL);
  CHECK(tutti_team_run_for(NULL, meet, &board, 1) == TUTTI_EINVAL);
  CHECK(tutti_team_run_for(team, NULL, NULL, 1) == TUTTI_EINVAL);
  CHECK(tutti_team_wait_for(NULL, 1) == TUTTI_EINVAL);
  CHECK(tutti_team_missing(NULL, NULL, 0, &count) == TUTTI_EINVAL);
  CHECK(tutti_team_missing(team, NULL, 1, &count) == TUTTI_EINVAL);
  CHECK(tutti_team_missing(team, NULL, 0, NULL) == TUTTI_EINVAL);
  CHECK(tutti_team_failed_rank(NULL) == TUTTI_NO_RANK);
  const tutti_reduce_function add = add_to_sums;
  CHECK(tutti_team_run_reduce(NULL, add, &count, TUTTI_PLUS, &result, 1) == TUTTI_EINVAL);
  CHECK(tutti_team_run_reduce(team, NULL, &count, TUTTI_PLUS, &result, 1) == TUTTI_EINVAL);
  CHECK(tutti_team_run_reduce(team, add, &count, TUTTI_BIT_AND, &result, 1) == TUTTI_EINVAL);
  CHECK(tutti_team_run_reduce(team, add, &count, TUTTI_PLUS, NULL, 1) == TUTTI_EINVAL);
  CHECK(tutti_team_run_reduce(team, add, &count, TUTTI_PLUS, &result, 0) == TUTTI_EINVAL);
  const size_t too_many = TUTTI_RUN_REDUCE_MAX + 1;
  CHECK(tutti_team_run_reduce(team, add, &count, TUTTI_PLUS, &result, too_many) == TUTTI_EINVAL);
  CHECK(tutti_team_parallel_for(NULL, 0, 1, TUTTI_STATIC_BLOCKS, 0, visit, &loop) == TUTTI_EINVAL);
  CHECK(tutti_team_parallel_for(team, 0, 1, TUTTI_STATIC_BLOCKS, 0, NULL, &loop) == TUTTI_EINVAL);
  CHECK(tutti_team_parallel_for(team, 0, 1, -1, 0, visit, &loop) == TUTTI_EINVAL);
  CHECK(tutti_team_parallel_for(team, 0, 1, TUTTI_ADAPTIVE + 1, 0, visit, &loop) == TUTTI_EINVAL);
  CHECK(tutti_team_run(team, misuse_member, &wrong) == TUTTI_OK);
  CHECK(wrong == 0);
  tutti_team_destroy(team);
}

int main(void) {
  test_another_threads_regions();
  for (uint32_t threads = 1; threads <= 5; ++threads) test_regions(threads, threads, NULL);
  test_regions(9, 9, NULL);
  test_regions(2, 2, "flags");
  test_regions(3, 3, "recursive_padded");
  test_regions(2, 3, NULL);
  test_regions(2, 9, NULL);
  test_regions(2, 9, "dissemination");
  test_member_here(2, 2);
  test_member_here(1, 4);
  test_member_here(2, 7);
  test_first_ranks(3, 3, NULL);
  test_first_ranks(3, 7, NULL);
  test_first_ranks(2, 4, "flags");
  test_failures(2, 2, NULL);
  test_failures(5, 5, NULL);
  test_failures(3, 3, "mutex");
  test_failures(2, 7, NULL);
  test_nested(3);
  test_nested(2);
  test_deadlines();
  test_create_errors();
  test_use_errors();
  return finish();
}
