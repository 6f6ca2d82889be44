/* SPDX-License-Identifier: Apache-2.0
 * Errors, names and barriers: every function and every error that tutti.h lists, from plain C11. */
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "tests/c/threads.h"
#include "tutti.h"

enum { most_ranks = 5, episodes = 50 };
static const uint64_t minute_ns = UINT64_C(60000000000);

/* Plain data published through the barrier: two boards in turn. */
static uint64_t board[2][most_ranks];

struct member {
  tutti_barrier* barrier;
  uint32_t rank;
  int with_deadline;
  int error;  /* the first that a call returned */
  int unseen; /* data that was not there */
};

static void* attend(void* argument) {
  struct member* me = argument;
  const uint32_t n = tutti_barrier_participants(me->barrier);
  for (uint64_t e = 0; e < episodes && me->error == TUTTI_OK; ++e) {
    board[e % 2][me->rank] = e + 1;
    me->error = me->with_deadline ? tutti_barrier_wait_for(me->barrier, me->rank, minute_ns)
                                  : tutti_barrier_wait(me->barrier, me->rank);
    for (uint32_t other = 0; other < n; ++other)
      if (board[e % 2][other] != e + 1) ++me->unseen;
  }
  return NULL;
}

/* The same without ranks: a member's number is only the place where it writes on the board. */
static void* attend_without_rank(void* argument) {
  struct member* me = argument;
  const uint32_t n = tutti_barrier_participants(me->barrier);
  for (uint64_t e = 0; e < episodes && me->error == TUTTI_OK; ++e) {
    uint32_t missing = 9;
    board[e % 2][me->rank] = e + 1;
    if (me->with_deadline) {
      me->error = tutti_barrier_arrive_and_wait_for(me->barrier, minute_ns, &missing);
      if (missing != 0) ++me->unseen;
    } else {
      me->error = tutti_barrier_arrive_and_wait(me->barrier);
    }
    for (uint32_t other = 0; other < n; ++other)
      if (board[e % 2][other] != e + 1) ++me->unseen;
  }
  return NULL;
}

static void meet_by(tutti_barrier* barrier, int with_deadline, void* (*how)(void*)) {
  struct member members[most_ranks];
  const uint32_t n = tutti_barrier_participants(barrier);
  memset(board, 0, sizeof board);
  for (uint32_t rank = 0; rank < n; ++rank) {
    members[rank] = (struct member){barrier, rank, with_deadline, TUTTI_OK, 0};
  }
  run_threads(how, members, sizeof *members, n);
  for (uint32_t rank = 0; rank < n; ++rank) {
    CHECK(members[rank].error == TUTTI_OK);
    CHECK(members[rank].unseen == 0);
  }
}

static void meet(tutti_barrier* barrier, int with_deadline) {
  meet_by(barrier, with_deadline, attend);
}

static void test_strings(void) {
  const int errors[] = {
      TUTTI_OK,      TUTTI_EINVAL,  TUTTI_ENAME,   TUTTI_ERANK, TUTTI_ETIMEDOUT, TUTTI_ENOMEM,
      TUTTI_ENOTSUP, TUTTI_EBROKEN, TUTTI_ETHREAD, TUTTI_EBUSY, TUTTI_ECANCELED, TUTTI_ETHROW,
      TUTTI_EAGAIN,  TUTTI_EEXIST,  TUTTI_ENOENT,  TUTTI_EKIND, TUTTI_ECOUNT,    TUTTI_ESTALE,
      TUTTI_EDIED,   TUTTI_ETAKEN,  TUTTI_ESYSTEM, TUTTI_EFILE};
  const size_t count = sizeof errors / sizeof *errors;
  for (size_t i = 0; i < count; ++i) {
    CHECK(strlen(tutti_strerror(errors[i])) > 0);
    CHECK(strcmp(tutti_strerror(errors[i]), tutti_strerror(1)) != 0);
    for (size_t j = 0; j < i; ++j)
      CHECK(strcmp(tutti_strerror(errors[i]), tutti_strerror(errors[j])) != 0);
  }
  CHECK(tutti_strerror(1) != NULL);
  CHECK(tutti_strerror(-12345) != NULL);
  CHECK(tutti_version() == TUTTI_VERSION);
}

static void test_names(void) {
  CHECK(strcmp(tutti_barrier_algorithm(0), "default") == 0);
  CHECK(strcmp(tutti_wait_policy(0), "adaptive") == 0);
  size_t algorithms = 0;
  for (; tutti_barrier_algorithm(algorithms) != NULL; ++algorithms) {
    tutti_barrier* barrier = NULL;
    CHECK(tutti_barrier_create(&barrier, 3, tutti_barrier_algorithm(algorithms), NULL) == TUTTI_OK);
    CHECK(tutti_barrier_participants(barrier) == 3);
    meet(barrier, algorithms % 2 == 0);
    tutti_barrier_destroy(barrier);
  }
  CHECK(algorithms > 10);
  CHECK(tutti_barrier_algorithm(algorithms + 1000) == NULL);
  CHECK(tutti_barrier_algorithm(SIZE_MAX) == NULL);
  size_t waits = 0;
  for (; tutti_wait_policy(waits) != NULL; ++waits) {
    tutti_barrier* barrier = NULL;
    const int error = tutti_barrier_create(&barrier, 2, "central", tutti_wait_policy(waits));
    CHECK(error == TUTTI_OK || (error == TUTTI_ENOTSUP && barrier == NULL));
    if (error == TUTTI_OK && strcmp(tutti_wait_policy(waits), "spin") != 0) meet(barrier, 0);
    tutti_barrier_destroy(barrier);
  }
  CHECK(waits >= 5);
  CHECK(tutti_wait_policy(SIZE_MAX) == NULL);
}

static void test_episodes(void) {
  for (uint32_t n = 1; n <= most_ranks; ++n) {
    tutti_barrier* barrier = NULL;
    CHECK(tutti_barrier_create(&barrier, n, NULL, NULL) == TUTTI_OK);
    meet(barrier, 0);
    meet(barrier, 1);
    tutti_barrier_destroy(barrier);
  }
}

static void test_patience(void) {
  tutti_barrier* barrier;
  CHECK(tutti_barrier_create(&barrier, 1, NULL, NULL) == TUTTI_OK);
  CHECK(tutti_barrier_set_patience(barrier, "active") == TUTTI_OK);
  CHECK(tutti_barrier_set_patience(barrier, "200us") == TUTTI_OK);
  CHECK(tutti_barrier_set_patience(barrier, NULL) == TUTTI_OK);
  CHECK(tutti_barrier_set_patience(barrier, "-1us") == TUTTI_EINVAL);
  CHECK(tutti_barrier_set_patience(barrier, "") == TUTTI_EINVAL);
  CHECK(tutti_barrier_set_patience(NULL, "active") == TUTTI_EINVAL);
  CHECK(tutti_barrier_wait(barrier, 0) == TUTTI_OK);
  tutti_barrier_destroy(barrier);
  CHECK(tutti_barrier_create(&barrier, 1, "central", "spin") == TUTTI_OK);
  CHECK(tutti_barrier_set_patience(barrier, "active") == TUTTI_ENOTSUP);
  tutti_barrier_destroy(barrier);
}

static void test_create_errors(void) {
  tutti_barrier* const untouched = (tutti_barrier*)(void*)&failures;
  tutti_barrier* barrier = untouched;
  CHECK(tutti_barrier_create(NULL, 2, NULL, NULL) == TUTTI_EINVAL);
  CHECK(tutti_barrier_create(&barrier, 0, NULL, NULL) == TUTTI_EINVAL);
  CHECK(barrier == NULL);
  CHECK(tutti_barrier_max() >= 1024);
  barrier = untouched;
  CHECK(tutti_barrier_create(&barrier, tutti_barrier_max() + 1, NULL, NULL) == TUTTI_EINVAL);
  CHECK(barrier == NULL);
  CHECK(tutti_barrier_create(&barrier, UINT32_MAX, NULL, NULL) == TUTTI_EINVAL);
  barrier = untouched;
  CHECK(tutti_barrier_create(&barrier, 2, "disemination", NULL) == TUTTI_ENAME);
  CHECK(barrier == NULL);
  CHECK(tutti_barrier_create(&barrier, 2, "", NULL) == TUTTI_ENAME);
  barrier = untouched;
  CHECK(tutti_barrier_create(&barrier, 2, NULL, "busy") == TUTTI_ENAME);
  CHECK(barrier == NULL);
  barrier = untouched;
  CHECK(tutti_barrier_create(&barrier, 2, "default", "spin") == TUTTI_ENOTSUP);
  CHECK(barrier == NULL);
  CHECK(tutti_barrier_create(&barrier, tutti_barrier_max(), NULL, NULL) == TUTTI_OK);
  CHECK(tutti_barrier_participants(barrier) == tutti_barrier_max());
  tutti_barrier_destroy(barrier);
  tutti_barrier_destroy(NULL);
  CHECK(tutti_barrier_participants(NULL) == 0);
}

static void test_wait_errors(void) {
  tutti_barrier* barrier = NULL;
  CHECK(tutti_barrier_create(&barrier, 2, NULL, NULL) == TUTTI_OK);
  CHECK(tutti_barrier_wait(NULL, 0) == TUTTI_EINVAL);
  CHECK(tutti_barrier_wait(barrier, 2) == TUTTI_ERANK);
  CHECK(tutti_barrier_wait(barrier, UINT32_MAX) == TUTTI_ERANK);
  CHECK(tutti_barrier_wait_for(NULL, 0, 1) == TUTTI_EINVAL);
  CHECK(tutti_barrier_wait_for(barrier, 2, 1) == TUTTI_ERANK);
  tutti_barrier_destroy(barrier);
}

static const char* const anonymous[] = {NULL, "default", "ticket", "pool", "striped"};
enum { anonymous_count = sizeof anonymous / sizeof *anonymous };

static void test_episodes_without_ranks(void) {
  for (int i = 0; i < anonymous_count; ++i)
    for (uint32_t n = 1; n <= most_ranks; ++n) {
      tutti_barrier* barrier = NULL;
      CHECK(tutti_barrier_create(&barrier, n, anonymous[i], NULL) == TUTTI_OK);
      meet_by(barrier, 0, attend_without_rank);
      meet_by(barrier, 1, attend_without_rank);
      meet(barrier, 0); /* ranks now, on the same barrier */
      tutti_barrier_destroy(barrier);
    }
}

static void* attend_either_way(void* argument) {
  const struct member* me = argument;
  return me->rank % 2 == 0 ? attend(argument) : attend_without_rank(argument);
}

/* Some participants come with ranks and some without, in the same episodes. */
static void test_mixed(void) {
  tutti_barrier* barrier = NULL;
  struct member members[4];
  CHECK(tutti_barrier_create(&barrier, 4, NULL, NULL) == TUTTI_OK);
  memset(board, 0, sizeof board);
  for (uint32_t rank = 0; rank < 4; ++rank) {
    members[rank] = (struct member){barrier, rank, rank / 2 == 1, TUTTI_OK, 0};
  }
  run_threads(attend_either_way, members, sizeof *members, 4);
  for (uint32_t rank = 0; rank < 4; ++rank) {
    CHECK(members[rank].error == TUTTI_OK);
    CHECK(members[rank].unseen == 0);
  }
  tutti_barrier_destroy(barrier);
}

struct caller {
  tutti_barrier* barrier;
  int error;
};
static void* visit(void* argument) {
  struct caller* me = argument;
  me->error = tutti_barrier_arrive_and_wait(me->barrier);
  return NULL;
}

/* The result is a count, because participants have no names. The arrival stands, and another
 * thread may complete the episode. */
static void test_missing_without_ranks(const char* algorithm) {
  struct caller last = {NULL, TUTTI_EINVAL};
  uint32_t missing = 9;
  CHECK(tutti_barrier_create(&last.barrier, 3, algorithm, NULL) == TUTTI_OK);
  CHECK(tutti_barrier_arrive_and_wait_for(last.barrier, 1000000, &missing) == TUTTI_ETIMEDOUT);
  CHECK(missing == 2);
  missing = 9;
  CHECK(tutti_barrier_arrive_and_wait_for(last.barrier, 0, &missing) == TUTTI_ETIMEDOUT);
  CHECK(missing == 1);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, visit, &last) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(last.error == TUTTI_OK);
  CHECK(tutti_barrier_arrive_and_wait_for(last.barrier, 1, NULL) == TUTTI_ETIMEDOUT);
  tutti_barrier_destroy(last.barrier);
}

/* Algorithms that must know who arrives say so, and count no arrival. */
static void test_algorithms_that_need_ranks(void) {
  size_t refused = 0;
  for (size_t i = 0; tutti_barrier_algorithm(i) != NULL; ++i) {
    tutti_barrier* barrier = NULL;
    uint32_t missing = 9;
    int takes_all = 0;
    for (int k = 1; k < anonymous_count; ++k)
      takes_all = takes_all || strcmp(tutti_barrier_algorithm(i), anonymous[k]) == 0;
    CHECK(tutti_barrier_create(&barrier, 1, tutti_barrier_algorithm(i), NULL) == TUTTI_OK);
    const int expected = takes_all ? TUTTI_OK : TUTTI_ENOTSUP;
    CHECK(tutti_barrier_arrive_and_wait(barrier) == expected);
    CHECK(tutti_barrier_arrive_and_wait_for(barrier, minute_ns, &missing) == expected);
    CHECK(missing == (takes_all ? 0 : 9));
    CHECK(tutti_barrier_wait(barrier, 0) == TUTTI_OK);
    refused += !takes_all;
    tutti_barrier_destroy(barrier);
  }
  CHECK(refused > 10);
  CHECK(tutti_barrier_arrive_and_wait(NULL) == TUTTI_EINVAL);
  CHECK(tutti_barrier_arrive_and_wait_for(NULL, 1, NULL) == TUTTI_EINVAL);
}

static void test_missing(const char* algorithm) {
  tutti_barrier* barrier = NULL;
  CHECK(tutti_barrier_create(&barrier, 4, algorithm, NULL) == TUTTI_OK);
  uint32_t ranks[4] = {9, 9, 9, 9};
  size_t count = 9;
  CHECK(tutti_barrier_wait_for(barrier, 2, 1000000) == TUTTI_ETIMEDOUT);
  CHECK(tutti_barrier_wait_for(barrier, 0, 0) == TUTTI_ETIMEDOUT);
  CHECK(tutti_barrier_missing(barrier, 2, ranks, 4, &count) == TUTTI_OK);
  CHECK(count == 2 && ranks[0] == 1 && ranks[1] == 3 && ranks[2] == 9);
  CHECK(tutti_barrier_missing(barrier, 2, ranks, 1, &count) == TUTTI_OK);
  CHECK(count == 2);
  CHECK(tutti_barrier_missing(barrier, 2, NULL, 0, &count) == TUTTI_OK);
  CHECK(count == 2);
  CHECK(tutti_barrier_missing(barrier, 1, NULL, 0, &count) == TUTTI_OK);
  CHECK(count == 0);

  CHECK(tutti_barrier_missing(NULL, 2, ranks, 4, &count) == TUTTI_EINVAL);
  CHECK(tutti_barrier_missing(barrier, 2, NULL, 4, &count) == TUTTI_EINVAL);
  CHECK(tutti_barrier_missing(barrier, 2, ranks, 4, NULL) == TUTTI_EINVAL);
  CHECK(tutti_barrier_missing(barrier, 4, ranks, 4, &count) == TUTTI_ERANK);

  CHECK(tutti_barrier_wait(barrier, 2) == TUTTI_EBROKEN);
  CHECK(tutti_barrier_wait_for(barrier, 0, minute_ns) == TUTTI_EBROKEN);
  tutti_barrier_destroy(barrier);
}

static void* come_late(void* argument) {
  struct caller* me = argument;
  me->error = tutti_barrier_wait(me->barrier, 1);
  return NULL;
}

/* The longest timeout must not overflow into the past. */
static void test_forever(void) {
  struct caller partner = {NULL, TUTTI_EINVAL};
  CHECK(tutti_barrier_create(&partner.barrier, 2, NULL, NULL) == TUTTI_OK);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, come_late, &partner) == 0);
  CHECK(tutti_barrier_wait_for(partner.barrier, 0, UINT64_MAX) == TUTTI_OK);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(partner.error == TUTTI_OK);
  tutti_barrier_destroy(partner.barrier);
}

int main(void) {
  test_strings();
  test_names();
  test_episodes();
  test_create_errors();
  test_patience();
  test_wait_errors();
  test_episodes_without_ranks();
  test_mixed();
  for (int i = 0; i < anonymous_count; ++i) test_missing_without_ranks(anonymous[i]);
  test_algorithms_that_need_ranks();
  test_missing(NULL);
  test_missing("ticket");
  test_missing("dissemination");
  test_forever();
  return finish();
}
