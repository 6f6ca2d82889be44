/* SPDX-License-Identifier: Apache-2.0
 * Threads of the tests: one for each item of an array. */
#ifndef TUTTI_TESTS_C_THREADS_H
#define TUTTI_TESTS_C_THREADS_H

#include <pthread.h>
#include <stddef.h>

#include "tests/c/check.h"

enum { most_threads = 64 };

/* Calls body(item) for each item on a thread of its own, and waits until all have returned. */
static void run_threads(void* (*body)(void*), void* items, size_t size, size_t count) {
  pthread_t threads[most_threads];
  for (size_t i = 0; i < count; ++i)
    CHECK(pthread_create(&threads[i], NULL, body, (char*)items + i * size) == 0);
  for (size_t i = 0; i < count; ++i) {
    void* failed = NULL;
    CHECK(pthread_join(threads[i], &failed) == 0);
    CHECK(failed == NULL);
  }
}

#endif
