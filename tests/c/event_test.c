/* SPDX-License-Identifier: Apache-2.0
 * Events, eventcounts, condition variables and workers: what they do, and every error. */
#include <pthread.h>
#include <stdatomic.h>

#include "tests/c/check.h"
#include "tutti.h"

enum { rounds = 2000 };
static const uint64_t minute_ns = UINT64_C(60000000000);

static pthread_t start(void* (*body)(void*), void* argument) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, body, argument) == 0);
  return thread;
}

/* ---- events */

struct two_events {
  tutti_event* there;
  tutti_event* back;
};

static void* answer_signals(void* argument) {
  struct two_events* both = argument;
  uint32_t place = 0;
  for (int i = 0; i < rounds; ++i) {
    const int error = i % 2 == 0 ? tutti_event_wait(both->there)
                                 : tutti_event_wait_past(both->there, &place, NULL);
    if (error != TUTTI_OK) return both;
    if (tutti_event_signal(both->back, 1) != TUTTI_OK) return both;
  }
  return NULL;
}

static void test_event(const char* wait) {
  struct two_events both = {NULL, NULL};
  CHECK(tutti_event_create(&both.there, wait) == TUTTI_OK);
  CHECK(tutti_event_create(&both.back, wait) == TUTTI_OK);
  const pthread_t other = start(answer_signals, &both);
  for (int i = 0; i < rounds; ++i) {
    if (i % 2 == 0)
      tutti_event_signal(both.there, 1);
    else
      tutti_event_broadcast(both.there);
    CHECK(tutti_event_wait_for(both.back, minute_ns) == TUTTI_OK);
  }
  void* failed = &both;
  pthread_join(other, &failed);
  CHECK(failed == NULL);
  uint32_t place = 0, count = 7;
  CHECK(tutti_event_now(both.there, &place) == TUTTI_OK && place == rounds / 2);
  CHECK(tutti_event_wait_past_for(both.there, &place, &count, 1000) == TUTTI_ETIMEDOUT);
  CHECK(count == 0 && place == rounds / 2);
  tutti_event_broadcast(both.there);
  tutti_event_broadcast(both.there);
  CHECK(tutti_event_wait_past(both.there, &place, &count) == TUTTI_OK && count == 2);
  CHECK(tutti_event_signal(both.there, 2) == TUTTI_OK);
  CHECK(tutti_event_wait_for(both.there, 0) == TUTTI_OK);
  CHECK(tutti_event_wait_for(both.there, 0) == TUTTI_OK);
  CHECK(tutti_event_wait_for(both.there, 0) == TUTTI_ETIMEDOUT);
  tutti_event_destroy(both.there);
  tutti_event_destroy(both.back);
}

static void test_event_errors(void) {
  tutti_event* event = NULL;
  uint32_t place = 0;
  CHECK(tutti_event_create(NULL, NULL) == TUTTI_EINVAL);
  CHECK(tutti_event_create(&event, "sleep") == TUTTI_ENAME && event == NULL);
  CHECK(tutti_event_create(&event, NULL) == TUTTI_OK);
  CHECK(tutti_event_set_patience(event, "10us") == TUTTI_OK);
  CHECK(tutti_event_set_patience(event, "soon") == TUTTI_EINVAL);
  CHECK(tutti_event_set_patience(NULL, NULL) == TUTTI_EINVAL);
  CHECK(tutti_event_signal(NULL, 1) == TUTTI_EINVAL);
  CHECK(tutti_event_broadcast(NULL) == TUTTI_EINVAL);
  CHECK(tutti_event_wait(NULL) == TUTTI_EINVAL);
  CHECK(tutti_event_wait_for(NULL, 0) == TUTTI_EINVAL);
  CHECK(tutti_event_now(event, NULL) == TUTTI_EINVAL);
  CHECK(tutti_event_wait_past(event, NULL, NULL) == TUTTI_EINVAL);
  CHECK(tutti_event_wait_past_for(NULL, &place, NULL, 0) == TUTTI_EINVAL);
  tutti_event_destroy(event);
  tutti_event_destroy(NULL);
  CHECK(tutti_event_create(&event, "park") == TUTTI_OK);
  CHECK(tutti_event_set_patience(event, "active") == TUTTI_ENOTSUP);
  tutti_event_destroy(event);
}

/* ---- eventcounts */

struct counted {
  tutti_eventcount* changed;
  atomic_int turn;
};

static int await_turn(struct counted* c, int turn) {
  for (;;) {
    uint32_t key = 0;
    if (tutti_eventcount_prepare_wait(c->changed, &key) != TUTTI_OK) return 0;
    if (atomic_load(&c->turn) >= turn)
      return tutti_eventcount_cancel_wait(c->changed, key) == TUTTI_OK;
    if (tutti_eventcount_commit_wait_for(c->changed, key, minute_ns) != TUTTI_OK) return 0;
  }
}

static void* take_odd_turns(void* argument) {
  struct counted* c = argument;
  for (int turn = 1; turn < rounds; turn += 2) {
    if (!await_turn(c, turn)) return c;
    atomic_store(&c->turn, turn + 1);
    tutti_eventcount_notify_one(c->changed);
  }
  return NULL;
}

static void test_eventcount(void) {
  struct counted c = {.changed = NULL};
  atomic_init(&c.turn, 0);
  CHECK(tutti_eventcount_create(&c.changed, NULL) == TUTTI_OK);
  CHECK(tutti_eventcount_set_patience(c.changed, "passive") == TUTTI_OK);
  const pthread_t other = start(take_odd_turns, &c);
  for (int turn = 0; turn < rounds; turn += 2) {
    CHECK(await_turn(&c, turn));
    atomic_store(&c.turn, turn + 1);
    tutti_eventcount_notify_all(c.changed);
  }
  void* failed = &c;
  pthread_join(other, &failed);
  CHECK(failed == NULL);
  uint32_t key = 0;
  CHECK(tutti_eventcount_prepare_wait(c.changed, &key) == TUTTI_OK);
  tutti_eventcount_notify_one(c.changed);
  CHECK(tutti_eventcount_commit_wait(c.changed, key) == TUTTI_OK);
  CHECK(tutti_eventcount_prepare_wait(c.changed, &key) == TUTTI_OK);
  CHECK(tutti_eventcount_commit_wait_for(c.changed, key, 1000) == TUTTI_ETIMEDOUT);
  CHECK(tutti_eventcount_prepare_wait(c.changed, NULL) == TUTTI_EINVAL);
  CHECK(tutti_eventcount_prepare_wait(NULL, &key) == TUTTI_EINVAL);
  CHECK(tutti_eventcount_cancel_wait(NULL, 0) == TUTTI_EINVAL);
  CHECK(tutti_eventcount_commit_wait(NULL, 0) == TUTTI_EINVAL);
  CHECK(tutti_eventcount_commit_wait_for(NULL, 0, 0) == TUTTI_EINVAL);
  CHECK(tutti_eventcount_notify_one(NULL) == TUTTI_EINVAL);
  CHECK(tutti_eventcount_notify_all(NULL) == TUTTI_EINVAL);
  CHECK(tutti_eventcount_create(NULL, NULL) == TUTTI_EINVAL);
  tutti_eventcount_destroy(c.changed);
  tutti_eventcount_destroy(NULL);
}

/* ---- condition variables */

static void lock_mutex(void* mutex) { pthread_mutex_lock(mutex); }
static void unlock_mutex(void* mutex) { pthread_mutex_unlock(mutex); }

struct queue {
  pthread_mutex_t mutex;
  tutti_lock lock;
  tutti_condition* changed;
  int items;
};

static void* consume(void* argument) {
  struct queue* q = argument;
  int error = TUTTI_OK;
  for (int i = 0; i < rounds && error == TUTTI_OK; ++i) {
    pthread_mutex_lock(&q->mutex);
    while (q->items == 0 && error == TUTTI_OK)
      error = i % 2 == 0 ? tutti_condition_wait(q->changed, &q->lock)
                         : tutti_condition_wait_for(q->changed, &q->lock, minute_ns);
    --q->items;
    pthread_mutex_unlock(&q->mutex);
  }
  return error == TUTTI_OK ? NULL : q;
}

static void test_condition(void) {
  static struct queue q;
  pthread_mutex_init(&q.mutex, NULL);
  q.lock = (tutti_lock){lock_mutex, unlock_mutex, &q.mutex};
  CHECK(tutti_condition_create(&q.changed, NULL) == TUTTI_OK);
  CHECK(tutti_condition_set_patience(q.changed, NULL) == TUTTI_OK);
  pthread_t consumers[2];
  for (int i = 0; i < 2; ++i) consumers[i] = start(consume, &q);
  for (int i = 0; i < 2 * rounds; ++i) {
    pthread_mutex_lock(&q.mutex);
    ++q.items;
    pthread_mutex_unlock(&q.mutex);
    if (i % 3 == 0)
      tutti_condition_notify_all(q.changed);
    else
      tutti_condition_notify_one(q.changed);
  }
  for (int i = 0; i < 2; ++i) {
    void* failed = &q;
    pthread_join(consumers[i], &failed);
    CHECK(failed == NULL);
  }
  CHECK(q.items == 0);
  pthread_mutex_lock(&q.mutex);
  CHECK(tutti_condition_wait_for(q.changed, &q.lock, 1000) == TUTTI_ETIMEDOUT);
  pthread_mutex_unlock(&q.mutex);
  const tutti_lock no_unlock = {lock_mutex, NULL, &q.mutex};
  CHECK(tutti_condition_wait(q.changed, &no_unlock) == TUTTI_EINVAL);
  CHECK(tutti_condition_wait(q.changed, NULL) == TUTTI_EINVAL);
  CHECK(tutti_condition_wait_for(NULL, &q.lock, 0) == TUTTI_EINVAL);
  CHECK(tutti_condition_notify_one(NULL) == TUTTI_EINVAL);
  CHECK(tutti_condition_notify_all(NULL) == TUTTI_EINVAL);
  CHECK(tutti_condition_create(NULL, NULL) == TUTTI_EINVAL);
  tutti_condition_destroy(q.changed);
  tutti_condition_destroy(NULL);
  pthread_mutex_destroy(&q.mutex);
}

/* ---- workers */

static void add_payload(void* sum, uint32_t sender, uintptr_t payload) {
  *(uintptr_t*)sum += payload + sender;
}

struct posting {
  tutti_workers* workers;
  uint32_t action;
};

static void* post_many(void* argument) {
  struct posting* p = argument;
  for (uintptr_t i = 1; i <= rounds; ++i)
    if (tutti_workers_post(p->workers, 1, 0, p->action, i) != TUTTI_OK) return p;
  return NULL;
}

static void test_workers(void) {
  struct posting p = {NULL, 0};
  uintptr_t sum = 0;
  uint32_t count = 0, ran = 0;
  CHECK(tutti_workers_create(&p.workers, 1, 2, 4, NULL) == TUTTI_OK);
  CHECK(tutti_workers_set_patience(p.workers, "balanced") == TUTTI_OK);
  CHECK(tutti_workers_add(p.workers, add_payload, &sum, &p.action) == TUTTI_OK);
  const pthread_t sender = start(post_many, &p);
  while (ran < rounds) {
    CHECK(tutti_workers_wait_for(p.workers, 0, &count, minute_ns) == TUTTI_OK && count > 0);
    ran += count;
  }
  void* failed = &p;
  pthread_join(sender, &failed);
  CHECK(failed == NULL);
  CHECK(sum == (uintptr_t)rounds * (rounds + 1) / 2 + rounds);
  CHECK(tutti_workers_poll(p.workers, 0, &count) == TUTTI_OK && count == 0);
  CHECK(tutti_workers_wait_for(p.workers, 0, NULL, 1000) == TUTTI_ETIMEDOUT);
  for (uintptr_t i = 0; i < 4; ++i)
    CHECK(tutti_workers_try_post(p.workers, 0, 0, p.action, i) == TUTTI_OK);
  CHECK(tutti_workers_try_post(p.workers, 0, 0, p.action, 9) == TUTTI_EAGAIN);
  CHECK(tutti_workers_wait(p.workers, 0, &count) == TUTTI_OK && count == 4);
  sum = 0;
  for (uintptr_t i = 1; i <= 3; ++i)
    CHECK(tutti_workers_raise(p.workers, 0, 0, p.action, i) == TUTTI_OK);
  CHECK(tutti_workers_poll(p.workers, 0, &count) == TUTTI_OK && count == 1 && sum == 3);
  CHECK(tutti_workers_remove(p.workers, p.action, TUTTI_NO_RANK) == TUTTI_OK);
  CHECK(tutti_workers_remove(p.workers, p.action, TUTTI_NO_RANK) == TUTTI_EINVAL);

  CHECK(tutti_workers_post(p.workers, 2, 0, 0, 0) == TUTTI_ERANK);
  CHECK(tutti_workers_try_post(p.workers, 0, 1, 0, 0) == TUTTI_ERANK);
  CHECK(tutti_workers_raise(NULL, 0, 0, 0, 0) == TUTTI_EINVAL);
  CHECK(tutti_workers_poll(p.workers, 1, NULL) == TUTTI_ERANK);
  CHECK(tutti_workers_wait(NULL, 0, NULL) == TUTTI_EINVAL);
  CHECK(tutti_workers_add(p.workers, NULL, NULL, &count) == TUTTI_EINVAL);
  for (int i = 0; i < 40; ++i) ran = tutti_workers_add(p.workers, add_payload, &sum, &count) == 0;
  CHECK(ran == 0);
  CHECK(tutti_workers_add(p.workers, add_payload, &sum, &count) == TUTTI_EAGAIN);
  tutti_workers_destroy(p.workers);
  tutti_workers_destroy(NULL);
  CHECK(tutti_workers_create(&p.workers, 1, 1, 3, NULL) == TUTTI_EINVAL && p.workers == NULL);
  CHECK(tutti_workers_create(&p.workers, 0, 1, 4, NULL) == TUTTI_EINVAL);
  /* More bytes than a size_t can count. */
  CHECK(tutti_workers_create(&p.workers, 1, 1u << 30, 1u << 30, NULL) == TUTTI_ENOMEM);
  CHECK(p.workers == NULL);
}

int main(void) {
  test_event(NULL);
  test_event("park");
  test_event_errors();
  test_eventcount();
  test_condition();
  test_workers();
  return finish();
}
