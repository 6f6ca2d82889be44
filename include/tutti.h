/* SPDX-License-Identifier: Apache-2.0
 * The C interface of tutti. Handles are opaque; functions return TUTTI_OK or a negative error, and never print,
 * abort or read the environment. Link with -ltutti (pkg-config tutti). */
#ifndef TUTTI_H
#define TUTTI_H

#include <stddef.h>
#include <stdint.h>

#include "tutti/export.h"
#include "tutti/version.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tutti_error {
  TUTTI_OK = 0,
  TUTTI_EINVAL = -1, /* an argument that can never be right: a null pointer, a count of 0 */
  TUTTI_ENAME =
      -2, /* no algorithm or wait policy of this name; tutti_barrier_algorithm lists them */
  TUTTI_ERANK = -3,     /* rank >= participants */
  TUTTI_ETIMEDOUT = -4, /* the deadline passed before all had arrived */
  TUTTI_ENOMEM = -5,    /* out of memory */
  TUTTI_ENOTSUP =
      -6, /* this machine lacks what the wait policy needs, or the algorithm cannot do this */
  TUTTI_EBROKEN = -7 /* this rank timed out on this barrier before: it must not use it again */
} tutti_error;

/* One sentence, never null, also for values that are no tutti_error. */
TUTTI_API const char* tutti_strerror(int error);

/* The version of the library at run time; compare with TUTTI_VERSION of the header. */
TUTTI_API int tutti_version(void);

typedef struct tutti_barrier tutti_barrier;

/* Makes a barrier for `participants` ranks, 0 .. participants-1, each used by one thread at a time.
 *   algorithm   a name, or NULL for tutti's choice
 *   wait        a wait policy's name, or NULL for "adaptive"
 * On success *out is the barrier, otherwise it is NULL.
 * Errors: TUTTI_EINVAL (out is NULL; participants is 0 or more than tutti_barrier_max), TUTTI_ENAME, TUTTI_ENOTSUP,
 * TUTTI_ENOMEM. */
TUTTI_API int tutti_barrier_create(tutti_barrier** out, uint32_t participants,
                                   const char* algorithm, const char* wait);

/* Destroys it; NULL is ignored. All ranks must have returned from their last call. */
TUTTI_API void tutti_barrier_destroy(tutti_barrier* barrier);

/* Arrives as `rank` and returns when all participants have arrived.
 * What a participant did before it arrived is visible to all after they return.
 * Errors: TUTTI_EINVAL (barrier is NULL), TUTTI_ERANK, TUTTI_EBROKEN. */
TUTTI_API int tutti_barrier_wait(tutti_barrier* barrier, uint32_t rank);

/* The same, but gives up after timeout_ns nanoseconds; this rank must not use the barrier again. With algorithm NULL,
 * "ticket", "pool" and "striped" the arrival stands, so that the others may still complete the episode. With the
 * others a rank may give up before it has passed on what it collected: give all ranks a deadline.
 * Errors: TUTTI_EINVAL (barrier is NULL), TUTTI_ERANK, TUTTI_ETIMEDOUT, TUTTI_EBROKEN. */
TUTTI_API int tutti_barrier_wait_for(tutti_barrier* barrier, uint32_t rank, uint64_t timeout_ns);

/* Ranks that have arrived less often than `rank`: who is missing after TUTTI_ETIMEDOUT. Writes up to `capacity`
 * of them, in ascending order, and sets *count to how many there are.
 * Errors: TUTTI_EINVAL (barrier or count is NULL; ranks is NULL while capacity > 0), TUTTI_ERANK. */
TUTTI_API int tutti_barrier_missing(const tutti_barrier* barrier, uint32_t rank, uint32_t* ranks,
                                    size_t capacity, size_t* count);

/* Participants of the barrier; 0 if it is NULL. */
TUTTI_API uint32_t tutti_barrier_participants(const tutti_barrier* barrier);

/* The largest count that tutti_barrier_create takes. */
TUTTI_API uint32_t tutti_barrier_max(void);

/* The i-th algorithm's or wait policy's name, or NULL past the end: for (i = 0; (name = f(i)); i++). */
TUTTI_API const char* tutti_barrier_algorithm(size_t i);
TUTTI_API const char* tutti_wait_policy(size_t i);

#ifdef __cplusplus
}
#endif

#endif
