/* SPDX-License-Identifier: Apache-2.0
 * Stand-alone reductions: every operation on every type, short and long arrays, deadlines, and
 * every error. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "tests/c/threads.h"
#include "tutti.h"

enum { most_ranks = 5, most_values = 3000, episodes = 40 };
static const uint64_t minute_ns = UINT64_C(60000000000);

struct worker {
  tutti_reduction* reduction;
  uint32_t rank, ranks;
  size_t count;
  int in_place, with_deadline;
  int error, wrong;
  double values[most_values], results[most_values];
};
static struct worker participants[most_ranks];

/* The value of rank r in an episode, and the sum of all in the documented order. Values are
 * multiples of a half, so that sums are exact. */
static double given(uint32_t rank, int episode, size_t i) {
  return 0.5 * (double)rank + (double)episode + 8.0 * (double)(i % 100);
}

static int all(struct worker* me, const void* values, void* results) {
  return me->with_deadline
             ? tutti_reduction_all_for(me->reduction, me->rank, values, results, minute_ns)
             : tutti_reduction_all(me->reduction, me->rank, values, results);
}

static void* sum_up(void* argument) {
  struct worker* me = argument;
  for (int episode = 0; episode < episodes && me->error == TUTTI_OK; ++episode) {
    double* const results = me->in_place ? me->values : me->results;
    for (size_t i = 0; i < me->count; ++i) me->values[i] = given(me->rank, episode, i);
    me->error = all(me, me->values, results);
    for (size_t i = 0; i < me->count; ++i) {
      double expected = 0;
      for (uint32_t rank = 0; rank < me->ranks; ++rank) expected += given(rank, episode, i);
      me->wrong += results[i] != expected;
    }
  }
  return NULL;
}

static void test_sums(uint32_t ranks, size_t count, int in_place, int with_deadline) {
  tutti_reduction* reduction = NULL;
  CHECK(tutti_reduction_create(&reduction, ranks, count, TUTTI_DOUBLE, TUTTI_PLUS) == TUTTI_OK);
  CHECK(tutti_reduction_participants(reduction) == ranks);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    struct worker* const p = &participants[rank];
    p->reduction = reduction;
    p->rank = rank;
    p->ranks = ranks;
    p->count = count;
    p->in_place = in_place;
    p->with_deadline = with_deadline;
    p->error = p->wrong = 0;
  }
  run_threads(sum_up, participants, sizeof *participants, ranks);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    CHECK(participants[rank].error == TUTTI_OK);
    CHECK(participants[rank].wrong == 0);
  }
  tutti_reduction_destroy(reduction);
}

struct pair {
  tutti_reduction* reduction;
  const void* values;
  void* results;
  int error;
};
static void* second(void* argument) {
  struct pair* me = argument;
  me->error = tutti_reduction_all(me->reduction, 1, me->values, me->results);
  return NULL;
}

/* Two ranks combine a and b; both get the same result. */
static void combine(int type, int operation, size_t size, const void* a, const void* b,
                    void* result) {
  struct pair other = {NULL, b, NULL, TUTTI_EINVAL};
  unsigned char others[sizeof(double)];
  other.results = others;
  pthread_t thread;
  CHECK(tutti_reduction_create(&other.reduction, 2, 1, type, operation) == TUTTI_OK);
  CHECK(pthread_create(&thread, NULL, second, &other) == 0);
  CHECK(tutti_reduction_all(other.reduction, 0, a, result) == TUTTI_OK);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(other.error == TUTTI_OK);
  CHECK(memcmp(result, others, size) == 0);
  tutti_reduction_destroy(other.reduction);
}

#define COMBINED(name, type, id)                           \
  static type name(int operation, type a, type b) {        \
    type result;                                           \
    combine(id, operation, sizeof(type), &a, &b, &result); \
    return result;                                         \
  }
COMBINED(doubles, double, TUTTI_DOUBLE)
COMBINED(floats, float, TUTTI_FLOAT)
COMBINED(int32s, int32_t, TUTTI_INT32)
COMBINED(int64s, int64_t, TUTTI_INT64)

static void test_operations(void) {
  CHECK(doubles(TUTTI_PLUS, 1.5, 2.25) == 3.75);
  CHECK(doubles(TUTTI_MULTIPLIES, 1.5, 2.0) == 3.0);
  CHECK(doubles(TUTTI_MINIMUM, 1.5, -2.0) == -2.0);
  CHECK(doubles(TUTTI_MAXIMUM, 1.5, -2.0) == 1.5);
  CHECK(doubles(TUTTI_LOGICAL_AND, 1.5, 0.0) == 0.0);
  CHECK(doubles(TUTTI_LOGICAL_OR, 0.0, -7.0) == 1.0);
  CHECK(signbit(doubles(TUTTI_MINIMUM, 0.0, -0.0)));
  CHECK(!signbit(doubles(TUTTI_MAXIMUM, -0.0, 0.0)));
  CHECK(isnan(doubles(TUTTI_MINIMUM, -(double)NAN, 1.0)));
  /* There is one NaN, whatever its sign was. */
  CHECK(!signbit(doubles(TUTTI_PLUS, copysign((double)NAN, -1.0), 1.0)));
  CHECK(floats(TUTTI_PLUS, 1.5f, 2.25f) == 3.75f);
  CHECK(floats(TUTTI_MAXIMUM, 1.5f, 2.25f) == 2.25f);
  CHECK(int32s(TUTTI_PLUS, INT32_MAX, 1) == INT32_MIN);
  CHECK(int32s(TUTTI_MULTIPLIES, -3, 5) == -15);
  CHECK(int32s(TUTTI_BIT_AND, 6, 3) == 2);
  CHECK(int32s(TUTTI_BIT_OR, 6, 3) == 7);
  CHECK(int32s(TUTTI_BIT_XOR, 6, 3) == 5);
  CHECK(int64s(TUTTI_MINIMUM, INT64_MIN, 4) == INT64_MIN);
  CHECK(int64s(TUTTI_LOGICAL_AND, 12, 34) == 1);
  CHECK(int64s(TUTTI_BIT_XOR, INT64_C(1) << 40, 1) == (INT64_C(1) << 40) + 1);
}

static void test_create_errors(void) {
  tutti_reduction* const untouched = (tutti_reduction*)(void*)&failures;
  tutti_reduction* r = untouched;
  CHECK(tutti_reduction_create(NULL, 2, 1, TUTTI_DOUBLE, TUTTI_PLUS) == TUTTI_EINVAL);
  CHECK(tutti_reduction_create(&r, 0, 1, TUTTI_DOUBLE, TUTTI_PLUS) == TUTTI_EINVAL);
  CHECK(r == NULL);
  const uint32_t too_many = tutti_barrier_max() + 1;
  CHECK(tutti_reduction_create(&r, too_many, 1, TUTTI_DOUBLE, TUTTI_PLUS) == TUTTI_EINVAL);
  CHECK(tutti_reduction_create(&r, 2, 0, TUTTI_DOUBLE, TUTTI_PLUS) == TUTTI_EINVAL);
  CHECK(tutti_reduction_create(&r, 2, SIZE_MAX, TUTTI_DOUBLE, TUTTI_PLUS) == TUTTI_EINVAL);
  CHECK(tutti_reduction_create(&r, 2, 1, -1, TUTTI_PLUS) == TUTTI_EINVAL);
  CHECK(tutti_reduction_create(&r, 2, 1, TUTTI_INT64 + 1, TUTTI_PLUS) == TUTTI_EINVAL);
  CHECK(tutti_reduction_create(&r, 2, 1, TUTTI_INT64, -1) == TUTTI_EINVAL);
  CHECK(tutti_reduction_create(&r, 2, 1, TUTTI_INT64, TUTTI_BIT_XOR + 1) == TUTTI_EINVAL);
  r = untouched;
  CHECK(tutti_reduction_create(&r, 2, 1, TUTTI_DOUBLE, TUTTI_BIT_AND) == TUTTI_EINVAL);
  CHECK(r == NULL);
  CHECK(tutti_reduction_create(&r, 2, 1, TUTTI_FLOAT, TUTTI_BIT_XOR) == TUTTI_EINVAL);
  CHECK(tutti_reduction_create(&r, 60000, SIZE_MAX / 64, TUTTI_DOUBLE, TUTTI_PLUS) == TUTTI_ENOMEM);
  CHECK(r == NULL);
  tutti_reduction_destroy(NULL);
  CHECK(tutti_reduction_participants(NULL) == 0);
}

static void test_use_errors(void) {
  tutti_reduction* r = NULL;
  double value = 1, result = 7;
  CHECK(tutti_reduction_create(&r, 2, 1, TUTTI_DOUBLE, TUTTI_PLUS) == TUTTI_OK);
  CHECK(tutti_reduction_all(NULL, 0, &value, &result) == TUTTI_EINVAL);
  CHECK(tutti_reduction_all(r, 0, NULL, &result) == TUTTI_EINVAL);
  CHECK(tutti_reduction_all(r, 0, &value, NULL) == TUTTI_EINVAL);
  CHECK(tutti_reduction_all(r, 2, &value, &result) == TUTTI_ERANK);
  CHECK(tutti_reduction_all_for(NULL, 0, &value, &result, 1) == TUTTI_EINVAL);
  CHECK(tutti_reduction_all_for(r, UINT32_MAX, &value, &result, 1) == TUTTI_ERANK);
  CHECK(result == 7);
  tutti_reduction_destroy(r);
}

/* Ranks 0 and 2 of four arrive: 1 and 3 are missing, whichever way the values travel. */
static void test_missing(size_t count) {
  tutti_reduction* r = NULL;
  static double values[most_values], results[most_values];
  uint32_t ranks[4] = {9, 9, 9, 9};
  size_t missing = 9;
  results[0] = 7;
  CHECK(tutti_reduction_create(&r, 4, count, TUTTI_DOUBLE, TUTTI_PLUS) == TUTTI_OK);
  CHECK(tutti_reduction_all_for(r, 2, values, results, 1000000) == TUTTI_ETIMEDOUT);
  CHECK(tutti_reduction_all_for(r, 0, values, results, 0) == TUTTI_ETIMEDOUT);
  CHECK(results[0] == 7);
  CHECK(tutti_reduction_missing(r, 0, ranks, 4, &missing) == TUTTI_OK);
  CHECK(missing == 2 && ranks[0] == 1 && ranks[1] == 3 && ranks[2] == 9);
  CHECK(tutti_reduction_missing(NULL, 0, ranks, 4, &missing) == TUTTI_EINVAL);
  CHECK(tutti_reduction_missing(r, 0, NULL, 4, &missing) == TUTTI_EINVAL);
  CHECK(tutti_reduction_missing(r, 0, ranks, 4, NULL) == TUTTI_EINVAL);
  CHECK(tutti_reduction_missing(r, 4, ranks, 4, &missing) == TUTTI_ERANK);
  CHECK(tutti_reduction_all(r, 2, values, results) == TUTTI_EBROKEN);
  CHECK(tutti_reduction_all_for(r, 0, values, results, minute_ns) == TUTTI_EBROKEN);
  tutti_reduction_destroy(r);
}

static void test_patience(void) {
  /* Few values, more, and many: each kind waits in its own place. */
  const size_t counts[] = {1, 8, most_values};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
    tutti_reduction* r;
    CHECK(tutti_reduction_create(&r, 2, counts[i], TUTTI_DOUBLE, TUTTI_PLUS) == TUTTI_OK);
    CHECK(tutti_reduction_set_patience(r, "passive") == TUTTI_OK);
    CHECK(tutti_reduction_set_patience(r, NULL) == TUTTI_OK);
    CHECK(tutti_reduction_set_patience(r, "now") == TUTTI_EINVAL);
    tutti_reduction_destroy(r);
  }
  CHECK(tutti_reduction_set_patience(NULL, "passive") == TUTTI_EINVAL);
}

int main(void) {
  /* One value, a full line, one more than that, and blocks of several chunks. */
  const size_t counts[] = {1, 2, 3, 7, 8, 300, most_values};
  for (uint32_t ranks = 1; ranks <= most_ranks; ++ranks)
    for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i)
      test_sums(ranks, counts[i], i % 2 == 0, i % 3 == 0);
  test_operations();
  test_create_errors();
  test_use_errors();
  test_patience();
  test_missing(1);
  test_missing(7);
  test_missing(most_values);
  return finish();
}
