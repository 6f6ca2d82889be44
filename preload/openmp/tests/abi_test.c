// SPDX-License-Identifier: Apache-2.0
// Entry points that older compilers emit, or GCC 12 only for rare clauses: each is called as such
// code does, and every iteration, section or update must happen once, in order where it has one.
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "preload/openmp/tests/check.h"

typedef unsigned long long ull;
typedef void region(void*);
// Those of omp_sched_t.
enum { sched_static = 1, sched_dynamic = 2, sched_guided = 3, flag_none = 0 };

void GOMP_parallel_start(region*, void*, unsigned);
void GOMP_parallel_end(void);
void GOMP_ordered_start(void);
void GOMP_ordered_end(void);
void GOMP_loop_end(void);
void GOMP_loop_end_nowait(void);
bool GOMP_loop_end_cancel(void);
unsigned GOMP_sections_next(void);
void GOMP_sections_end_nowait(void);
bool GOMP_sections_end_cancel(void);
unsigned GOMP_sections_start(unsigned);
void GOMP_parallel_sections_start(region*, void*, unsigned, unsigned);
void GOMP_parallel_sections(region*, void*, unsigned, unsigned, unsigned);
void GOMP_doacross_post(const long*);
void GOMP_doacross_wait(long, ...);
void GOMP_doacross_ull_post(const ull*);
void GOMP_doacross_ull_wait(ull, ...);
void GOMP_teams(unsigned, unsigned);
void GOMP_target(int, region*, const void*, size_t, void**, size_t*, unsigned char*);
void GOMP_target_data(int, const void*, size_t, void**, size_t*, unsigned char*);
void GOMP_target_data_ext(int, size_t, void**, size_t*, unsigned short*);
void GOMP_target_end_data(void);
void GOMP_target_update(int, const void*, size_t, void**, size_t*, unsigned char*);
void GOMP_offload_register(const void*, int, const void*);
void GOMP_offload_unregister(const void*, int, const void*);
void GOMP_offload_register_ver(unsigned, const void*, int, const void*);
void GOMP_offload_unregister_ver(unsigned, const void*, int, const void*);

enum { most = 200 };
static int hits[most];
static int next_turn;

static void hit(long i) { __atomic_fetch_add(&hits[i], 1, __ATOMIC_RELAXED); }
static void expect_hits(long from, long to) {
  for (long i = 0; i < most; ++i) CHECK(hits[i] == (i >= from && i < to));
  memset(hits, 0, sizeof hits);
}

// ---- loops inside of a region: with a chunk, with that of omp_set_schedule, and those that have
// all arguments

#define WITH_CHUNK(name)                                                   \
  bool GOMP_loop_##name##_start(long, long, long, long, long*, long*);     \
  bool GOMP_loop_##name##_next(long*, long*);                              \
  bool GOMP_loop_ull_##name##_start(bool, ull, ull, ull, ull, ull*, ull*); \
  bool GOMP_loop_ull_##name##_next(ull*, ull*);
#define WITHOUT_CHUNK(name)                                           \
  bool GOMP_loop_##name##_start(long, long, long, long*, long*);      \
  bool GOMP_loop_##name##_next(long*, long*);                         \
  bool GOMP_loop_ull_##name##_start(bool, ull, ull, ull, ull*, ull*); \
  bool GOMP_loop_ull_##name##_next(ull*, ull*);
WITH_CHUNK(static)
WITH_CHUNK(dynamic)
WITH_CHUNK(guided)
WITH_CHUNK(nonmonotonic_dynamic)
WITH_CHUNK(nonmonotonic_guided)
WITH_CHUNK(ordered_static)
WITH_CHUNK(ordered_dynamic)
WITH_CHUNK(ordered_guided)
WITHOUT_CHUNK(runtime)
WITHOUT_CHUNK(nonmonotonic_runtime)
WITHOUT_CHUNK(maybe_nonmonotonic_runtime)
WITHOUT_CHUNK(ordered_runtime)
bool GOMP_loop_start(long, long, long, long, long, long*, long*, void*, void**);
bool GOMP_loop_ordered_start(long, long, long, long, long, long*, long*, void*, void**);
bool GOMP_loop_ull_start(bool, ull, ull, ull, long, ull, ull*, ull*, void*, void**);
bool GOMP_loop_ull_ordered_start(bool, ull, ull, ull, long, ull, ull*, ull*, void*, void**);

static void iterate(long from, long to, long step, bool is_ordered) {
  for (long i = from; step > 0 ? i < to : i > to; i += step) {
    hit(i);
    if (!is_ordered) continue;
    GOMP_ordered_start();
    CHECK(next_turn == i);
    next_turn += (int)step;
    GOMP_ordered_end();
  }
}

// `start` and `start_ull` begin a loop over [first, end) and set `more` and the chunk.
#define LOOP(start, next, start_ull, next_ull, first, end, step, is_ordered)         \
  do {                                                                               \
    next_turn = (int)(first);                                                        \
    _Pragma("omp parallel") {                                                        \
      long from, to;                                                                 \
      if (start) do                                                                  \
          iterate(from, to, (step), is_ordered);                                     \
        while (next(&from, &to));                                                    \
      CHECK(!GOMP_loop_end_cancel());                                                \
    }                                                                                \
    expect_hits((step) > 0 ? (first) : (end) + 1, (step) > 0 ? (end) : (first) + 1); \
    next_turn = (int)(first);                                                        \
    _Pragma("omp parallel") {                                                        \
      ull from, to;                                                                  \
      if (start_ull) do                                                              \
          iterate((long)from, (long)to, (step), is_ordered);                         \
        while (next_ull(&from, &to));                                                \
      GOMP_loop_end();                                                               \
    }                                                                                \
    expect_hits((step) > 0 ? (first) : (end) + 1, (step) > 0 ? (end) : (first) + 1); \
  } while (0)

#define UP(step) ((step) > 0)
#define CHUNKED(name, first, end, step, chunk, is_ordered)                                         \
  LOOP(GOMP_loop_##name##_start(first, end, step, chunk, &from, &to), GOMP_loop_##name##_next,     \
       GOMP_loop_ull_##name##_start(UP(step), (ull)(first), (ull)(end), (ull)(step), chunk, &from, \
                                    &to),                                                          \
       GOMP_loop_ull_##name##_next, first, end, step, is_ordered)
#define UNCHUNKED(name, first, end, step, is_ordered)                                             \
  LOOP(GOMP_loop_##name##_start(first, end, step, &from, &to), GOMP_loop_##name##_next,           \
       GOMP_loop_ull_##name##_start(UP(step), (ull)(first), (ull)(end), (ull)(step), &from, &to), \
       GOMP_loop_ull_##name##_next, first, end, step, is_ordered)
#define ANY(name, schedule, chunk, first, end, step, next, is_ordered)                        \
  LOOP(GOMP_loop_##name(first, end, step, schedule, chunk, &from, &to, NULL, NULL),           \
       GOMP_loop_##next,                                                                      \
       GOMP_loop_ull_##name(UP(step), (ull)(first), (ull)(end), (ull)(step), schedule, chunk, \
                            &from, &to, NULL, NULL),                                          \
       GOMP_loop_ull_##next, first, end, step, is_ordered)

static void check_loops(long first, long end, long step, long chunk) {
  CHUNKED(static, first, end, step, chunk, false);
  CHUNKED(dynamic, first, end, step, chunk, false);
  CHUNKED(guided, first, end, step, chunk, false);
  CHUNKED(nonmonotonic_dynamic, first, end, step, chunk, false);
  CHUNKED(nonmonotonic_guided, first, end, step, chunk, false);
  CHUNKED(ordered_static, first, end, step, chunk, true);
  CHUNKED(ordered_dynamic, first, end, step, chunk, true);
  CHUNKED(ordered_guided, first, end, step, chunk, true);
  static const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided};
  for (int k = 0; k < 3; ++k) {
    omp_set_schedule(kinds[k], (int)chunk);
    UNCHUNKED(runtime, first, end, step, false);
    UNCHUNKED(nonmonotonic_runtime, first, end, step, false);
    UNCHUNKED(maybe_nonmonotonic_runtime, first, end, step, false);
    UNCHUNKED(ordered_runtime, first, end, step, true);
  }
  ANY(start, sched_static, chunk, first, end, step, static_next, false);
  ANY(start, sched_dynamic, chunk, first, end, step, dynamic_next, false);
  ANY(start, sched_guided, chunk, first, end, step, guided_next, false);
  ANY(ordered_start, sched_static, chunk, first, end, step, ordered_static_next, true);
  ANY(ordered_start, sched_dynamic, chunk, first, end, step, ordered_dynamic_next, true);
  ANY(ordered_start, sched_guided, chunk, first, end, step, ordered_guided_next, true);
}

// ---- regions that are one loop

#define REGION_WITH_CHUNK(name) \
  void GOMP_parallel_loop_##name(region*, void*, unsigned, long, long, long, long, unsigned);
#define REGION_WITHOUT_CHUNK(name) \
  void GOMP_parallel_loop_##name(region*, void*, unsigned, long, long, long, unsigned);
REGION_WITH_CHUNK(static)
REGION_WITH_CHUNK(dynamic)
REGION_WITH_CHUNK(guided)
REGION_WITH_CHUNK(nonmonotonic_dynamic)
REGION_WITH_CHUNK(nonmonotonic_guided)
REGION_WITHOUT_CHUNK(runtime)
REGION_WITHOUT_CHUNK(nonmonotonic_runtime)
REGION_WITHOUT_CHUNK(maybe_nonmonotonic_runtime)
void GOMP_parallel_loop_static_start(region*, void*, unsigned, long, long, long, long);
void GOMP_parallel_loop_dynamic_start(region*, void*, unsigned, long, long, long, long);
void GOMP_parallel_loop_guided_start(region*, void*, unsigned, long, long, long, long);
void GOMP_parallel_loop_runtime_start(region*, void*, unsigned, long, long, long);

#define PART(name)                                                           \
  static void part_##name(void* data) {                                      \
    long from, to;                                                           \
    CHECK(data == hits);                                                     \
    while (GOMP_loop_##name##_next(&from, &to)) iterate(from, to, 1, false); \
    GOMP_loop_end_nowait();                                                  \
  }
PART(static)
PART(dynamic)
PART(guided)
PART(nonmonotonic_dynamic)
PART(nonmonotonic_guided)
PART(runtime)
PART(nonmonotonic_runtime)
PART(maybe_nonmonotonic_runtime)

static void check_parallel_loops(int n, long count) {
  const unsigned threads = (unsigned)n;
#define REGION(name, ...)                                                          \
  GOMP_parallel_loop_##name(part_##name, hits, threads, 0, count, 1, __VA_ARGS__); \
  expect_hits(0, count)
  REGION(static, 3, flag_none);
  REGION(dynamic, 3, flag_none);
  REGION(guided, 3, flag_none);
  REGION(nonmonotonic_dynamic, 3, flag_none);
  REGION(nonmonotonic_guided, 3, flag_none);
  omp_set_schedule(omp_sched_dynamic, 2);
  REGION(runtime, flag_none);
  REGION(nonmonotonic_runtime, flag_none);
  REGION(maybe_nonmonotonic_runtime, flag_none);
  // The caller runs its part between the two calls.
#define HALVES(name, ...)                                                               \
  GOMP_parallel_loop_##name##_start(part_##name, hits, threads, 0, count, __VA_ARGS__); \
  CHECK(omp_get_num_threads() == n && omp_get_thread_num() == 0);                       \
  part_##name(hits);                                                                    \
  GOMP_parallel_end();                                                                  \
  CHECK(omp_get_num_threads() == 1);                                                    \
  expect_hits(0, count)
  HALVES(static, 1, 4);
  HALVES(dynamic, 1, 4);
  HALVES(guided, 1, 4);
  HALVES(runtime, 1);
}

// ---- regions, sections

static void count_ranks(void* data) { hit(omp_get_thread_num() + (data == hits ? 0 : most)); }

static void sections_of(void* data) {
  CHECK(data == hits);
  for (unsigned s = GOMP_sections_next(); s != 0; s = GOMP_sections_next()) hit((long)s - 1);
  GOMP_sections_end_nowait();
}

static void check_regions(int n) {
  const unsigned threads = (unsigned)n;
  GOMP_parallel_start(count_ranks, hits, threads);
  count_ranks(hits);
  GOMP_parallel_end();
  expect_hits(0, n);
  GOMP_parallel_sections_start(sections_of, hits, threads, 7);
  sections_of(hits);
  GOMP_parallel_end();
  expect_hits(0, 7);
  GOMP_parallel_sections(sections_of, hits, threads, 0, flag_none);
  expect_hits(0, 0);
  GOMP_parallel_sections(sections_of, hits, threads, 9, flag_none);
  expect_hits(0, 9);
#pragma omp parallel num_threads(n)
  {
    for (unsigned s = GOMP_sections_start(5); s != 0; s = GOMP_sections_next()) hit((long)s - 1);
    CHECK(!GOMP_sections_end_cancel());
  }
  expect_hits(0, 5);
}

// ---- doacross loops: iteration (i, j) after (i - 1, j) and (i, j - 1)

enum { rows = 9, columns = 7 };
bool GOMP_loop_doacross_start(unsigned, long*, long, long, long*, long*, void*, void**);
bool GOMP_loop_doacross_runtime_start(unsigned, long*, long*, long*);
bool GOMP_loop_ull_doacross_start(unsigned, ull*, long, ull, ull*, ull*, void*, void**);
bool GOMP_loop_ull_doacross_runtime_start(unsigned, ull*, ull*, ull*);
bool GOMP_loop_ull_doacross_static_start(unsigned, ull*, ull, ull*, ull*);
bool GOMP_loop_ull_doacross_dynamic_start(unsigned, ull*, ull, ull*, ull*);
bool GOMP_loop_ull_doacross_guided_start(unsigned, ull*, ull, ull*, ull*);

#define DOACROSS(type, start, next, wait, post)                     \
  do {                                                              \
    static long grid[rows + 1][columns + 1];                        \
    memset(grid, 0, sizeof grid);                                   \
    grid[1][0] = 1;                                                 \
    _Pragma("omp parallel") {                                       \
      type counts[2] = {rows, columns}, from, to;                   \
      if (start) do                                                 \
          for (type i = from; i < to; ++i)                          \
            for (type j = 0; j < columns; ++j) {                    \
              if (i > 0) wait(i - 1, j);                            \
              if (j > 0) wait(i, j - 1);                            \
              grid[i + 1][j + 1] = grid[i][j + 1] + grid[i + 1][j]; \
              const type here[2] = {i, j};                          \
              post(here);                                           \
            }                                                       \
        while (next(&from, &to));                                   \
      GOMP_loop_end();                                              \
    }                                                               \
    /* Paths from the first cell to the last one: 14 over 6. */     \
    CHECK(grid[rows][columns] == 3003);                             \
  } while (0)
#define DOACROSS_LONG(start, next) \
  DOACROSS(long, start, next, GOMP_doacross_wait, GOMP_doacross_post)
#define DOACROSS_ULL(start, next) \
  DOACROSS(ull, start, next, GOMP_doacross_ull_wait, GOMP_doacross_ull_post)

static void check_doacross(void) {
  omp_set_schedule(omp_sched_dynamic, 2);
  DOACROSS_LONG(GOMP_loop_doacross_runtime_start(2, counts, &from, &to), GOMP_loop_runtime_next);
  DOACROSS_ULL(GOMP_loop_ull_doacross_runtime_start(2, counts, &from, &to),
               GOMP_loop_ull_runtime_next);
  DOACROSS_LONG(GOMP_loop_doacross_start(2, counts, sched_static, 1, &from, &to, NULL, NULL),
                GOMP_loop_static_next);
  DOACROSS_ULL(GOMP_loop_ull_doacross_start(2, counts, sched_dynamic, 1, &from, &to, NULL, NULL),
               GOMP_loop_ull_dynamic_next);
  DOACROSS_ULL(GOMP_loop_ull_doacross_static_start(2, counts, 2, &from, &to),
               GOMP_loop_ull_static_next);
  DOACROSS_ULL(GOMP_loop_ull_doacross_dynamic_start(2, counts, 1, &from, &to),
               GOMP_loop_ull_dynamic_next);
  DOACROSS_ULL(GOMP_loop_ull_doacross_guided_start(2, counts, 1, &from, &to),
               GOMP_loop_ull_guided_next);
}

// ---- devices, of which there are none: target regions run on the host, with the host's data

static void on_host(void* data) {
  int* const values = *(int**)data;
  CHECK(omp_is_initial_device());
  ++values[0];
  // The limit is that of the region.
  GOMP_teams(3, 2);
}

static void on_host_with_loop(void* data) {
  int* const values = *(int**)data;
  long from, to;
  for (bool more = GOMP_loop_dynamic_start(0, 10, 1, 4, &from, &to); more;
       more = GOMP_loop_dynamic_next(&from, &to))
    values[0] += (int)(to - from);
  GOMP_loop_end_nowait();
}

// Each region frees what its loops needed.
static void check_memory_of_targets(void) {
  int value = 0;
  void* addresses[1] = {&value};
  const int regions = 3000;
  size_t before = 0;
  for (int i = 0; i < regions; ++i) {
    if (i == regions / 2) before = mallinfo2().uordblks;
    GOMP_target(-1, on_host_with_loop, NULL, 1, addresses, NULL, NULL);
  }
  CHECK(value == 10 * regions);
  CHECK(mallinfo2().uordblks < before + 50000);
}

static void check_target(void) {
  enum { to_and_from = 3 };
  int value = 41;
  void* addresses[1] = {&value};
  size_t sizes[1] = {sizeof value};
  unsigned char kinds[1] = {to_and_from};
  unsigned short wide_kinds[1] = {to_and_from};
  GOMP_target_data(-1, NULL, 1, addresses, sizes, kinds);
  GOMP_target(-1, on_host, NULL, 1, addresses, sizes, kinds);
  GOMP_target_update(-1, NULL, 1, addresses, sizes, kinds);
  GOMP_target_end_data();
  CHECK(value == 42);
  GOMP_target_data_ext(-1, 1, addresses, sizes, wide_kinds);
  ++value;
  GOMP_target_end_data();
  CHECK(value == 43);
  // What programs with code for a device call when they start and end.
  static const void* const table[4] = {&table[0], &table[0], &table[0], &table[0]};
  enum { nvptx = 5 };
  GOMP_offload_register(table, nvptx, table);
  GOMP_offload_unregister(table, nvptx, table);
  GOMP_offload_register_ver(0x10000, table, nvptx, table);
  GOMP_offload_unregister_ver(0x10000, table, nvptx, table);
}

int main(void) {
  const int n = omp_get_max_threads();
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (long chunk = 1; chunk <= 7; chunk += 3) {
      check_loops(0, 0, 1, chunk);
      check_loops(0, 1, 1, chunk);
      check_loops(3, most, 1, chunk);
      check_loops(most - 1, 4, -1, chunk);
    }
    check_parallel_loops(n, 0);
    check_parallel_loops(n, 1);
    check_parallel_loops(n, most);
    check_regions(n);
    check_doacross();
    check_target();
    check_memory_of_targets();
  }
  return 0;
}
