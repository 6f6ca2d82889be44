/* SPDX-License-Identifier: Apache-2.0 */
/* A parallel region and its barrier, for the runtime of whichever compiler compiles this. */
#include "openmp_region.h"

#include <omp.h>

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

void tutti_openmp_release(void) { (void)omp_pause_resource_all(omp_pause_hard); }
