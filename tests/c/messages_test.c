/* SPDX-License-Identifier: Apache-2.0
 * Messages, the refutable barrier and active messages: what they do, and every error. */
#include "tutti/messages.h"

#include <string.h>

#include "tests/c/threads.h"

enum { participants = 4, questions = 300 };

struct worker {
  tutti_communicator* all;
  uint32_t rank;
  tutti_active* active;
  uint32_t ask, answer, later;
  /* Plain data, which messages publish. */
  uint64_t (*said)[participants][questions];
  uint64_t asked, answered, late, wrong;
};

static void run_all(tutti_communicator* all, void* (*body)(void*), struct worker* workers) {
  static uint64_t said[participants][participants][questions];
  for (uint32_t r = 0; r < participants; ++r) {
    workers[r].all = all;
    workers[r].rank = r;
    workers[r].said = said;
  }
  run_threads(body, workers, sizeof *workers, participants);
  for (uint32_t r = 0; r < participants; ++r) CHECK(workers[r].wrong == 0);
}

/* ---- active messages */

static void take_question(void* arg, uint32_t source, const void* data, size_t bytes) {
  struct worker* me = arg;
  uint64_t k = 0;
  if (bytes != sizeof k) ++me->wrong;
  memcpy(&k, data, sizeof k);
  if (me->said[source][me->rank][k] != k + 7) ++me->wrong;
  ++me->asked;
  if (tutti_active_send(me->active, source, me->answer, data, bytes) != TUTTI_OK) ++me->wrong;
  int end = 0;
  if (tutti_active_idle(me->active, 1, &end) != TUTTI_EINVAL) ++me->wrong;
}
static void take_answer(void* arg, uint32_t source, const void* data, size_t bytes) {
  struct worker* me = arg;
  ++me->answered;
  if (tutti_active_send(me->active, source, me->later, data, bytes) != TUTTI_OK) ++me->wrong;
}
static void take_later(void* arg, uint32_t source, const void* data, size_t bytes) {
  struct worker* me = arg;
  (void)source;
  (void)data;
  if (bytes != sizeof(uint64_t)) ++me->wrong;
  ++me->late;
}

static void* ask_all(void* arg) {
  struct worker* me = arg;
  tutti_endpoint* endpoint = tutti_communicator_endpoint(me->all, me->rank);
  if (tutti_active_create(&me->active, endpoint) != TUTTI_OK) return me;
  if (tutti_active_add(me->active, take_question, me, TUTTI_AT_ONCE, &me->ask) != TUTTI_OK ||
      tutti_active_add(me->active, take_answer, me, TUTTI_LATER, &me->answer) != TUTTI_OK ||
      tutti_active_add(me->active, take_later, me, TUTTI_LATER, &me->later) != TUTTI_OK)
    return me;
  for (uint64_t k = 0; k < questions; ++k)
    for (uint32_t to = 0; to < participants; ++to) {
      me->said[me->rank][to][k] = k + 7;
      if (tutti_active_send(me->active, to, me->ask, &k, sizeof k) != TUTTI_OK) return me;
    }
  int end = 0;
  if (tutti_active_idle(me->active, 1, &end) != TUTTI_OK || end != TUTTI_IDLE_UNANIMOUS) return me;
  if (me->asked != questions * participants || me->answered != me->asked || me->late != me->asked)
    return me;
  int had_work = 1;
  if (tutti_active_poll(me->active, &had_work) != TUTTI_OK || had_work) return me;
  if (tutti_active_idle(me->active, me->rank != 2, &end) != TUTTI_OK || end != TUTTI_IDLE_ALL)
    return me;
  tutti_active_destroy(me->active);
  return NULL;
}

static void test_active(const char* detector) {
  struct worker workers[participants] = {{0}};
  tutti_communicator_options options = {sizeof options, detector, NULL, 256};
  tutti_communicator* all = NULL;
  CHECK(tutti_communicator_create(&all, participants, &options) == TUTTI_OK);
  CHECK(tutti_communicator_set_patience(all, "passive") == TUTTI_OK);
  run_all(all, ask_all, workers);
  tutti_communicator_destroy(all);
}

/* ---- messages and idle */

static void take_word(void* arg, const tutti_message* message) {
  struct worker* me = arg;
  if (message->size != sizeof(uint64_t)) ++me->wrong;
  ++me->asked;
}

static void* send_round(void* arg) {
  struct worker* me = arg;
  tutti_endpoint* endpoint = tutti_communicator_endpoint(me->all, me->rank);
  const uint32_t next = (me->rank + 1) % participants;
  if (tutti_endpoint_rank(endpoint) != me->rank || tutti_endpoint_size(endpoint) != participants)
    return me;
  for (uint64_t k = 0; k < questions; ++k) {
    const int error =
        k % 2 == 0
            ? tutti_endpoint_send_wait(endpoint, next, &k, sizeof k, take_word, me)
            : tutti_endpoint_send_wait_for(endpoint, next, &k, sizeof k, take_word, me, UINT64_MAX);
    if (error != TUTTI_OK) return me;
  }
  double sums[2] = {me->rank, 1};
  for (int end = TUTTI_IDLE_MESSAGE; end == TUTTI_IDLE_MESSAGE;) {
    if (tutti_endpoint_idle_reduce(endpoint, 1, sums, 2, TUTTI_DOUBLE, TUTTI_PLUS, &end) !=
        TUTTI_OK)
      return me;
    tutti_message message;
    while (tutti_endpoint_try_recv(endpoint, &message) == TUTTI_OK) {
      take_word(me, &message);
      if (tutti_endpoint_release(endpoint, &message) != TUTTI_OK) return me;
    }
  }
  if (me->asked != questions) return me;
  if (sums[0] != participants * (participants - 1) / 2 || sums[1] != participants) return me;
  int end = 0;
  if (tutti_endpoint_idle(endpoint, 0, &end) != TUTTI_OK || end != TUTTI_IDLE_ALL) return me;
  /* One leaves; the others learn of it. */
  if (me->rank == 1) return tutti_endpoint_leave(endpoint) == TUTTI_OK ? NULL : me;
  return tutti_endpoint_idle(endpoint, 1, &end) == TUTTI_EDIED ? NULL : me;
}

static void test_messages(void) {
  struct worker workers[participants] = {{0}};
  tutti_communicator_options options = {sizeof options, NULL, "park", 256};
  tutti_communicator* all = NULL;
  CHECK(tutti_communicator_create(&all, participants, &options) == TUTTI_OK);
  run_all(all, send_round, workers);
  tutti_communicator_destroy(all);
}

/* ---- one thread: who is missing, groups, errors */

static void wait_inside(void* arg, const tutti_message* message) {
  struct worker* me = arg;
  tutti_endpoint* endpoint = tutti_communicator_endpoint(me->all, 0);
  (void)message;
  uint64_t word = 1;
  if (tutti_endpoint_send_wait(endpoint, 1, &word, sizeof word, wait_inside, me) != TUTTI_EINVAL)
    ++me->wrong;
}

static void test_missing(void) {
  tutti_communicator* all = NULL;
  CHECK(tutti_communicator_create(&all, 3, NULL) == TUTTI_OK);
  CHECK(tutti_communicator_size(all) == 3);
  tutti_endpoint* one = tutti_communicator_endpoint(all, 0);
  tutti_endpoint* other = tutti_communicator_endpoint(all, 1);
  CHECK(tutti_communicator_endpoint(all, 3) == NULL);
  int end = 0;
  tutti_absentee missing[3];
  size_t count = 0;
  CHECK(tutti_endpoint_idle_for(other, 1, 1000, &end, NULL, 0, NULL) == TUTTI_ETIMEDOUT);
  CHECK(tutti_endpoint_idle_for(one, 1, 1000, &end, missing, 3, &count) == TUTTI_ETIMEDOUT);
  CHECK(count == 2 && missing[0].rank == 1 && missing[0].why == TUTTI_LATE);
  CHECK(missing[1].rank == 2 && missing[1].why == TUTTI_RUNNING);
  const uint64_t word = 7;
  CHECK(tutti_endpoint_try_send(other, 0, &word, sizeof word) == TUTTI_OK);
  CHECK(tutti_endpoint_flush(other) == TUTTI_OK);
  CHECK(tutti_endpoint_idle_for(one, 1, UINT64_MAX, &end, NULL, 0, NULL) == TUTTI_OK);
  CHECK(end == TUTTI_IDLE_MESSAGE);
  tutti_message message;
  CHECK(tutti_endpoint_try_recv(one, &message) == TUTTI_OK);
  CHECK(message.source == 1 && message.size == sizeof word);
  CHECK(memcmp(message.data, &word, sizeof word) == 0);
  CHECK(tutti_endpoint_idle_for(one, 1, 1000, &end, missing, 3, &count) == TUTTI_ETIMEDOUT);
  CHECK(count == 3 && missing[0].why == TUTTI_HOLDING && missing[0].messages == 1);
  CHECK(tutti_endpoint_release(one, &message) == TUTTI_OK);
  CHECK(tutti_endpoint_try_recv(one, &message) == TUTTI_EAGAIN);

  const uint32_t ranks[] = {2, 0}, twice[] = {1, 1}, none[] = {3};
  tutti_communicator* pair = NULL;
  CHECK(tutti_communicator_group(&pair, all, ranks, 2) == TUTTI_OK);
  CHECK(tutti_communicator_size(pair) == 2);
  tutti_communicator_destroy(pair);
  CHECK(tutti_communicator_group(&pair, all, twice, 2) == TUTTI_EINVAL && pair == NULL);
  CHECK(tutti_communicator_group(&pair, all, none, 1) == TUTTI_ERANK);
  CHECK(tutti_communicator_group(&pair, all, ranks, 0) == TUTTI_EINVAL);
  CHECK(tutti_communicator_group(&pair, NULL, ranks, 2) == TUTTI_EINVAL);
  tutti_communicator_destroy(all);
}

static void test_errors(void) {
  tutti_communicator* all = NULL;
  CHECK(tutti_communicator_create(NULL, 2, NULL) == TUTTI_EINVAL);
  CHECK(tutti_communicator_create(&all, 0, NULL) == TUTTI_EINVAL);
  CHECK(tutti_communicator_create(&all, 4096, NULL) == TUTTI_EINVAL);
  tutti_communicator_options options = {0, NULL, NULL, 0};
  CHECK(tutti_communicator_create(&all, 2, &options) == TUTTI_EINVAL);
  struct {
    tutti_communicator_options known;
    uint64_t later;
  } of_a_later_version = {{sizeof of_a_later_version, NULL, NULL, 0}, 1};
  CHECK(tutti_communicator_create(&all, 2, &of_a_later_version.known) == TUTTI_ENOTSUP);
  of_a_later_version.later = 0;
  CHECK(tutti_communicator_create(&all, 2, &of_a_later_version.known) == TUTTI_OK);
  tutti_communicator_destroy(all);
  options.size = sizeof options;
  options.detector = "telepathy";
  CHECK(tutti_communicator_create(&all, 2, &options) == TUTTI_ENAME);
  options.detector = NULL;
  options.wait = "nap";
  CHECK(tutti_communicator_create(&all, 2, &options) == TUTTI_ENAME);
  options.wait = NULL;
  options.ring_bytes = SIZE_MAX;
  CHECK(tutti_communicator_create(&all, 2, &options) == TUTTI_EINVAL && all == NULL);
  CHECK(tutti_communicator_size(NULL) == 0 && tutti_communicator_endpoint(NULL, 0) == NULL);
  CHECK(tutti_communicator_set_patience(NULL, NULL) == TUTTI_EINVAL);
  CHECK(tutti_endpoint_rank(NULL) == TUTTI_NO_RANK && tutti_endpoint_size(NULL) == 0);
  tutti_communicator_destroy(NULL);
  tutti_active_destroy(NULL);

  options.ring_bytes = 256;
  CHECK(tutti_communicator_create(&all, 2, &options) == TUTTI_OK);
  CHECK(tutti_communicator_set_patience(all, "soon") == TUTTI_EINVAL);
  tutti_endpoint* one = tutti_communicator_endpoint(all, 0);
  struct worker me = {.all = all};
  uint64_t word = 1;
  int end = 0;
  CHECK(tutti_endpoint_try_send(NULL, 0, &word, 8) == TUTTI_EINVAL);
  CHECK(tutti_endpoint_try_send(one, 0, NULL, 8) == TUTTI_EINVAL);
  CHECK(tutti_endpoint_try_send(one, 2, &word, 8) == TUTTI_ERANK);
  while (tutti_endpoint_try_send(one, 1, &word, sizeof word) == TUTTI_OK) {
  }
  CHECK(tutti_endpoint_try_send(one, 1, &word, sizeof word) == TUTTI_EAGAIN);
  CHECK(tutti_endpoint_send_wait(one, 1, &word, 8, NULL, NULL) == TUTTI_EINVAL);
  CHECK(tutti_endpoint_send_wait(one, 2, &word, 8, take_word, &me) == TUTTI_ERANK);
  tutti_endpoint* other = tutti_communicator_endpoint(all, 1);
  CHECK(tutti_endpoint_try_send(other, 0, &word, sizeof word) == TUTTI_OK);
  CHECK(tutti_endpoint_flush(other) == TUTTI_OK);
  CHECK(tutti_endpoint_send_wait_for(one, 1, &word, 8, wait_inside, &me, 1000) == TUTTI_ETIMEDOUT);
  CHECK(me.wrong == 0);
  CHECK(tutti_endpoint_leave(other) == TUTTI_OK);
  CHECK(tutti_endpoint_send_wait(one, 1, &word, 8, take_word, &me) == TUTTI_EDIED);
  tutti_message message = {NULL, 0, 9, 0};
  CHECK(tutti_endpoint_release(one, &message) == TUTTI_EINVAL);
  CHECK(tutti_endpoint_release(one, NULL) == TUTTI_EINVAL);
  CHECK(tutti_endpoint_try_recv(one, NULL) == TUTTI_EINVAL);
  CHECK(tutti_endpoint_flush(NULL) == TUTTI_EINVAL && tutti_endpoint_leave(NULL) == TUTTI_EINVAL);
  CHECK(tutti_endpoint_idle(one, 1, NULL) == TUTTI_EINVAL);
  CHECK(tutti_endpoint_idle_for(one, 1, 0, &end, NULL, 1, NULL) == TUTTI_EINVAL);
  double many[33] = {0};
  CHECK(tutti_endpoint_idle_reduce(one, 1, many, 33, TUTTI_DOUBLE, TUTTI_PLUS, &end) ==
        TUTTI_EINVAL);
  CHECK(tutti_endpoint_idle_reduce(one, 1, many, 0, TUTTI_DOUBLE, TUTTI_PLUS, &end) ==
        TUTTI_EINVAL);
  CHECK(tutti_endpoint_idle_reduce(one, 1, many, 1, 99, TUTTI_PLUS, &end) == TUTTI_EINVAL);
  tutti_communicator_destroy(all);

  CHECK(tutti_communicator_create(&all, 2, NULL) == TUTTI_OK);
  tutti_active* active = NULL;
  uint32_t handler = 0;
  CHECK(tutti_active_create(NULL, one) == TUTTI_EINVAL);
  CHECK(tutti_active_create(&active, NULL) == TUTTI_EINVAL);
  CHECK(tutti_active_create(&active, tutti_communicator_endpoint(all, 0)) == TUTTI_OK);
  CHECK(tutti_active_add(active, NULL, NULL, TUTTI_LATER, &handler) == TUTTI_EINVAL);
  CHECK(tutti_active_add(active, take_later, &me, 5, &handler) == TUTTI_EINVAL);
  CHECK(tutti_active_add(active, take_later, &me, TUTTI_LATER, NULL) == TUTTI_EINVAL);
  CHECK(tutti_active_send(active, 0, 0, &word, 8) == TUTTI_EINVAL);
  CHECK(tutti_active_add(active, take_later, &me, TUTTI_LATER, &handler) == TUTTI_OK);
  CHECK(tutti_active_send(active, 2, handler, &word, 8) == TUTTI_ERANK);
  CHECK(tutti_active_send(active, 1, handler, NULL, 8) == TUTTI_EINVAL);
  CHECK(tutti_active_poll(NULL, NULL) == TUTTI_EINVAL);
  CHECK(tutti_active_idle(active, 1, NULL) == TUTTI_EINVAL);
  tutti_active_destroy(active);
  tutti_communicator_destroy(all);
}

int main(void) {
  test_missing();
  test_errors();
  test_messages();
  test_active(NULL);
  test_active("star");
  return finish();
}
