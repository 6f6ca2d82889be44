// SPDX-License-Identifier: Apache-2.0
// Routines that the other tests do not call: each value that can be set is read back, also in a
// region, whose tasks have copies, and each routine refuses what it has to refuse.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>

#include "preload/openmp/tests/check.h"

enum { most = 64 };

static void check_flags(void) {
  for (int on = 0; on <= 1; ++on) {
    omp_set_dynamic(on);
    CHECK(omp_get_dynamic() == on);
#pragma omp parallel num_threads(2)
    {
      CHECK(omp_get_dynamic() == on);
      omp_set_dynamic(!on);
      CHECK(omp_get_dynamic() == !on);
    }
    // The region's tasks had copies.
    CHECK(omp_get_dynamic() == on);
  }
  omp_set_dynamic(0);
}

static void check_levels(int n) {
  CHECK(omp_get_supported_active_levels() >= 2);
  const int before = omp_get_max_active_levels();
  omp_set_max_active_levels(3);
  CHECK(omp_get_max_active_levels() == 3);
  omp_set_max_active_levels(-1);
  CHECK(omp_get_max_active_levels() == 3);
  omp_set_max_active_levels(0);
  int threads = 0;
#pragma omp parallel num_threads(n) reduction(+ : threads)
  {
    CHECK(omp_get_active_level() == 0 && omp_get_level() == 1);
    ++threads;
  }
  CHECK(threads == 1);
  omp_set_max_active_levels(1);
#pragma omp parallel num_threads(n)
  {
    CHECK(omp_get_active_level() == (n > 1));
#pragma omp parallel num_threads(2)
    CHECK(omp_get_active_level() == 1 && omp_get_level() == 2);
  }
  omp_set_max_active_levels(before);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  omp_set_nested(1);
  CHECK(omp_get_nested());
  omp_set_nested(0);
  CHECK(!omp_get_nested());
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  {
    CHECK(omp_get_nested());
#pragma omp parallel num_threads(2)
    CHECK(!omp_get_nested());
  }
#pragma GCC diagnostic pop
  omp_set_max_active_levels(before);
}

static void check_numbers(int n) {
  CHECK(omp_get_num_procs() >= 1);
  CHECK(omp_get_thread_limit() >= n);
  CHECK(omp_get_max_task_priority() >= 0);
  const double start = omp_get_wtime();
  CHECK(omp_get_wtick() > 0 && omp_get_wtick() < 1);
  usleep(2000);
  CHECK(omp_get_wtime() - start >= 0.002 && omp_get_wtime() - start < 100);
  omp_set_num_threads(n + 1);
  CHECK(omp_get_max_threads() == n + 1);
  omp_set_num_threads(n);
  // The league's sizes are those of the program, not of a task.
  const int teams = omp_get_max_teams(), limit = omp_get_teams_thread_limit();
  omp_set_num_teams(5);
  CHECK(omp_get_max_teams() == 5);
  omp_set_num_teams(teams);
  omp_set_teams_thread_limit(3);
  CHECK(omp_get_teams_thread_limit() == 3);
  omp_set_teams_thread_limit(limit);
  CHECK(omp_get_max_teams() == teams && omp_get_teams_thread_limit() == limit);
}

// ---- predefined allocators, also those of LLVM and of later versions of GCC

static void check_predefined_allocators(void) {
  static const uintptr_t all[] = {1, 4, 8, 9, 100, 101, 102, 200};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    const omp_allocator_handle_t a = (omp_allocator_handle_t)all[i];
    char* const at = omp_alloc(100, a);
    CHECK(at != NULL);
    memset(at, 1, 100);
    omp_free(at, a);
    const omp_allocator_handle_t before = omp_get_default_allocator();
    omp_set_default_allocator(a);
    CHECK(omp_get_default_allocator() == a);
    omp_free(omp_alloc(10, omp_null_allocator), omp_null_allocator);
    omp_set_default_allocator(before);
    omp_destroy_allocator(a);
  }
}

// ---- places

// A thread of the program gets a place when it opens a region, and keeps its CPUs until then.
static void* get_place_late(void* unused) {
  (void)unused;
  cpu_set_t all, now;
  CPU_ZERO(&all);
  for (int p = 0; p < omp_get_num_places(); ++p) {
    int processors[CPU_SETSIZE];
    omp_get_place_proc_ids(p, processors);
    for (int i = 0; i < omp_get_place_num_procs(p); ++i) CPU_SET((size_t)processors[i], &all);
  }
  if (CPU_COUNT(&all) == 0) return NULL;
  CHECK(sched_setaffinity(0, sizeof all, &all) == 0);
  CHECK(omp_get_max_threads() > 0 && !omp_in_parallel());
  CHECK(sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &all));
#pragma omp parallel num_threads(2)
  CHECK(omp_get_place_num() >= 0);
  CHECK(omp_get_place_num() == 0);
  CHECK(sched_getaffinity(0, sizeof now, &now) == 0);
  CHECK(CPU_COUNT(&now) == omp_get_place_num_procs(0));
  return NULL;
}

static void check_places(void) {
  const int places = omp_get_num_places();
  CHECK(places >= 0 && omp_get_place_num() < (places > 0 ? places : 1));
  for (int p = 0; p < places; ++p) {
    int processors[1024];
    const int count = omp_get_place_num_procs(p);
    CHECK(count > 0 && count <= 1024);
    omp_get_place_proc_ids(p, processors);
    for (int i = 0; i < count; ++i) CHECK(processors[i] >= 0 && processors[i] < 1 << 20);
  }
  CHECK(omp_get_place_num_procs(-1) == 0 && omp_get_place_num_procs(places) == 0);
  int numbers[1024];
  const int partition = omp_get_partition_num_places();
  CHECK(partition >= 0 && partition <= places);
  omp_get_partition_place_nums(numbers);
  for (int i = 0; i < partition; ++i) CHECK(numbers[i] >= 0 && numbers[i] < places);
  CHECK((places == 0) == (omp_get_proc_bind() == omp_proc_bind_false));
  pthread_t other;
  CHECK(pthread_create(&other, NULL, get_place_late, NULL) == 0);
  CHECK(pthread_join(other, NULL) == 0);
}

// ---- memory

static int is_filled(const unsigned char* at, size_t count, int value) {
  for (size_t i = 0; i < count; ++i)
    if (at[i] != value) return 0;
  return 1;
}

static void check_memory(void) {
  CHECK(omp_get_default_allocator() == omp_default_mem_alloc);
  omp_set_default_allocator(omp_cgroup_mem_alloc);
#pragma omp parallel num_threads(2)
  CHECK(omp_get_default_allocator() == omp_cgroup_mem_alloc);
  omp_set_default_allocator(omp_default_mem_alloc);
  unsigned char* at = omp_aligned_alloc(256, 1000, omp_default_mem_alloc);
  CHECK(at != NULL && (uintptr_t)at % 256 == 0);
  memset(at, 7, 1000);
  at = omp_realloc(at, 5000, omp_default_mem_alloc, omp_default_mem_alloc);
  CHECK(at != NULL && is_filled(at, 1000, 7));
  omp_free(at, omp_null_allocator);
  at = omp_calloc(100, 30, omp_default_mem_alloc);
  CHECK(at != NULL && is_filled(at, 3000, 0));
  omp_free(at, omp_default_mem_alloc);
  at = omp_aligned_calloc(128, 10, 30, omp_null_allocator);
  CHECK(at != NULL && (uintptr_t)at % 128 == 0 && is_filled(at, 300, 0));
  omp_free(at, omp_null_allocator);
  volatile size_t too_many = SIZE_MAX / 2;
  CHECK(omp_calloc(too_many, 3, omp_default_mem_alloc) == NULL);
}

// An allocator with a pool refuses what does not fit, or takes it elsewhere, as its traits say.
static void check_pools(void) {
  const omp_alloctrait_t small[] = {
      {omp_atk_alignment, 512}, {omp_atk_pool_size, 4096}, {omp_atk_fallback, omp_atv_null_fb}};
  const omp_allocator_handle_t pool = omp_init_allocator(omp_default_mem_space, 3, small);
  CHECK(pool != omp_null_allocator);
  void* const first = omp_alloc(1500, pool);
  CHECK(first != NULL && (uintptr_t)first % 512 == 0);
  CHECK(omp_alloc(4000, pool) == NULL);
  omp_free(first, pool);
  void* const second = omp_alloc(2500, pool);
  CHECK(second != NULL);
  omp_free(second, omp_null_allocator);
  omp_destroy_allocator(pool);
  const omp_alloctrait_t elsewhere[] = {{omp_atk_pool_size, 64},
                                        {omp_atk_fallback, omp_atv_default_mem_fb}};
  const omp_allocator_handle_t tiny = omp_init_allocator(omp_default_mem_space, 2, elsewhere);
  void* const large = omp_alloc(100000, tiny);
  CHECK(large != NULL);
  memset(large, 1, 100000);
  omp_free(large, tiny);
  omp_destroy_allocator(tiny);
  // An allocator that falls back to the default one, which it is itself.
  const omp_alloctrait_t circle[] = {{omp_atk_pool_size, 64},
                                     {omp_atk_fallback, omp_atv_allocator_fb},
                                     {omp_atk_fb_data, omp_null_allocator}};
  const omp_allocator_handle_t itself = omp_init_allocator(omp_default_mem_space, 3, circle);
  omp_set_default_allocator(itself);
  CHECK(omp_alloc(100000, itself) == NULL);
  omp_set_default_allocator(omp_default_mem_alloc);
  omp_destroy_allocator(itself);
  // A block that grows needs room in its pool only for the difference.
  const omp_alloctrait_t narrow[] = {{omp_atk_pool_size, 10000},
                                     {omp_atk_fallback, omp_atv_null_fb}};
  const omp_allocator_handle_t growing = omp_init_allocator(omp_default_mem_space, 2, narrow);
  unsigned char* block = omp_alloc(6000, growing);
  memset(block, 5, 6000);
  block = omp_realloc(block, 9000, growing, growing);
  CHECK(block != NULL && is_filled(block, 6000, 5));
  CHECK(omp_realloc(block, 20000, growing, growing) == NULL);
  block = omp_realloc(block, 100, growing, growing);
  CHECK(block != NULL && is_filled(block, 100, 5));
  void* const beside = omp_alloc(9000, growing);
  CHECK(beside != NULL);
  omp_free(beside, growing);
  omp_free(block, growing);
  omp_destroy_allocator(growing);
  // 24 is no power of two.
  const omp_alloctrait_t odd[] = {{omp_atk_alignment, 24}};
  CHECK(omp_init_allocator(omp_default_mem_space, 1, odd) == omp_null_allocator);
  const omp_alloctrait_t blocked[] = {{omp_atk_partition, omp_atv_blocked},
                                      {omp_atk_access, omp_atv_cgroup},
                                      {omp_atk_sync_hint, omp_atv_serialized}};
  const omp_allocator_handle_t right = omp_init_allocator(omp_default_mem_space, 3, blocked);
  CHECK(right != omp_null_allocator);
  omp_destroy_allocator(right);
#ifndef __clang__
  const omp_alloctrait_t wrong[] = {{omp_atk_access, omp_atv_blocked}};
  CHECK(omp_init_allocator(omp_default_mem_space, 1, wrong) == omp_null_allocator);
#endif
  CHECK(omp_init_allocator(omp_high_bw_mem_space, 0, NULL) == omp_null_allocator);
}

#ifndef __clang__
static void check_allocate(int n) {
  const omp_alloctrait_t traits[] = {{omp_atk_alignment, 1024}};
  omp_allocator_handle_t aligned = omp_init_allocator(omp_default_mem_space, 1, traits);
  int values[100], sum = 0, ranks[most] = {0};
  for (int i = 0; i < 100; ++i) values[i] = i;
#pragma omp parallel num_threads(n) firstprivate(values) allocate(aligned : values) \
    reduction(+ : sum) allocate(omp_default_mem_alloc : sum)
  {
    CHECK((uintptr_t)values % 1024 == 0);
    for (int i = 0; i < 100; ++i) sum += values[i];
    values[0] = 1 + omp_get_thread_num();
#pragma omp barrier
    ++ranks[values[0] - 1];
  }
  // Each rank had a copy of its own.
  CHECK(sum == 4950 * n && values[0] == 0);
  for (int i = 0; i < most; ++i) CHECK(ranks[i] == (i < n));
  int last = -1;
#pragma omp parallel for num_threads(n) lastprivate(last) allocate(aligned : last)
  for (int i = 0; i < 50; ++i) {
    CHECK((uintptr_t)&last % 1024 == 0);
    last = i;
  }
  CHECK(last == 49);
  omp_destroy_allocator(aligned);
}
#endif

// ---- devices: there are none, so the host is device 0

static void check_devices(void) {
  CHECK(omp_get_num_devices() == 0 && omp_get_initial_device() == 0);
  CHECK(omp_get_device_num() == 0 && omp_is_initial_device());
  const int before = omp_get_default_device();
  omp_set_default_device(3);
  CHECK(omp_get_default_device() == 3);
#pragma omp parallel num_threads(2)
  CHECK(omp_get_default_device() == 3);
  omp_set_default_device(before);
  const int host = omp_get_initial_device();
  int* const there = omp_target_alloc(12 * sizeof(int), host);
  CHECK(there != NULL && omp_target_alloc(16, 1) == NULL);
  CHECK(omp_target_is_present(there, host) && !omp_target_is_present(there, 1));
  int here[12], back[12] = {0};
  for (int i = 0; i < 12; ++i) here[i] = i + 1;
  CHECK(omp_target_memcpy(there, here, sizeof here, 0, 0, host, host) == 0);
  CHECK(omp_target_memcpy(back, there, 2 * sizeof(int), sizeof(int), 4 * sizeof(int), host, host) ==
        0);
  CHECK(back[0] == 0 && back[1] == 5 && back[2] == 6 && back[3] == 0);
  CHECK(omp_target_memcpy(back, there, 4, 0, 0, 1, host) == EINVAL);
  // Two rows and two columns of 3 x 4.
  const size_t volume[] = {2, 2}, to[] = {1, 1}, from[] = {0, 2}, extents[] = {3, 4};
  memset(back, 0, sizeof back);
  CHECK(omp_target_memcpy_rect(back, there, sizeof(int), 2, volume, to, from, extents, extents,
                               host, host) == 0);
  static const int expected[12] = {0, 0, 0, 0, 0, 3, 4, 0, 0, 7, 8, 0};
  CHECK(memcmp(back, expected, sizeof back) == 0);
  CHECK(omp_target_memcpy_rect(back, there, sizeof(int), 2, volume, to, from, extents, extents,
                               host, 1) == EINVAL);
  CHECK(omp_target_memcpy_rect(NULL, NULL, 4, 2, NULL, NULL, NULL, NULL, NULL, host, host) >= 3);
  CHECK(omp_target_associate_ptr(here, there, 4, 0, host) == EINVAL);
  CHECK(omp_target_disassociate_ptr(here, host) == EINVAL);
  const size_t vast[] = {(size_t)1 << 62}, zero[] = {0};
  CHECK(omp_target_memcpy_rect(back, there, sizeof(int), 1, vast, zero, zero, extents, extents,
                               host, host) == EINVAL);
  // A device that does not exist frees nothing.
  omp_target_free(there, 1);
  omp_target_free(there, -1);
  CHECK(omp_target_is_present(NULL, 1));
  omp_target_free(there, host);
}

static void check_target_data(void) {
  int values[10], sum = 0;
  for (int i = 0; i < 10; ++i) values[i] = i;
#pragma omp target data map(tofrom : values)
  {
#pragma omp target map(alloc : values)
    for (int i = 0; i < 10; ++i) values[i] *= 2;
#pragma omp target update from(values)
  }
#pragma omp target enter data map(to : values)
#pragma omp target map(alloc : values) map(tofrom : sum)
#pragma omp teams distribute parallel for reduction(+ : sum)
  for (int i = 0; i < 10; ++i) sum += values[i];
#pragma omp target exit data map(from : values)
  CHECK(sum == 90 && values[9] == 18);
  // What is firstprivate does not come back.
  int own = 1;
  double real = 0.5;
#pragma omp target firstprivate(own, real, values) map(tofrom : sum)
  {
    own += 5;
    real *= 4;
    values[9] += 1;
    sum = own + values[9] + (int)real;
  }
  CHECK(own == 1 && real == 0.5 && values[9] == 18 && sum == 6 + 19 + 2);
  int x = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : x) shared(x)
    x = 1;
#pragma omp target enter data map(to : x) depend(inout : x) nowait
#pragma omp target update to(x) depend(inout : x)
#pragma omp target map(tofrom : x) depend(inout : x) nowait
    ++x;
#pragma omp target exit data map(from : x) depend(inout : x)
#pragma omp taskwait
    CHECK(x == 2);
  }
}

// Tasks in a target region, which has a team of one thread.
static void check_tasks_in_target(int n) {
  int x = 0, y = 0, z = 0;
#pragma omp parallel num_threads(n)
#pragma omp single
#pragma omp target map(tofrom : x, y, z)
  {
#pragma omp task depend(out : x) shared(x)
    x = 1;
#pragma omp task depend(inout : x) shared(x)
    x += 10;
#pragma omp taskwait depend(in : x)
    CHECK(x == 11);
#pragma omp taskgroup
    {
#pragma omp task depend(in : x) shared(x, y)
      y = x;
    }
    CHECK(y == 11);
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : z)
    {}
#pragma omp task depend(in : z) shared(z)
    z = 3;
    CHECK(z == 0);
    omp_fulfill_event(event);
    // The region waits for its tasks. (libgomp waits for the event where the task is made.)
  }
  CHECK(z == 3);
}

// ---- priorities

// The other rank is kept in a task of its own, so the caller runs the rest alone. With more ranks
// the program would rely on ranks at a barrier taking tasks while the caller waits for nothing.
static void check_priorities(int most_threads) {
  const int n = most_threads < 2 ? 1 : 2;
  const int highest = omp_get_max_task_priority();
  enum { tasks = 24 };
  int order[tasks], place = 0, kept = 0, is_free = 0;
#pragma omp parallel num_threads(n)
#pragma omp single
  {
    for (int i = 1; i < omp_get_num_threads(); ++i) {
#pragma omp task shared(kept, is_free) priority(highest)
      {
#pragma omp atomic
        ++kept;
        for (int now = 0; !now;) {
#pragma omp atomic read
          now = is_free;
          usleep(50);
        }
      }
    }
    for (int now = 0; now < omp_get_num_threads() - 1;) {
      usleep(50);
#pragma omp atomic read
      now = kept;
    }
    for (int i = 0; i < tasks; ++i) {
#pragma omp task shared(order, place, is_free) firstprivate(i) priority(i * 7 % 5)
      {
        order[place++] = i;
        if (place == tasks) {
#pragma omp atomic write
          is_free = 1;
        }
      }
    }
  }
  int seen[tasks] = {0};
  for (int i = 0; i < tasks; ++i) ++seen[order[i]];
  for (int i = 0; i < tasks; ++i) CHECK(seen[i] == 1);
  // Without OMP_MAX_TASK_PRIORITY all are equal. One thread runs a task when it is made.
  if (n == 1 || highest < 4) return;
  for (int i = 1; i < tasks; ++i) {
    const int before = order[i - 1] * 7 % 5, after = order[i] * 7 % 5;
    CHECK(before > after || (before == after && order[i - 1] < order[i]));
  }
}

static void check_rare_clauses(int n) {
  // Unsigned loops of tasks.
  int hits[most] = {0};
  // The compiler does not know that the bounds are small.
  volatile unsigned long long first = 0, end = most;
#pragma omp parallel num_threads(n)
#pragma omp single
#pragma omp taskloop grainsize(5) shared(hits)
  for (unsigned long long i = first; i < end; ++i) ++hits[i];
  for (int i = 0; i < most; ++i) CHECK(hits[i] == 1);
  int sum = 0;
#pragma omp parallel num_threads(n)
  {
#pragma omp sections reduction(task, + : sum)
    {
#pragma omp section
      {
#pragma omp task in_reduction(+ : sum)
        sum += 5;
      }
#pragma omp section
      sum += 7;
    }
  }
  CHECK(sum == 12);
#ifndef __clang__
  sum = 0;
#pragma omp parallel num_threads(n)
  {
#pragma omp scope reduction(task, + : sum)
    {
#pragma omp task in_reduction(+ : sum)
      sum += 1;
    }
    CHECK(sum == n);
  }
#endif
}

// The threads that were paused come back with the next region.
static void check_pause(int n) {
  int sum = 0;
#pragma omp parallel num_threads(n) reduction(+ : sum)
  sum += 1;
  CHECK(omp_pause_resource(omp_pause_soft, omp_get_initial_device()) == 0);
#pragma omp parallel num_threads(n) reduction(+ : sum)
  sum += 1;
  CHECK(omp_pause_resource_all(omp_pause_hard) == 0);
#pragma omp parallel num_threads(n) reduction(+ : sum)
  sum += 1;
  CHECK(sum == 3 * n);
  CHECK(omp_pause_resource(omp_pause_soft, 5) != 0);
#pragma omp parallel num_threads(2)
  CHECK(omp_get_num_threads() == 1 || omp_pause_resource_all(omp_pause_soft) != 0);
}

int main(void) {
  const int n = omp_get_max_threads();
  for (int repeat = 0; repeat < 3; ++repeat) {
    check_flags();
    check_levels(n);
    check_numbers(n);
    check_predefined_allocators();
    check_places();
    check_memory();
    check_pools();
#ifndef __clang__
    check_allocate(n);
#endif
    check_devices();
    check_target_data();
    check_tasks_in_target(n);
    check_priorities(n);
    check_rare_clauses(n);
    check_pause(n);
  }
  return 0;
}
