/* SPDX-License-Identifier: Apache-2.0 */
/* Parallel regions, their barrier and their reductions, for the OpenMP runtime of the compiler. */
#include "bench/peers/openmp/regions.h"

#include <omp.h>
#include <string.h>

unsigned tutti_openmp_run(unsigned threads, void (*body)(void*, unsigned), void* context) {
  unsigned made = 0;
  omp_set_dynamic(0);
#pragma omp parallel num_threads((int)threads)
  {
    const unsigned size = (unsigned)omp_get_num_threads();
    if (omp_get_thread_num() == 0) made = size;
    if (size == threads) body(context, (unsigned)omp_get_thread_num());
  }
  return made;
}

void tutti_openmp_barrier(void) {
#pragma omp barrier
}

void tutti_openmp_episodes(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
#pragma omp barrier
  }
}

/* firstprivate: the pointer comes with the region; a shared one would be fetched from the stack of
   the caller. */

void tutti_openmp_regions(unsigned threads, uint64_t count, struct tutti_checksum* sums) {
  for (uint64_t i = 0; i < count; ++i) {
#pragma omp parallel num_threads((int)threads) firstprivate(sums)
    tutti_checksum_enter(&sums[omp_get_thread_num()]);
  }
}

void tutti_openmp_reducing_regions(unsigned threads, uint64_t count, struct tutti_checksum* sums) {
  for (uint64_t i = 0; i < count; ++i) {
    double a = 0;
    double b = 0;
#pragma omp parallel num_threads((int)threads) firstprivate(sums) reduction(+ : a, b)
    {
      struct tutti_checksum* mine = &sums[omp_get_thread_num()];
      a += tutti_checksum_next(mine);
      b += mine->weight;
    }
    tutti_checksum_collect(&sums[0], a, b);
  }
}

void tutti_openmp_axpy(unsigned threads, uint64_t count, double a, const double* x, double* y,
                       uint64_t elements) {
  for (uint64_t i = 0; i < count; ++i) {
#pragma omp parallel for num_threads((int)threads)
    for (uint64_t k = 0; k < elements; ++k) y[k] += a * x[k];
  }
}

/* The sums of even and of odd episodes: no thread adds to one while another still reads it, because
   the two are an episode apart. They go on growing, so that no episode has to clear them. */
static double even_a, even_b, odd_a, odd_b;
static double even[TUTTI_CHECKSUM_MOST_DOUBLES], odd[TUTTI_CHECKSUM_MOST_DOUBLES];

void tutti_openmp_forget_sums(void) {
  even_a = even_b = odd_a = odd_b = 0;
  memset(even, 0, sizeof even);
  memset(odd, 0, sizeof odd);
}

/* Each loop has one iteration for each thread, which adds what is the thread's own. */

static void add_one(int threads, double first, unsigned is_odd) {
  if (is_odd) {
#pragma omp for schedule(static, 1) reduction(+ : odd_a)
    for (int i = 0; i < threads; ++i) odd_a += first;
  } else {
#pragma omp for schedule(static, 1) reduction(+ : even_a)
    for (int i = 0; i < threads; ++i) even_a += first;
  }
}

static void add_two(int threads, double first, double last, unsigned is_odd) {
  if (is_odd) {
#pragma omp for schedule(static, 1) reduction(+ : odd_a, odd_b)
    for (int i = 0; i < threads; ++i) {
      odd_a += first;
      odd_b += last;
    }
  } else {
#pragma omp for schedule(static, 1) reduction(+ : even_a, even_b)
    for (int i = 0; i < threads; ++i) {
      even_a += first;
      even_b += last;
    }
  }
}

static void add_vector(int threads, const double* in, uint64_t width, unsigned is_odd) {
  if (is_odd) {
#pragma omp for schedule(static, 1) reduction(+ : odd [0:width])
    for (int i = 0; i < threads; ++i) {
      for (uint64_t j = 0; j < width; ++j) odd[j] += in[j];
    }
  } else {
#pragma omp for schedule(static, 1) reduction(+ : even [0:width])
    for (int i = 0; i < threads; ++i) {
      for (uint64_t j = 0; j < width; ++j) even[j] += in[j];
    }
  }
}

/* What the last episode added to the sums. */
static void collect(struct tutti_checksum* mine, unsigned is_odd, double first, double last) {
  double* seen = mine->seen[is_odd];
  mine->out[0] = first - seen[0];
  mine->out[mine->width - 1] = last - seen[1];
  tutti_checksum_collect(mine, first - seen[0], last - seen[1]);
  seen[0] = first;
  seen[1] = last;
}

/* The doubles between the first and the last are the same in every episode: an equal part of their
   sums. */
static void keep_middle(struct tutti_checksum* mine, unsigned is_odd) {
  const double* sums = is_odd ? odd : even;
  const double episodes = (double)(((uint64_t)mine->episodes + 1) / 2);
  for (uint64_t j = 1; j + 1 < mine->width; ++j) mine->out[j] = sums[j] / episodes;
}

void tutti_openmp_reductions(unsigned threads, uint64_t count, struct tutti_checksum* mine) {
  const int n = (int)threads;
  const uint64_t width = mine->width;
  unsigned is_odd = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const double first = tutti_checksum_next(mine);
    is_odd = (uint64_t)mine->episodes & 1u;
    if (width == 1) {
      add_one(n, first, is_odd);
      const double sum = is_odd ? odd_a : even_a;
      collect(mine, is_odd, sum, sum);
    } else if (width == 2) {
      add_two(n, first, mine->in[1], is_odd);
      collect(mine, is_odd, is_odd ? odd_a : even_a, is_odd ? odd_b : even_b);
    } else {
      mine->in[0] = first;
      add_vector(n, mine->in, width, is_odd);
      const double* sums = is_odd ? odd : even;
      collect(mine, is_odd, sums[0], sums[width - 1]);
    }
  }
  keep_middle(mine, is_odd);
}

void tutti_openmp_release(void) { (void)omp_pause_resource_all(omp_pause_hard); }
