/* SPDX-License-Identifier: Apache-2.0
 * An OMPT tool: it prints for each thread how long it has waited at barriers. The program that it
 * observes stays as it is:
 *
 *   gcc -shared -fPIC -I. examples/barrier_time.c -o barrier_time.so
 *   OMP_TOOL_LIBRARIES=./barrier_time.so tutti run --openmp -- ./app */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "preload/openmp/ompt/omp-tools.h"

struct waits {
  int thread;
  long barriers;
  double began, seconds;
  struct waits* next;
};
static _Atomic(struct waits*) all;
static atomic_int threads;
static ompt_get_thread_data_t thread_data;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void thread_begins(ompt_thread_t type, ompt_data_t* data) {
  struct waits* const mine = calloc(1, sizeof *mine);
  (void)type;
  /* relaxed: only the number counts. */
  mine->thread = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed);
  /* relaxed: the exchange below checks the value. */
  mine->next = atomic_load_explicit(&all, memory_order_relaxed);
  /* release: publishes what mine holds; pairs with finalize. relaxed: a retry. */
  while (!atomic_compare_exchange_weak_explicit(&all, &mine->next, mine, memory_order_release,
                                                memory_order_relaxed))
    continue;
  data->ptr = mine;
}

static void thread_waits(ompt_sync_region_t kind, ompt_scope_endpoint_t end, ompt_data_t* parallel,
                         ompt_data_t* task, const void* code) {
  struct waits* const mine = thread_data()->ptr;
  (void)parallel, (void)task, (void)code;
  if (kind == ompt_sync_region_taskwait || kind == ompt_sync_region_taskgroup) return;
  if (end == ompt_scope_begin) {
    mine->began = now();
  } else {
    mine->seconds += now() - mine->began;
    ++mine->barriers;
  }
}

static int initialize(ompt_function_lookup_t look_up, int device, ompt_data_t* data) {
  const ompt_set_callback_t set = (ompt_set_callback_t)look_up("ompt_set_callback");
  (void)device, (void)data;
  thread_data = (ompt_get_thread_data_t)look_up("ompt_get_thread_data");
  set(ompt_callback_thread_begin, (ompt_callback_t)thread_begins);
  return set(ompt_callback_sync_region_wait, (ompt_callback_t)thread_waits) == ompt_set_always;
}

static void finalize(ompt_data_t* data) {
  (void)data;
  /* acquire: pairs with the release of thread_begins. */
  const struct waits* w = atomic_load_explicit(&all, memory_order_acquire);
  for (; w != NULL; w = w->next)
    fprintf(stderr, "thread %d: %ld barriers, %.3f ms\n", w->thread, w->barriers, w->seconds * 1e3);
}

ompt_start_tool_result_t* ompt_start_tool(unsigned version, const char* runtime) {
  static ompt_start_tool_result_t tool = {initialize, finalize, {0}};
  fprintf(stderr, "%s, OpenMP %u\n", runtime, version);
  return &tool;
}
