/* SPDX-License-Identifier: Apache-2.0
 * Barriers in C beyond arrive-and-wait: arrive and wait apart, the serial participant, dropping,
 * waiting again after a deadline, and a barrier that never allocates. */
#include <malloc.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/c/threads.h"
#include "tutti.h"

enum { threads = 4, phases = 200 };

struct worker {
  tutti_barrier* barrier;
  uint32_t rank;
  int error;
};

static atomic_int serials[phases];
static int plain[phases];

static void run(tutti_barrier* barrier, uint32_t count, void* (*how)(void*)) {
  struct worker workers[threads];
  for (uint32_t i = 0; i < count; ++i) {
    workers[i] = (struct worker){barrier, i, TUTTI_OK};
  }
  run_threads(how, workers, sizeof *workers, count);
  for (uint32_t i = 0; i < count; ++i) CHECK(workers[i].error == TUTTI_OK);
}

static void* count_serials(void* argument) {
  struct worker* me = argument;
  for (int phase = 0; phase < phases && me->error == TUTTI_OK; ++phase) {
    int is_serial = -1;
    me->error = tutti_barrier_arrive_and_wait_serial(me->barrier, &is_serial);
    /* The serial participant alone writes, and all see it after the next phase. */
    if (is_serial) plain[phase] = phase + 1;
    atomic_fetch_add(&serials[phase], is_serial);
    if (me->error == TUTTI_OK) me->error = tutti_barrier_arrive_and_wait(me->barrier);
    if (plain[phase] != phase + 1) me->error = 1;
  }
  return NULL;
}

static void test_serial(void) {
  for (uint32_t n = 1; n <= threads; n += 3) {
    memset(serials, 0, sizeof serials);
    memset(plain, 0, sizeof plain);
    tutti_barrier* barrier = NULL;
    CHECK(tutti_barrier_create(&barrier, n, NULL, NULL) == TUTTI_OK);
    run(barrier, n, count_serials);
    for (int phase = 0; phase < phases; ++phase) CHECK(serials[phase] == 1);
    tutti_barrier_destroy(barrier);
  }
  int is_serial = 0;
  CHECK(tutti_barrier_arrive_and_wait_serial(NULL, &is_serial) == TUTTI_EINVAL);
}

enum { crowd_phases = 200000 };
static atomic_int crowd_serials;

static void* count_serials_in_a_crowd(void* argument) {
  struct worker* me = argument;
  int mine = 0;
  for (int phase = 0; phase < crowd_phases && me->error == TUTTI_OK; ++phase) {
    int is_serial = -1;
    me->error = tutti_barrier_arrive_and_wait_serial(me->barrier, &is_serial);
    mine += is_serial;
  }
  atomic_fetch_add(&crowd_serials, mine);
  return NULL;
}

/* A thread may be held up after its arrival while others complete many phases. */
static void test_serial_in_a_crowd(void) {
  tutti_barrier* barrier = NULL;
  CHECK(tutti_barrier_create(&barrier, 1, NULL, NULL) == TUTTI_OK);
  run(barrier, threads, count_serials_in_a_crowd);
  CHECK(crowd_serials == threads * crowd_phases);
  tutti_barrier_destroy(barrier);
}

static int board[2][threads];

static void* arrive_then_wait(void* argument) {
  struct worker* me = argument;
  for (int e = 0; e < phases && me->error == TUTTI_OK; ++e) {
    uint64_t phase = 0;
    board[e % 2][me->rank] = e;
    me->error = tutti_barrier_arrive(me->barrier, &phase);
    if (me->error == TUTTI_OK) me->error = tutti_barrier_wait_phase(me->barrier, phase);
    for (int other = 0; other < threads; ++other)
      if (board[e % 2][other] != e) me->error = 1;
  }
  return NULL;
}

static void test_apart(void) {
  tutti_barrier* barrier = NULL;
  CHECK(tutti_barrier_create(&barrier, threads, NULL, NULL) == TUTTI_OK);
  run(barrier, threads, arrive_then_wait);
  tutti_barrier_destroy(barrier);

  CHECK(tutti_barrier_create(&barrier, 2, NULL, NULL) == TUTTI_OK);
  uint64_t phase = 99;
  uint32_t missing = 99;
  CHECK(tutti_barrier_arrive(barrier, &phase) == TUTTI_OK);
  CHECK(phase == 0);
  CHECK(tutti_barrier_wait_phase_for(barrier, phase, 1000000, &missing) == TUTTI_ETIMEDOUT);
  CHECK(missing == 1);
  CHECK(tutti_barrier_arrive(barrier, &phase) == TUTTI_OK);
  CHECK(tutti_barrier_wait_phase_for(barrier, phase, 0, &missing) == TUTTI_OK);
  CHECK(missing == 0);
  CHECK(tutti_barrier_wait_phase(barrier, phase) == TUTTI_OK);
  CHECK(tutti_barrier_arrive(barrier, NULL) == TUTTI_EINVAL);
  CHECK(tutti_barrier_arrive(NULL, &phase) == TUTTI_EINVAL);
  CHECK(tutti_barrier_wait_phase(NULL, 0) == TUTTI_EINVAL);
  tutti_barrier_destroy(barrier);
}

static void test_drop(void) {
  tutti_barrier* barrier = NULL;
  CHECK(tutti_barrier_create(&barrier, 3, NULL, NULL) == TUTTI_OK);
  uint64_t phase = 0;
  CHECK(tutti_barrier_arrive_and_drop(barrier) == TUTTI_OK);
  CHECK(tutti_barrier_drop(barrier, 2) == TUTTI_OK);
  CHECK(tutti_barrier_wait(barrier, 2) == TUTTI_EBROKEN);
  CHECK(tutti_barrier_wait_for(barrier, 0, UINT64_C(30000000000)) == TUTTI_OK);
  for (int i = 0; i < 5; ++i) CHECK(tutti_barrier_wait(barrier, 0) == TUTTI_OK);
  uint32_t ranks[3];
  size_t count = 99;
  CHECK(tutti_barrier_missing(barrier, 0, ranks, 3, &count) == TUTTI_OK);
  /* Rank 1 is the one that dropped out without a rank. */
  CHECK(count == 1 && ranks[0] == 1);
  CHECK(tutti_barrier_arrive(barrier, &phase) == TUTTI_OK);
  CHECK(tutti_barrier_drop(barrier, 3) == TUTTI_ERANK);
  CHECK(tutti_barrier_drop(NULL, 0) == TUTTI_EINVAL);
  CHECK(tutti_barrier_arrive_and_drop(NULL) == TUTTI_EINVAL);
  tutti_barrier_destroy(barrier);
}

/* A rank that has dropped out has nothing to wait for, and cannot come back. */
static void test_resume_after_drop(void) {
  tutti_barrier* barrier = NULL;
  uint64_t phase = 0;
  CHECK(tutti_barrier_create(&barrier, 2, NULL, NULL) == TUTTI_OK);
  CHECK(tutti_barrier_drop(barrier, 0) == TUTTI_OK);
  CHECK(tutti_barrier_resume_for(barrier, 0, 1000) == TUTTI_EBROKEN);
  CHECK(tutti_barrier_arrive(barrier, &phase) == TUTTI_OK);
  CHECK(tutti_barrier_resume_for(barrier, 0, 1000) == TUTTI_EBROKEN);
  CHECK(tutti_barrier_wait(barrier, 0) == TUTTI_EBROKEN);
  CHECK(tutti_barrier_drop(barrier, 0) == TUTTI_EBROKEN);
  tutti_barrier_destroy(barrier);
}

static void test_resume(void) {
  tutti_barrier* barrier = NULL;
  CHECK(tutti_barrier_create(&barrier, 2, NULL, NULL) == TUTTI_OK);
  CHECK(tutti_barrier_resume_for(barrier, 0, 0) == TUTTI_OK);
  CHECK(tutti_barrier_wait_for(barrier, 0, 1000000) == TUTTI_ETIMEDOUT);
  CHECK(tutti_barrier_wait(barrier, 0) == TUTTI_EBROKEN);
  CHECK(tutti_barrier_resume_for(barrier, 0, 1000000) == TUTTI_ETIMEDOUT);
  CHECK(tutti_barrier_wait_for(barrier, 1, UINT64_C(30000000000)) == TUTTI_OK);
  CHECK(tutti_barrier_resume_for(barrier, 0, 0) == TUTTI_OK);
  /* The barrier is as good as new. */
  CHECK(tutti_barrier_wait_for(barrier, 1, 1000000) == TUTTI_ETIMEDOUT);
  CHECK(tutti_barrier_wait(barrier, 0) == TUTTI_OK);
  CHECK(tutti_barrier_resume_for(barrier, 1, 0) == TUTTI_OK);
  CHECK(tutti_barrier_resume_for(barrier, 2, 0) == TUTTI_ERANK);
  CHECK(tutti_barrier_resume_for(NULL, 0, 0) == TUTTI_EINVAL);
  tutti_barrier_destroy(barrier);
}

/* Named algorithms have none of these. */
static void test_named(void) {
  tutti_barrier* barrier = NULL;
  CHECK(tutti_barrier_create(&barrier, 2, "dissemination", NULL) == TUTTI_OK);
  uint64_t phase = 0;
  int is_serial = 0;
  CHECK(tutti_barrier_arrive(barrier, &phase) == TUTTI_ENOTSUP);
  CHECK(tutti_barrier_wait_phase(barrier, 0) == TUTTI_ENOTSUP);
  CHECK(tutti_barrier_arrive_and_wait_serial(barrier, &is_serial) == TUTTI_ENOTSUP);
  CHECK(tutti_barrier_arrive_and_drop(barrier) == TUTTI_ENOTSUP);
  CHECK(tutti_barrier_drop(barrier, 0) == TUTTI_ENOTSUP);
  CHECK(tutti_barrier_wait_for(barrier, 0, 1000) == TUTTI_ETIMEDOUT);
  CHECK(tutti_barrier_resume_for(barrier, 0, 1000) == TUTTI_ENOTSUP);
  tutti_barrier_destroy(barrier);
}

static void* meet(void* argument) {
  struct worker* me = argument;
  for (int e = 0; e < phases && me->error == TUTTI_OK; ++e)
    me->error = tutti_barrier_arrive_and_wait(me->barrier);
  return NULL;
}

static _Alignas(TUTTI_BARRIER_ALIGNMENT) unsigned char memory[TUTTI_BARRIER_BYTES];

static void test_in_place(void) {
  tutti_barrier* barrier = NULL;
  /* 64 participants would otherwise have counters on the heap. */
  const size_t before = mallinfo2().uordblks;
  CHECK(tutti_barrier_init(&barrier, memory, sizeof memory, 64) == TUTTI_OK);
  CHECK(tutti_barrier_participants(barrier) == 64);
  for (int i = 0; i < 63; ++i) {
    uint64_t phase = 0;
    CHECK(tutti_barrier_arrive(barrier, &phase) == TUTTI_OK);
  }
  CHECK(tutti_barrier_arrive_and_wait(barrier) == TUTTI_OK);
  CHECK(mallinfo2().uordblks == before);
  tutti_barrier_destroy(barrier);

  CHECK(tutti_barrier_init(&barrier, memory, sizeof memory, threads) == TUTTI_OK);
  run(barrier, threads, meet);
  uint32_t ranks[1];
  size_t count = 0;
  CHECK(tutti_barrier_wait(barrier, 0) == TUTTI_ENOTSUP);
  CHECK(tutti_barrier_missing(barrier, 0, ranks, 1, &count) == TUTTI_ENOTSUP);
  CHECK(tutti_barrier_set_patience(barrier, "passive") == TUTTI_OK);
  tutti_barrier_destroy(barrier);

  CHECK(tutti_barrier_init(NULL, memory, sizeof memory, 2) == TUTTI_EINVAL);
  CHECK(tutti_barrier_init(&barrier, NULL, sizeof memory, 2) == TUTTI_EINVAL);
  CHECK(barrier == NULL);
  CHECK(tutti_barrier_init(&barrier, memory, 64, 2) == TUTTI_EINVAL);
  CHECK(tutti_barrier_init(&barrier, memory + 8, sizeof memory - 8, 2) == TUTTI_EINVAL);
  CHECK(tutti_barrier_init(&barrier, memory, sizeof memory, 0) == TUTTI_EINVAL);
}

int main(void) {
  test_serial();
  test_serial_in_a_crowd();
  test_apart();
  test_drop();
  test_resume();
  test_resume_after_drop();
  test_named();
  test_in_place();
  return finish();
}
