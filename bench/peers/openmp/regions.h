/* SPDX-License-Identifier: Apache-2.0 */
/* The only part that an OpenMP compiler sees: compiled once for each OpenMP runtime, in plain C. */
#ifndef TUTTI_BENCH_OPENMP_REGIONS_H
#define TUTTI_BENCH_OPENMP_REGIONS_H

#include <stdint.h>

#include "bench/harness/checksum.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs body(context, rank) on a team of `threads`. Returns the size of the team that the runtime
   made; the body ran only if it is `threads`. */
unsigned tutti_openmp_run(unsigned threads, void (*body)(void*, unsigned), void* context);

/* The barrier of the innermost region. */
void tutti_openmp_barrier(void);
void tutti_openmp_episodes(uint64_t count);

/* Regions back to back, opened by the caller: in each, thread r enters sums[r]. */
void tutti_openmp_regions(unsigned threads, uint64_t count, struct tutti_checksum* sums);
/* The same with the clause reduction(+: a, b); sums[0] collects. */
void tutti_openmp_reducing_regions(unsigned threads, uint64_t count, struct tutti_checksum* sums);

/* Loops y += a x back to back. */
void tutti_openmp_axpy(unsigned threads, uint64_t count, double a, const double* x, double* y,
                       uint64_t elements);

/* Each of the `threads` of a region calls it: `for` loops with the clause reduction(+: ...) over
   mine->width doubles, and their barrier. */
void tutti_openmp_reductions(unsigned threads, uint64_t count, struct tutti_checksum* mine);
/* Sets their sums to 0. Call it before such a region is opened. */
void tutti_openmp_forget_sums(void);

/* Ends the threads of the runtime, which would otherwise spin for a while beside the next
   measurement. */
void tutti_openmp_release(void);

#ifdef __cplusplus
}
#endif
#endif
