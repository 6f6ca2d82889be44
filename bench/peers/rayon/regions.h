/* SPDX-License-Identifier: Apache-2.0 */
/* What regions.rs provides. */
#ifndef TUTTI_BENCH_RAYON_REGIONS_H
#define TUTTI_BENCH_RAYON_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/harness/checksum.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tutti_rayon_pool;

/* A pool of its own threads; NULL: Rayon could not start so many. */
struct tutti_rayon_pool* tutti_rayon_new(unsigned threads);
/* Returns when its threads have ended. */
void tutti_rayon_end(struct tutti_rayon_pool* pool);

/* Runs body(context, index) once on each thread of the pool; it throws nothing. */
void tutti_rayon_open(const struct tutti_rayon_pool* pool, void (*body)(void*, unsigned),
                      void* context);
/* Runs work(context) on a thread of the pool, where regions then are opened; it throws nothing. */
void tutti_rayon_install(const struct tutti_rayon_pool* pool, void (*work)(void*), void* context);
/* Regions back to back: in each, thread i enters sums[i]. If `outside` is true, the caller opens
   them and sleeps in each; otherwise a thread of the pool does. */
void tutti_rayon_regions(const struct tutti_rayon_pool* pool, bool outside, uint64_t count,
                         struct tutti_checksum* sums);
/* The same with everybody's two doubles added up; sums[0] collects. */
void tutti_rayon_reducing_regions(const struct tutti_rayon_pool* pool, bool outside, uint64_t count,
                                  struct tutti_checksum* sums);

#ifdef __cplusplus
}
#endif
#endif
