/* SPDX-License-Identifier: Apache-2.0 */
/* The work of a rank in a region or a reduction that is timed: it costs nothing, and tells
   afterwards whether every rank took part and every value was added. It is C because the OpenMP
   peers are. */
#ifndef TUTTI_BENCH_CHECKSUM_H
#define TUTTI_BENCH_CHECKSUM_H

#include <stdint.h>

#define TUTTI_CHECKSUM_MOST_DOUBLES 1024

/* In episode k the rank contributes k * weight first and weight last, so that a sum tells which
   rank's value is missing in which episode. `in` and `out` hold `width` doubles. */
struct tutti_checksum {
  double weight;
  double episodes; /* entered so far */
  double
      first_total; /* of the first and of the last double of all results that this rank has got */
  double last_total;
  double seen[2][2]; /* for runtimes whose sums go on growing: what the rank read of them last */
  double* in;
  double* out;
  uint64_t width;
  char apart[128 - 8 * sizeof(double) - 2 * sizeof(double*) - sizeof(uint64_t)];
};

static inline void tutti_checksum_enter(struct tutti_checksum* sum) { sum->episodes += 1; }

/* The first double of the rank's contribution to its next episode. */
static inline double tutti_checksum_next(struct tutti_checksum* sum) {
  sum->episodes += 1;
  return sum->episodes * sum->weight;
}

static inline void tutti_checksum_collect(struct tutti_checksum* sum, double first, double last) {
  sum->first_total += first;
  sum->last_total += last;
}

#endif
