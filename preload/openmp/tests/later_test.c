// SPDX-License-Identifier: Apache-2.0
// Functions of both interfaces that later compilers call, and that the installed libgomp and LLVM's
// library may lack: the program looks them up.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "preload/openmp/tests/check.h"

// Declares a function of the interface as `name`.
#define LATER(result, name, version, ...)                                                   \
  result (*name)(__VA_ARGS__) = (result(*)(__VA_ARGS__))(                                   \
      version[0] != 0 ? dlvsym(RTLD_DEFAULT, #name, version) : dlsym(RTLD_DEFAULT, #name)); \
  CHECK(name != NULL)

static void check_gcc(int n) {
  LATER(void, GOMP_taskwait_depend_nowait, "GOMP_5.1.1", void**);
  LATER(int, omp_in_explicit_task, "OMP_5.2", void);
  LATER(void*, omp_get_mapped_ptr, "OMP_5.1.1", const void*, int);
  LATER(int, omp_target_is_accessible, "OMP_5.1.1", const void*, size_t, int);
  LATER(int, omp_target_memcpy_async, "OMP_5.1.1", void*, const void*, size_t, size_t, size_t, int,
        int, int, omp_depend_t*);
  LATER(int, omp_target_memcpy_rect_async, "OMP_5.1.1", void*, const void*, size_t, int,
        const size_t*, const size_t*, const size_t*, const size_t*, const size_t*, int, int, int,
        omp_depend_t*);
  const int host = omp_get_initial_device();
  int in = -1, out = omp_in_explicit_task(), value = 0, after = 0, copy = 0;
  (void)copy;
  CHECK(omp_get_mapped_ptr(&value, host) == &value);
  CHECK(omp_target_is_accessible(&value, sizeof value, host));
#pragma omp parallel num_threads(n)
#pragma omp single
  {
#pragma omp task shared(in)
    in = omp_in_explicit_task();
#pragma omp taskwait
#pragma omp task depend(out : value) shared(value)
    {
      usleep(1000);
#pragma omp atomic write
      value = 7;
    }
    // GCC's list: the count, how many are written, the addresses.
    void* list[] = {(void*)1, (void*)1, &value};
    GOMP_taskwait_depend_nowait(list);
#pragma omp task depend(in : value) shared(value, after)
    after = value;
#pragma omp taskwait
#ifndef __clang__
    // Clang's objects of dependences are others.
    omp_depend_t object;
#pragma omp depobj(object) depend(in : value)
#pragma omp task depend(out : value) shared(value)
    {
      usleep(1000);
      value = 8;
    }
    CHECK(omp_target_memcpy_async(&copy, &value, sizeof copy, 0, 0, host, host, 1, &object) == 0);
    CHECK(copy == 8);
#pragma omp depobj(object) destroy
#endif
  }
  CHECK(in == 1 && out == 0 && after == 7);
  const size_t volume[] = {2, 2}, offsets[] = {1, 1}, zeros[] = {0, 0}, extents[] = {3, 3},
               small[] = {2, 2};
  const int from[3][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  int to[2][2] = {{0, 0}, {0, 0}};
  CHECK(omp_target_memcpy_rect_async(to, from, sizeof(int), 2, volume, zeros, offsets, small,
                                     extents, host, host, 0, NULL) == 0);
  CHECK(to[0][0] == 5 && to[0][1] == 6 && to[1][0] == 8 && to[1][1] == 9);
}

struct clang_dependence {
  intptr_t address;
  size_t bytes;
  uint8_t flags;
};

static int ranks, last_argument;
static void region(int* thread, int* rank, int* argument) {
  (void)thread;
  (void)rank;
#pragma omp atomic
  ++ranks;
#pragma omp atomic write
  last_argument = *argument;
}

static void check_clang(int n) {
  LATER(int, __kmpc_global_thread_num, "", void*);
  LATER(void, __kmpc_fork_call_if, "", void*, int, void (*)(int*, int*, int*), int, void*);
  LATER(void, __kmpc_push_num_threads_strict, "", void*, int, int, int, const char*);
  LATER(void, __kmpc_dispatch_deinit, "", void*, int);
  LATER(void*, __kmpc_copyprivate_light, "", void*, int, void*);
  LATER(void, __kmpc_omp_taskwait_deps_51, "", void*, int, int, struct clang_dependence*, int,
        void*, int);
  LATER(int, __kmpc_omp_has_task_team, "", int);
  LATER(void, __kmpc_set_thread_limit, "", void*, int, int);
  const int me = __kmpc_global_thread_num(NULL);
  int argument = 5;
  ranks = 0;
  __kmpc_push_num_threads_strict(NULL, me, n, 1, NULL);
  __kmpc_fork_call_if(NULL, 1, region, 1, &argument);
  CHECK(ranks == n && last_argument == 5);
  ranks = 0;
  argument = 6;
  __kmpc_push_num_threads_strict(NULL, me, n, 1, NULL);
  __kmpc_fork_call_if(NULL, 1, region, 0, &argument);
  CHECK(ranks == 1 && last_argument == 6);
  int private_value = -1, wrong = 0, value = 0, after = 0;
#pragma omp parallel num_threads(n) firstprivate(private_value) reduction(+ : wrong)
  {
    const int here = __kmpc_global_thread_num(NULL);
    int is_mine = 0;
#pragma omp single nowait
    {
      private_value = 42;
      is_mine = 1;
    }
    const int* const from = __kmpc_copyprivate_light(NULL, here, is_mine ? &private_value : NULL);
    private_value = *from;
#pragma omp barrier
    wrong += private_value != 42;
    wrong += __kmpc_omp_has_task_team(here) != (n > 1);
    __kmpc_dispatch_deinit(NULL, here);
  }
  CHECK(wrong == 0);
#pragma omp parallel num_threads(n)
#pragma omp single
  {
    const int here = __kmpc_global_thread_num(NULL);
    for (int is_nowait = 0; is_nowait <= 1; ++is_nowait) {
      value = after = 0;
#pragma omp task depend(out : value) shared(value)
      {
        usleep(1000);
#pragma omp atomic write
        value = 7;
      }
      struct clang_dependence list[] = {{(intptr_t)&value, sizeof value, 3}};
      __kmpc_omp_taskwait_deps_51(NULL, here, 1, list, 0, NULL, is_nowait);
      int now;
#pragma omp atomic read
      now = value;
      CHECK(is_nowait || now == 7);
#pragma omp task depend(in : value) shared(value, after)
      after = value;
#pragma omp taskwait
      CHECK(after == 7);
    }
#pragma omp task
    {
      __kmpc_set_thread_limit(NULL, __kmpc_global_thread_num(NULL), 1);
      CHECK(omp_get_thread_limit() == 1);
    }
#pragma omp taskwait
  }
}

int main(void) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    check_gcc(omp_get_max_threads());
    check_clang(omp_get_max_threads());
  }
  return 0;
}
