/* SPDX-License-Identifier: Apache-2.0
 * The C interface of tutti. Handles are opaque; functions return TUTTI_OK or a negative error, and never print,
 * abort or read the environment, but for TUTTI_PATIENCE (tutti_barrier_set_patience). Link with -ltutti (pkg-config tutti). */
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
      -2, /* no algorithm or wait policy has this name; tutti_barrier_algorithm lists them */
  TUTTI_ERANK = -3,     /* rank >= participants */
  TUTTI_ETIMEDOUT = -4, /* the deadline passed before all had arrived */
  TUTTI_ENOMEM = -5,    /* out of memory */
  TUTTI_ENOTSUP =
      -6, /* this machine lacks what the wait policy needs, or the algorithm cannot do this */
  TUTTI_EBROKEN =
      -7, /* this rank timed out on this barrier or reduction before: it must not use it again */
  TUTTI_ETHREAD = -8,    /* the system makes no more threads */
  TUTTI_EBUSY = -9,      /* a late region of this team has not ended */
  TUTTI_ECANCELED = -10, /* another rank of this region has failed: leave the region */
  TUTTI_ETHROW = -11     /* a rank's function left by a C++ exception */
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

/* Arrives as one of the participants, whichever: as pthread_barrier_wait does, without a rank. Any thread may call it,
 * another one each time; every `participants` arrivals make an episode. For algorithm NULL, "ticket", "pool" and
 * "striped"; all others must know who arrives. No more than `participants` threads may arrive in an episode, except with
 * NULL, "pool" and "striped", where those who come too early wait for the next. With NULL some threads may arrive so and others
 * by tutti_barrier_wait.
 * Errors: TUTTI_EINVAL (barrier is NULL), TUTTI_ENOTSUP (the algorithm needs ranks). */
TUTTI_API int tutti_barrier_arrive_and_wait(tutti_barrier* barrier);

/* The same, but gives up after timeout_ns nanoseconds. The arrival stands, so that the others may still complete the
 * episode; whoever gave up must not arrive again in it. *missing, unless it is NULL, is then how many arrivals the episode
 * lacked at the deadline, or 0 if it ended at that moment; 0 after TUTTI_OK.
 * Errors: as above, TUTTI_ETIMEDOUT. */
TUTTI_API int tutti_barrier_arrive_and_wait_for(tutti_barrier* barrier, uint64_t timeout_ns,
                                                uint32_t* missing);

/* Ranks that have arrived less often than `rank`: who is missing after TUTTI_ETIMEDOUT. Writes up to `capacity`
 * of them, in ascending order, and sets *count to how many there are.
 * Errors: TUTTI_EINVAL (barrier or count is NULL; ranks is NULL while capacity > 0), TUTTI_ERANK. */
TUTTI_API int tutti_barrier_missing(const tutti_barrier* barrier, uint32_t rank, uint32_t* ranks,
                                    size_t capacity, size_t* count);

/* Participants of the barrier; 0 if it is NULL. */
TUTTI_API uint32_t tutti_barrier_participants(const tutti_barrier* barrier);

/* The largest count that tutti_barrier_create takes. */
TUTTI_API uint32_t tutti_barrier_max(void);

/* For how long a wait keeps the processor before it sleeps, from the next wait on; at any time, by any thread:
 *   "active"     never sleeps: polls, and on a core that others need it yields between looks
 *   "balanced"   learns how long waits are
 *   "passive"    sleeps after the first few polls
 *   "200us"      polls or yields for so long, then sleeps; a number with ns, us, ms or s
 * NULL: what the environment variable TUTTI_PATIENCE says, or "balanced", as if it had never been called.
 * Errors: TUTTI_EINVAL (barrier is NULL; a text that means nothing), TUTTI_ENOTSUP (the barrier's wait policy has no
 * patience: it is not "adaptive"). */
TUTTI_API int tutti_barrier_set_patience(tutti_barrier* barrier, const char* patience);

/* The i-th algorithm's or wait policy's name, or NULL past the end: for (i = 0; (name = f(i)); i++). */
TUTTI_API const char* tutti_barrier_algorithm(size_t i);
TUTTI_API const char* tutti_wait_policy(size_t i);

/* ---- What reductions work on. Parameters are ints, so that one that is out of range is an error and nothing worse. */

typedef enum tutti_type {
  TUTTI_DOUBLE = 0,
  TUTTI_FLOAT = 1,
  TUTTI_INT32 = 2, /* int32_t; sums and products wrap around */
  TUTTI_INT64 = 3  /* int64_t; the same */
} tutti_type;

/* Applied in the order of the tournament of the ranks, ((0 + 1) + (2 + 3)) + ..., by every algorithm: the same values
 * of the same number of ranks give the same bits. A NaN in a result is the one quiet NaN. */
typedef enum tutti_operation {
  TUTTI_PLUS = 0,
  TUTTI_MULTIPLIES = 1,
  TUTTI_MINIMUM = 2,     /* IEEE 754-2019: a NaN wins, -0 < +0 */
  TUTTI_MAXIMUM = 3,     /* the same */
  TUTTI_LOGICAL_AND = 4, /* 1 or 0 */
  TUTTI_LOGICAL_OR = 5,  /* the same */
  TUTTI_BIT_AND = 6,     /* this and the next two: integers only */
  TUTTI_BIT_OR = 7,
  TUTTI_BIT_XOR = 8
} tutti_operation;

/* ---- Teams: threads that are made once, and parallel regions that one of them opens and all run
 *
 *   static int part(tutti_member* me, void* arg) {
 *     struct job* job = arg;
 *     size_t first, last;
 *     tutti_member_block(me, job->count, &first, &last);
 *     double sum = work(job, first, last);
 *     int error = tutti_member_reduce(me, &sum, 1, TUTTI_DOUBLE, TUTTI_PLUS);
 *     if (error) return error;
 *     ...
 *     return 0;
 *   }
 *   tutti_team_run(team, part, &job);
 *
 * What the caller does before it opens a region is visible to all ranks; what they do, to the caller after it. */

typedef struct tutti_team tutti_team;

/* What a rank has inside a region; valid until its function returns. */
typedef struct tutti_member tutti_member;

typedef enum tutti_placement {
  TUTTI_UNPLACED =
      0, /* the caller's thread stays as it is; workers keep off the cores that they come to share */
  TUTTI_COMPACT = 1, /* a physical core each, neighbours first; the caller's thread is bound too */
  TUTTI_SPREAD = 2   /* the same, but in turn over the NUMA nodes */
} tutti_placement;

/* Members that are 0 or NULL ask for the default. Later versions add members at the end: fill the struct with
 * {.size = sizeof(tutti_team_options), ...}, so that the library knows which of them you know. */
typedef struct tutti_team_options {
  size_t size; /* sizeof(tutti_team_options) */
  /* The caller's included; 0: one for each physical core that the process may use. */
  uint32_t threads;
  /* 0: one for each thread; more: virtual ranks, several on a thread (docs/teams.md). */
  uint32_t ranks;
  /* Ends regions, and is tutti_member_barrier; NULL or "default": tutti's choice. */
  const char* barrier;
  const char* wait;   /* how a named barrier waits; NULL: "adaptive" */
  size_t stack_bytes; /* of each virtual rank; 0: 256 KiB */
  int32_t place;      /* tutti_placement */
  uint32_t reserved;  /* 0 */
  /* For how long a wait keeps the processor before it sleeps, as tutti_barrier_set_patience takes it; NULL: TUTTI_PATIENCE,
   * or "balanced". */
  const char* patience;
} tutti_team_options;

/* Makes a team; options may be NULL. On success *out is the team, otherwise it is NULL.
 * Errors: TUTTI_EINVAL (out is NULL; threads > ranks; more than 65535 ranks; no tutti_placement; a stack of less than
 * 16 KiB; a size, patience or reserved that cannot be right), TUTTI_ENAME, TUTTI_ENOTSUP (the wait policy needs a named
 * barrier, has no patience, or this machine lacks it; an option that this version does not know), TUTTI_ENOMEM,
 * TUTTI_ETHREAD. */
TUTTI_API int tutti_team_create(tutti_team** out, const tutti_team_options* options);

/* Ends the threads, after a late region has ended; NULL is ignored. Outside of the team's regions. */
TUTTI_API void tutti_team_destroy(tutti_team* team);

/* Ranks, and threads; 0 if it is NULL. */
TUTTI_API uint32_t tutti_team_size(const tutti_team* team);
TUTTI_API uint32_t tutti_team_threads(const tutti_team* team);

/* As tutti_barrier_set_patience, for all waits of the team; by whoever opens its regions, between two of them. */
TUTTI_API int tutti_team_set_patience(tutti_team* team, const char* patience);

/* What a rank does in a region. 0: done. Anything else: it has failed; the waits of the others then end with
 * TUTTI_ECANCELED, which they are to return in their turn. Use positive numbers, which are no tutti_error. */
typedef int (*tutti_region_function)(tutti_member* me, void* arg);

/* Calls function(me, arg) once as each rank, the caller being rank 0; returns when all calls have returned. Inside a
 * region of the same team, and while another thread has one open, it runs on the calling thread alone, as a region of one
 * rank. TUTTI_EBUSY: a late region of this thread has not ended (tutti_team_run_for). Returns 0, or what the function returned as the lowest
 * rank that failed by itself (tutti_team_failed_rank), or
 * TUTTI_EINVAL (team or function is NULL), TUTTI_EBUSY, TUTTI_ENOMEM, TUTTI_ETHROW. */
TUTTI_API int tutti_team_run(tutti_team* team, tutti_region_function function, void* arg);

/* The same on the first `ranks` ranks; the other threads hear nothing of it.
 * Errors: those of tutti_team_run; TUTTI_EINVAL (ranks is 0 or more than the team has). */
TUTTI_API int tutti_team_run_first(tutti_team* team, uint32_t ranks, tutti_region_function function,
                                   void* arg);

/* The same on all ranks, but waits for the others no longer than timeout_ns nanoseconds after the call. After TUTTI_ETIMEDOUT
 * the region is late: tutti_team_missing tells who has not ended, tutti_team_wait_for waits on, and until that has
 * returned anything else nothing can be run and what arg points to must live. For teams without a named barrier.
 * Errors: those of tutti_team_run, TUTTI_ETIMEDOUT, TUTTI_ENOTSUP (the team has a named barrier). */
TUTTI_API int tutti_team_run_for(tutti_team* team, tutti_region_function function, void* arg,
                                 uint64_t timeout_ns);
TUTTI_API int tutti_team_wait_for(tutti_team* team, uint64_t timeout_ns);

/* Ranks that had not ended at the deadline of the last TUTTI_ETIMEDOUT, as tutti_barrier_missing tells them; none if
 * the last region ended.
 * Errors: TUTTI_EINVAL (team or count is NULL; ranks is NULL while capacity > 0). */
TUTTI_API int tutti_team_missing(const tutti_team* team, uint32_t* ranks, size_t capacity,
                                 size_t* count);

/* The lowest rank that failed by itself in the last region, whose value was returned; TUTTI_NO_RANK if none did. */
#define TUTTI_NO_RANK UINT32_MAX
TUTTI_API uint32_t tutti_team_failed_rank(const tutti_team* team);

/* What travels with the messages that end a region. More values: tutti_member_reduce. */
#define TUTTI_RUN_REDUCE_MAX 7

/* A region and a reduction in one: each rank's function writes `count` doubles to values, where it finds the identity
 * of the operation; `results` gets all ranks' combined, and stays as it is if the region fails.
 * Errors: those of tutti_team_run; TUTTI_EINVAL (results is NULL, count is 0 or more than TUTTI_RUN_REDUCE_MAX, no
 * operation for doubles). */
typedef int (*tutti_reduce_function)(tutti_member* me, void* arg, double* values);
TUTTI_API int tutti_team_run_reduce(tutti_team* team, tutti_reduce_function function, void* arg,
                                    int operation, double* results, size_t count);

typedef enum tutti_loop {
  TUTTI_STATIC_BLOCKS = 0,  /* one block for each rank, sizes differ by at most one */
  TUTTI_STATIC_CHUNKS = 1,  /* chunks dealt in turn */
  TUTTI_DYNAMIC_CHUNKS = 2, /* whoever is free takes the next chunk */
  TUTTI_GUIDED_CHUNKS = 3,  /* the same, chunks shrinking with what is left */
  TUTTI_ADAPTIVE =
      4 /* parts whose size follows from what the loop costs: the best for nearly everybody */
} tutti_loop;

/* Calls function(me, from, to, arg) for parts of first .. last-1 that cover it once. chunk: iterations at a time, for
 * guided chunks and adaptive the least; 0: tutti's choice. last <= first: nothing to do.
 * Static: each rank has its part, as in a region; one that fails takes no more. The others: the caller begins at once, and
 * the rest is done by whoever comes in time; `me` tells the thread, as rank too, and has nobody to meet; once a call has
 * failed, no further part is begun.
 * Errors: as tutti_team_run; TUTTI_EINVAL (no tutti_loop). */
typedef int (*tutti_loop_function)(tutti_member* me, size_t from, size_t to, void* arg);
TUTTI_API int tutti_team_parallel_for(tutti_team* team, size_t first, size_t last, int how,
                                      size_t chunk, tutti_loop_function function, void* arg);

/* ---- Inside a region. me is not checked unless NULL is said to be an error: it is the function's argument. */

/* Whom the calling thread runs as: what the function of the innermost region around the call got as `me`, also on
 * virtual ranks; NULL outside of regions that were opened from C. For code that has no place to hand `me` on. */
TUTTI_API tutti_member* tutti_member_here(void);

TUTTI_API uint32_t tutti_member_rank(const tutti_member* me);
TUTTI_API uint32_t tutti_member_size(const tutti_member* me); /* ranks of the region */
TUTTI_API uint32_t tutti_member_thread(const tutti_member* me);

/* My part of 0 .. count-1: from *first up to, not including, *last. Parts differ by at most one. */
TUTTI_API void tutti_member_block(const tutti_member* me, size_t count, size_t* first,
                                  size_t* last);

/* With all ranks of the region; every rank makes the same calls in the same order with the same count, type and
 * operation, which is not checked.
 * barrier: returns when all have arrived.
 * reduce: values[i] becomes all ranks' values[i] combined, for all ranks; up to 56 bytes of values travel with
 *   the arrivals.
 * inclusive_scan: the same, of ranks 0 .. mine. exclusive_scan: of ranks 0 .. mine-1; rank 0 gets first[i], or the
 *   identity of the operation if first is NULL.
 * Errors: TUTTI_EINVAL (me is NULL; values is NULL while count > 0; no type, or no operation for it), TUTTI_ECANCELED,
 * TUTTI_ENOMEM. */
TUTTI_API int tutti_member_barrier(tutti_member* me);
TUTTI_API int tutti_member_reduce(tutti_member* me, void* values, size_t count, int type,
                                  int operation);
TUTTI_API int tutti_member_inclusive_scan(tutti_member* me, void* values, size_t count, int type,
                                          int operation);
TUTTI_API int tutti_member_exclusive_scan(tutti_member* me, void* values, size_t count, int type,
                                          int operation, const void* first);

/* ---- Barrier and reduction in one, for threads that the program has already */

typedef struct tutti_reduction tutti_reduction;

/* For `participants` ranks, each used by one thread at a time, and arrays of `count` values.
 * On success *out is the reduction, otherwise it is NULL.
 * Errors: TUTTI_EINVAL (out is NULL; participants is 0 or more than tutti_barrier_max; count is 0 or too large for
 * memory to be addressed; no type, or no operation for it), TUTTI_ENOMEM. */
TUTTI_API int tutti_reduction_create(tutti_reduction** out, uint32_t participants, size_t count,
                                     int type, int operation);

/* Destroys it; NULL is ignored. All ranks must have returned from their last call. */
TUTTI_API void tutti_reduction_destroy(tutti_reduction* reduction);

/* results[i] becomes all participants' values[i] combined; values and results may be the same. Returns when all have
 * arrived; what a participant did before is visible to all after.
 * Errors: TUTTI_EINVAL (a pointer is NULL), TUTTI_ERANK, TUTTI_EBROKEN. */
TUTTI_API int tutti_reduction_all(tutti_reduction* reduction, uint32_t rank, const void* values,
                                  void* results);

/* The same, but gives up after timeout_ns nanoseconds; then results stays as it is, and this rank must not use the
 * reduction again: give all ranks a deadline, as one that gives up may not have passed on what it collected.
 * Errors: as above, TUTTI_ETIMEDOUT. */
TUTTI_API int tutti_reduction_all_for(tutti_reduction* reduction, uint32_t rank, const void* values,
                                      void* results, uint64_t timeout_ns);

/* As tutti_barrier_missing. */
TUTTI_API int tutti_reduction_missing(const tutti_reduction* reduction, uint32_t rank,
                                      uint32_t* ranks, size_t capacity, size_t* count);

/* As tutti_barrier_set_patience. */
TUTTI_API int tutti_reduction_set_patience(tutti_reduction* reduction, const char* patience);

/* Participants of the reduction; 0 if it is NULL. */
TUTTI_API uint32_t tutti_reduction_participants(const tutti_reduction* reduction);

#ifdef __cplusplus
}
#endif

#endif
