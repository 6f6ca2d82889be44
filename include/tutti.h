/* SPDX-License-Identifier: Apache-2.0
 * The C interface of tutti. Link with -ltutti (pkg-config tutti).
 *
 * Every handle is opaque. A function that can fail returns TUTTI_OK or a negative tutti_error. No
 * function prints, aborts or reads the environment, with one exception: the library reads the
 * variable TUTTI_PATIENCE once (tutti_barrier_set_patience) and reports a value that it cannot
 * understand on stderr.
 *
 * Thread-safety: any thread may call a function, and calls on different handles are independent.
 * The ranks of a barrier, a reduction or a region call at the same time. Other calls on one handle
 * may overlap only where a comment says so. */
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
  /* An argument can never be right: a null pointer or a count of 0, for instance. */
  TUTTI_EINVAL = -1,
  /* No algorithm or wait policy has this name. tutti_barrier_algorithm and tutti_wait_policy
   * list the names. */
  TUTTI_ENAME = -2,
  /* The rank is not below the number of participants. */
  TUTTI_ERANK = -3,
  /* The deadline passed before all participants had arrived. */
  TUTTI_ETIMEDOUT = -4,
  /* There is not enough memory. */
  TUTTI_ENOMEM = -5,
  /* This machine lacks what the wait policy needs, or the algorithm does not support this call. */
  TUTTI_ENOTSUP = -6,
  /* This rank timed out on this barrier or reduction before, so it must not use it again. */
  TUTTI_EBROKEN = -7,
  /* The system cannot create another thread. */
  TUTTI_ETHREAD = -8,
  /* A late region of this team has not ended. */
  TUTTI_EBUSY = -9,
  /* Another rank of this region has failed. Leave the region. */
  TUTTI_ECANCELED = -10,
  /* A rank's function left by a C++ exception. */
  TUTTI_ETHROW = -11,
  /* There is no room now: the slots of this sender are full, or there are as many actions as there
   * can be. */
  TUTTI_EAGAIN = -12,
  /* Barriers between processes: a barrier of this name exists already. */
  TUTTI_EEXIST = -13,
  /* There is no barrier of this name. */
  TUTTI_ENOENT = -14,
  /* The memory holds something else, or the barrier of another version of tutti. */
  TUTTI_EKIND = -15,
  /* The barrier is for another number of participants. */
  TUTTI_ECOUNT = -16,
  /* All participants of the barrier have died or left. */
  TUTTI_ESTALE = -17,
  /* A participant has died. */
  TUTTI_EDIED = -18,
  /* Another participant has the rank, or had it until it left. */
  TUTTI_ETAKEN = -19,
  /* The system refuses; errno tells why. */
  TUTTI_ESYSTEM = -20,
  /* Graphs: the file cannot be read, or is no graph; tutti_graph_error names the file and the line.
   */
  TUTTI_EFILE = -21
} tutti_error;

/* Returns one sentence about `error`. It never returns NULL, even if `error` is no tutti_error. */
TUTTI_API const char* tutti_strerror(int error);

/* Returns the version of the library at run time. Compare it with TUTTI_VERSION of the header. */
TUTTI_API int tutti_version(void);

/* Returns the libraries that the compiled library was built with, such as "hwloc, Highway", or an
 * empty string: then it reads /sys for the topology and folds without vector instructions. */
TUTTI_API const char* tutti_built_with(void);

/* Stands for no rank, or for any. */
#define TUTTI_NO_RANK UINT32_MAX

/* ---- Barriers */

typedef struct tutti_barrier tutti_barrier;

/* Creates a barrier for the ranks 0 .. participants-1. One thread at a time may use a rank.
 *   algorithm   the name of an algorithm, or of a provider that the program has added by C++
 *               (tutti/barrier/provider.hpp); NULL lets tutti choose
 *   wait        a wait policy's name; NULL means "adaptive"
 * On success *out is the barrier; otherwise it is NULL.
 * Errors: TUTTI_EINVAL (out is NULL; participants is 0 or more than tutti_barrier_max),
 * TUTTI_ENAME, TUTTI_ENOTSUP (also if a provider refuses), TUTTI_ENOMEM. */
TUTTI_API int tutti_barrier_create(tutti_barrier** out, uint32_t participants,
                                   const char* algorithm, const char* wait);

/* Creates a barrier by tutti's choice in memory of the caller, at a multiple of
 * TUTTI_BARRIER_ALIGNMENT. Neither this call nor those on the barrier allocate memory. The barrier
 * has no ranks: calls that take one return TUTTI_ENOTSUP. On success *out is the barrier; otherwise
 * it is NULL. Call tutti_barrier_destroy before the memory serves another purpose.
 *   static _Alignas(TUTTI_BARRIER_ALIGNMENT) unsigned char memory[TUTTI_BARRIER_BYTES];
 *   tutti_barrier_init(&barrier, memory, sizeof memory, 4);
 * Errors: TUTTI_EINVAL (out or memory is NULL; bytes is less than the barrier takes, for which
 * TUTTI_BARRIER_BYTES always suffices; the alignment; the participants as above). */
#define TUTTI_BARRIER_BYTES 1024
#define TUTTI_BARRIER_ALIGNMENT 128
TUTTI_API int tutti_barrier_init(tutti_barrier** out, void* memory, size_t bytes,
                                 uint32_t participants);

/* Destroys the barrier. It ignores NULL. All ranks must have returned from their last call. */
TUTTI_API void tutti_barrier_destroy(tutti_barrier* barrier);

/* Arrives as `rank` and returns when all participants have arrived. All participants see, after
 * they return, what each of them did before it arrived.
 * Errors: TUTTI_EINVAL (barrier is NULL), TUTTI_ERANK, TUTTI_EBROKEN. */
TUTTI_API int tutti_barrier_wait(tutti_barrier* barrier, uint32_t rank);

/* Does the same, but gives up after timeout_ns nanoseconds. With algorithm NULL this rank goes on
 * by tutti_barrier_resume_for; with a named algorithm it must not use the barrier again. With NULL,
 * "ticket", "pool" and "striped" the arrival still counts, so the others can complete the episode.
 * With the other algorithms a rank may give up before it has passed on what it collected, so give
 * every rank a deadline.
 * Errors: TUTTI_EINVAL (barrier is NULL), TUTTI_ERANK, TUTTI_ETIMEDOUT, TUTTI_EBROKEN. */
TUTTI_API int tutti_barrier_wait_for(tutti_barrier* barrier, uint32_t rank, uint64_t timeout_ns);

/* Waits again for the episode in which this rank has timed out. After TUTTI_OK the rank may use the
 * barrier as before. It returns TUTTI_OK at once if the rank has not timed out. Only algorithm NULL
 * supports it.
 * Errors: TUTTI_EINVAL (barrier is NULL), TUTTI_ERANK, TUTTI_ETIMEDOUT, TUTTI_EBROKEN (the rank has
 * dropped out), TUTTI_ENOTSUP. */
TUTTI_API int tutti_barrier_resume_for(tutti_barrier* barrier, uint32_t rank, uint64_t timeout_ns);

/* Arrives without a rank, as pthread_barrier_wait does. Any thread may call it, a different one
 * each time; every `participants` arrivals complete an episode. Only algorithm NULL, "ticket",
 * "pool" and "striped" support it; the others must know who arrives. At most `participants` threads
 * may arrive in an episode, except with NULL, "pool" and "striped", where threads that come too
 * early wait for the next episode, unless participants drop out (tutti_barrier_arrive_and_drop).
 * With NULL some threads may arrive this way and others by tutti_barrier_wait.
 * Errors: TUTTI_EINVAL (barrier is NULL), TUTTI_ENOTSUP (the algorithm needs ranks). */
TUTTI_API int tutti_barrier_arrive_and_wait(tutti_barrier* barrier);

/* Does the same, but gives up after timeout_ns nanoseconds. The arrival still counts, so the others
 * can complete the episode, and the thread that gave up must not arrive in it again. Unless
 * `missing` is NULL, *missing becomes the number of arrivals that the episode lacked at the
 * deadline; it is 0 if the episode ended at that moment, and after TUTTI_OK.
 * Errors: those of tutti_barrier_arrive_and_wait, TUTTI_ETIMEDOUT. */
TUTTI_API int tutti_barrier_arrive_and_wait_for(tutti_barrier* barrier, uint64_t timeout_ns,
                                                uint32_t* missing);

/* Does what tutti_barrier_arrive_and_wait does, and sets *is_serial to 1 for one participant of the
 * episode and to 0 for the others, as PTHREAD_BARRIER_SERIAL_THREAD does. If several participants
 * arrive by other calls, one of those that arrive by this one gets 1. Only algorithm NULL supports
 * it.
 * Errors: TUTTI_EINVAL (a pointer is NULL), TUTTI_ENOTSUP. */
TUTTI_API int tutti_barrier_arrive_and_wait_serial(tutti_barrier* barrier, int* is_serial);

/* Arrive and wait apart: tutti_barrier_arrive counts an arrival without waiting and stores the
 * number of the phase (episode) in *phase; tutti_barrier_wait_phase waits until that phase has
 * ended. tutti_barrier_wait_phase_for gives up after timeout_ns nanoseconds: call it again, because
 * the arrival counts. Unless `missing` is NULL, *missing is as for
 * tutti_barrier_arrive_and_wait_for. A thread that has not waited for a phase must not arrive in
 * the next but one. Only algorithm NULL supports them.
 * Errors: TUTTI_EINVAL (barrier or phase is NULL), TUTTI_ENOTSUP, TUTTI_ETIMEDOUT. */
TUTTI_API int tutti_barrier_arrive(tutti_barrier* barrier, uint64_t* phase);
TUTTI_API int tutti_barrier_wait_phase(tutti_barrier* barrier, uint64_t phase);
TUTTI_API int tutti_barrier_wait_phase_for(tutti_barrier* barrier, uint64_t phase,
                                           uint64_t timeout_ns, uint32_t* missing);

/* Arrive for the last time, without waiting: later episodes expect one participant less. From the
 * episode of the first such call on, no thread may come too early: an episode must not be able to
 * end without a thread that has begun to arrive. Otherwise a later episode may never end.
 * tutti_barrier_drop does so as `rank`, which is never missing again and whose later calls return
 * TUTTI_EBROKEN. Only algorithm NULL supports them.
 * Errors: TUTTI_EINVAL (barrier is NULL), TUTTI_ENOTSUP; of tutti_barrier_drop also TUTTI_ERANK,
 * TUTTI_EBROKEN and TUTTI_ENOMEM. */
TUTTI_API int tutti_barrier_arrive_and_drop(tutti_barrier* barrier);
TUTTI_API int tutti_barrier_drop(tutti_barrier* barrier, uint32_t rank);

/* Tells which ranks have arrived less often than `rank`: after TUTTI_ETIMEDOUT these are the
 * missing ones. It writes up to `capacity` of them to `ranks`, in ascending order, and sets *count
 * to their number. Any thread may call it at any time; the answer is a snapshot.
 * Errors: TUTTI_EINVAL (barrier or count is NULL; ranks is NULL while capacity > 0),
 * TUTTI_ERANK. */
TUTTI_API int tutti_barrier_missing(const tutti_barrier* barrier, uint32_t rank, uint32_t* ranks,
                                    size_t capacity, size_t* count);

/* Returns the number of participants, or 0 if `barrier` is NULL. */
TUTTI_API uint32_t tutti_barrier_participants(const tutti_barrier* barrier);

/* Returns the largest number of participants that tutti_barrier_create accepts. */
TUTTI_API uint32_t tutti_barrier_max(void);

/* Sets how long a wait keeps the processor before it sleeps (its patience), for every wait that
 * begins after the call. Any thread may call it at any time.
 *   "active"     the wait never sleeps: it polls, and yields between polls on a core that other
 *                threads need
 *   "balanced"   the wait learns how long waits take
 *   "passive"    the wait sleeps after the first few polls
 *   "200us"      the wait polls or yields for this time, then sleeps; units: ns, us, ms, s
 *   NULL         the value of the environment variable TUTTI_PATIENCE, or "balanced": the setting
 *                of a new barrier
 * Errors: TUTTI_EINVAL (barrier is NULL; the text is none of the above), TUTTI_ENOTSUP (the
 * barrier's wait policy is not "adaptive", so it has no patience). */
TUTTI_API int tutti_barrier_set_patience(tutti_barrier* barrier, const char* patience);

/* Return the name of the algorithm or wait policy number `index`, or NULL past the end:
 *   for (i = 0; (name = f(i)); i++). */
TUTTI_API const char* tutti_barrier_algorithm(size_t index);
TUTTI_API const char* tutti_wait_policy(size_t index);

/* ---- Barriers between processes. docs/processes.md explains them.
 *
 *   tutti_shared_barrier* sync;
 *   tutti_shared_barrier_open(&sync, "stencil", 4, TUTTI_CREATE_OR_ATTACH);
 *   tutti_shared_barrier_join(sync, rank);
 *   for (...) {
 *     work();
 *     if (tutti_shared_barrier_arrive_and_wait(sync) == TUTTI_EDIED) {
 *       tutti_shared_barrier_died(sync, &rank, &process);
 *       ...
 *     }
 *   }
 *   tutti_shared_barrier_close(sync);
 *
 * One thread at a time may use a handle, which has one participant at most: the thread that joined
 * by it. If a participant ends without leaving, every wait ends with TUTTI_EDIED. */

typedef struct tutti_shared_barrier tutti_shared_barrier;

typedef enum tutti_opening {
  /* The name must not be in use (TUTTI_EEXIST). */
  TUTTI_CREATE = 0,
  /* The barrier must exist (TUTTI_ENOENT) and not be stale (TUTTI_ESTALE). */
  TUTTI_ATTACH = 1,
  /* Whichever is possible; a stale barrier, of any number of participants, is replaced. */
  TUTTI_CREATE_OR_ATTACH = 2
} tutti_opening;

/* Creates or attaches to the barrier of this name, in POSIX shared memory that only processes of
 * this user can open. On success *out is the handle; otherwise it is NULL.
 * Errors: TUTTI_EINVAL (out or name is NULL; the name has not 1 to 200 characters without '/';
 * participants is not 1 .. 1024; `how` is no tutti_opening), TUTTI_EEXIST, TUTTI_ENOENT,
 * TUTTI_EKIND, TUTTI_ECOUNT, TUTTI_ESTALE, TUTTI_EDIED, TUTTI_ESYSTEM (errno tells),
 * TUTTI_ENOMEM. */
TUTTI_API int tutti_shared_barrier_open(tutti_shared_barrier** out, const char* name,
                                        uint32_t participants, int how);

/* Removes the name. Processes that use the barrier go on.
 * Errors: TUTTI_EINVAL (the name), TUTTI_ENOENT, TUTTI_ESYSTEM. */
TUTTI_API int tutti_shared_barrier_unlink(const char* name);

/* The same in memory that processes share by the program's own means, at a multiple of 128 bytes:
 * one process builds the barrier, and each of them makes a handle by _at. _bytes returns how much
 * memory it takes, or 0 for a number of participants that is out of range.
 * Errors: TUTTI_EINVAL (a pointer is NULL; the place, the size or the participants), TUTTI_EKIND,
 * TUTTI_ECOUNT, TUTTI_ENOMEM. */
TUTTI_API size_t tutti_shared_barrier_bytes(uint32_t participants);
TUTTI_API int tutti_shared_barrier_build(void* memory, size_t bytes, uint32_t participants);
TUTTI_API int tutti_shared_barrier_at(tutti_shared_barrier** out, void* memory, size_t bytes,
                                      uint32_t participants);

/* Leaves, if this thread has joined, and frees the handle. It ignores NULL. */
TUTTI_API void tutti_shared_barrier_close(tutti_shared_barrier* barrier);

/* Makes the calling thread the participant `rank`, or that of the lowest free rank if `rank` is
 * TUTTI_NO_RANK. tutti_shared_barrier_rank returns the rank, or TUTTI_NO_RANK.
 * Errors: TUTTI_EINVAL (barrier is NULL, or has joined), TUTTI_ERANK, TUTTI_ETAKEN, TUTTI_EDIED,
 * TUTTI_ESTALE. */
TUTTI_API int tutti_shared_barrier_join(tutti_shared_barrier* barrier, uint32_t rank);
TUTTI_API uint32_t tutti_shared_barrier_rank(const tutti_shared_barrier* barrier);
TUTTI_API uint32_t tutti_shared_barrier_participants(const tutti_shared_barrier* barrier);

/* Ends the part of this participant: neither this phase nor later ones expect it.
 * Errors: TUTTI_EINVAL (barrier is NULL, or has not joined). */
TUTTI_API int tutti_shared_barrier_leave(tutti_shared_barrier* barrier);

/* Arrive, wait, and both. *phase is the number of the phase, modulo 2^31: wait for the one that the
 * last call of tutti_shared_barrier_arrive gave. After TUTTI_ETIMEDOUT the arrival counts: wait
 * again. UINT64_MAX nanoseconds are no deadline.
 * Errors: TUTTI_EINVAL (a pointer is NULL; the handle has not joined, or has arrived in this phase
 * already), TUTTI_EDIED, TUTTI_ETIMEDOUT. */
TUTTI_API int tutti_shared_barrier_arrive(tutti_shared_barrier* barrier, uint64_t* phase);
TUTTI_API int tutti_shared_barrier_wait_for(tutti_shared_barrier* barrier, uint64_t phase,
                                            uint64_t timeout_ns);
TUTTI_API int tutti_shared_barrier_arrive_and_wait(tutti_shared_barrier* barrier);
TUTTI_API int tutti_shared_barrier_arrive_and_wait_for(tutti_shared_barrier* barrier,
                                                       uint64_t timeout_ns);

/* Tells who has died, after TUTTI_EDIED of a wait of this handle.
 * Errors: TUTTI_EINVAL (a pointer is NULL; no wait has told of a death). */
TUTTI_API int tutti_shared_barrier_died(const tutti_shared_barrier* barrier, uint32_t* rank,
                                        int32_t* process);

/* Tells which ranks have not arrived in `phase`, in the form of tutti_barrier_missing.
 * Errors: TUTTI_EINVAL (barrier or count is NULL; ranks is NULL while capacity > 0),
 * TUTTI_ENOMEM. */
TUTTI_API int tutti_shared_barrier_missing(const tutti_shared_barrier* barrier, uint64_t phase,
                                           uint32_t* ranks, size_t capacity, size_t* count);

/* Does for all participants what tutti_barrier_set_patience does for a barrier.
 * Errors: TUTTI_EINVAL (barrier is NULL; the text is none of those). */
TUTTI_API int tutti_shared_barrier_set_patience(tutti_shared_barrier* barrier,
                                                const char* patience);

/* ---- Types and operations of reductions. Functions take them as int and report a value that is
 * out of range. */

typedef enum tutti_type {
  TUTTI_DOUBLE = 0,
  TUTTI_FLOAT = 1,
  /* int32_t and int64_t: sums and products wrap around. */
  TUTTI_INT32 = 2,
  TUTTI_INT64 = 3
} tutti_type;

/* Every algorithm combines values in the order of a tournament of the ranks, ((0 + 1) + (2 + 3))
 * + ..., so the same values of the same number of ranks give the same bits. Every NaN in a
 * result is the default quiet NaN. */
typedef enum tutti_operation {
  TUTTI_PLUS = 0,
  TUTTI_MULTIPLIES = 1,
  /* Minimum and maximum follow IEEE 754-2019: a NaN wins, and -0 < +0. */
  TUTTI_MINIMUM = 2,
  TUTTI_MAXIMUM = 3,
  /* The logical operations return 1 or 0. */
  TUTTI_LOGICAL_AND = 4,
  TUTTI_LOGICAL_OR = 5,
  /* The bitwise operations take integers only. */
  TUTTI_BIT_AND = 6,
  TUTTI_BIT_OR = 7,
  TUTTI_BIT_XOR = 8
} tutti_operation;

/* ---- Teams: threads that are created once and run parallel regions, which one of them opens
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
 * All ranks see what the caller did before it opened a region, and the caller sees, after the
 * region, what the ranks did. */

typedef struct tutti_team tutti_team;

/* Identifies the calling rank inside a region. It is valid until the rank's function returns. */
typedef struct tutti_member tutti_member;

typedef enum tutti_placement {
  /* The caller's thread stays as it is, and the workers move away from cores that they come to
   * share. */
  TUTTI_UNPLACED = 0,
  /* Each thread gets a physical core, neighbouring cores first. The caller's thread is bound
   * too. */
  TUTTI_COMPACT = 1,
  /* The same, but the threads take turns over the NUMA nodes. */
  TUTTI_SPREAD = 2
} tutti_placement;

/* A member that is 0 or NULL asks for the default. Later versions add members at the end, so
 * initialise the struct with {.size = sizeof(tutti_team_options), ...}: `size` tells the library
 * which members the program knows. */
typedef struct tutti_team_options {
  /* sizeof(tutti_team_options). */
  size_t size;
  /* The number of threads, including the caller's. 0: one for each physical core that the
   * process may use, but no more than its CPU quota and no more than `ranks`. */
  uint32_t threads;
  /* The number of ranks. 0: one for each thread. More than threads: several virtual ranks share
   * a thread (docs/teams.md). */
  uint32_t ranks;
  /* The barrier that ends regions and that tutti_member_barrier uses. A provider's is only for
   * the latter. NULL or "default": tutti chooses. */
  const char* barrier;
  /* The wait policy of a named barrier. NULL: "adaptive". */
  const char* wait;
  /* The stack size of each virtual rank, in bytes. 0: 256 KiB. */
  size_t stack_bytes;
  /* A tutti_placement. */
  int32_t place;
  /* Must be 0. */
  uint32_t reserved;
  /* How long a wait keeps the processor before it sleeps, in the form that
   * tutti_barrier_set_patience takes. NULL: the value of TUTTI_PATIENCE, or "balanced". */
  const char* patience;
} tutti_team_options;

/* Creates a team. `options` may be NULL. On success *out is the team; otherwise it is NULL.
 * Errors: TUTTI_EINVAL (out is NULL; threads > ranks; more than 65535 ranks; `place` is no
 * tutti_placement; a stack of less than 16 KiB; a size, patience or reserved that cannot be
 * right), TUTTI_ENAME, TUTTI_ENOTSUP (a wait policy without a named barrier; a patience for a
 * wait policy that has none; a wait policy that this machine does not support; an option that
 * this version does not know), TUTTI_ENOMEM, TUTTI_ETHREAD. */
TUTTI_API int tutti_team_create(tutti_team** out, const tutti_team_options* options);

/* Waits for a late region to end, then ends the threads. It ignores NULL. Do not call it inside
 * a region of the team. */
TUTTI_API void tutti_team_destroy(tutti_team* team);

/* Return the number of ranks and of threads, or 0 if `team` is NULL. */
TUTTI_API uint32_t tutti_team_size(const tutti_team* team);
TUTTI_API uint32_t tutti_team_threads(const tutti_team* team);

/* Sets the patience of all waits of the team, in the form that tutti_barrier_set_patience takes
 * and with its errors. Only the thread that opens the team's regions may call it, between two
 * regions. */
TUTTI_API int tutti_team_set_patience(tutti_team* team, const char* patience);

/* Runs as one rank of a region. It returns 0 on success. If it returns anything else, the rank
 * has failed: the other ranks' waits then return TUTTI_ECANCELED, which they must return in
 * turn. Use positive numbers for your own failures, because every tutti_error is negative. */
typedef int (*tutti_region_function)(tutti_member* me, void* arg);

/* Calls function(me, arg) once as each rank, with the caller as rank 0, and returns when all calls
 * have returned. Inside a region of the same team, and while another thread has a region of the
 * team open, it calls the function on the calling thread alone, as a region of one rank.
 * Returns 0, or the value of the lowest rank that failed by itself (tutti_team_failed_rank), or an
 * error.
 * Errors: TUTTI_EINVAL (team or function is NULL), TUTTI_EBUSY (a late region of this thread has
 * not ended, tutti_team_run_for; or a rank has forked inside a region, and this is its child),
 * TUTTI_ENOMEM, TUTTI_ETHREAD (in a child of fork() the system cannot create the workers again),
 * TUTTI_ETHROW. */
TUTTI_API int tutti_team_run(tutti_team* team, tutti_region_function function, void* arg);

/* Does the same on the first `ranks` ranks. The other threads take no part and receive no message.
 * Errors: those of tutti_team_run; TUTTI_EINVAL (ranks is 0 or more than the team has). */
TUTTI_API int tutti_team_run_first(tutti_team* team, uint32_t ranks, tutti_region_function function,
                                   void* arg);

/* tutti_team_run_for runs a region on all ranks, but stops waiting for the other ranks timeout_ns
 * nanoseconds after the call. After TUTTI_ETIMEDOUT the region is late: tutti_team_missing tells
 * which ranks have not ended, and tutti_team_wait_for, on the same thread, waits for them again.
 * Until that returns anything but TUTTI_ETIMEDOUT, this thread can run nothing else on the team,
 * regions of other threads run alone, and what `arg` points to must stay valid. Both need a team
 * without a named barrier.
 * Errors: those of tutti_team_run, TUTTI_ETIMEDOUT, TUTTI_ENOTSUP (the team has a named
 * barrier). */
TUTTI_API int tutti_team_run_for(tutti_team* team, tutti_region_function function, void* arg,
                                 uint64_t timeout_ns);
TUTTI_API int tutti_team_wait_for(tutti_team* team, uint64_t timeout_ns);

/* Tells which ranks had not ended at the deadline of the last TUTTI_ETIMEDOUT, in the form of
 * tutti_barrier_missing. It finds none if the last region ended.
 * Errors: TUTTI_EINVAL (team or count is NULL; ranks is NULL while capacity > 0). */
TUTTI_API int tutti_team_missing(const tutti_team* team, uint32_t* ranks, size_t capacity,
                                 size_t* count);

/* Returns the lowest rank that failed by itself in the last region, whose value the region
 * returned, or TUTTI_NO_RANK if no rank failed. */
TUTTI_API uint32_t tutti_team_failed_rank(const tutti_team* team);

/* The number of values that the messages that end a region can carry. tutti_member_reduce takes
 * more. */
#define TUTTI_RUN_REDUCE_MAX 7

/* Runs a region and a reduction in one. `values` points to `count` doubles that hold the identity
 * of the operation; each rank's function writes its own values there. `results` receives the
 * combined values of all ranks, and stays unchanged if the region fails.
 * Errors: those of tutti_team_run; TUTTI_EINVAL (results is NULL; count is 0 or more than
 * TUTTI_RUN_REDUCE_MAX; `operation` does not apply to doubles). */
typedef int (*tutti_reduce_function)(tutti_member* me, void* arg, double* values);
TUTTI_API int tutti_team_run_reduce(tutti_team* team, tutti_reduce_function function, void* arg,
                                    int operation, double* results, size_t count);

typedef enum tutti_loop {
  /* Each rank runs one block. The sizes differ by at most one. */
  TUTTI_STATIC_BLOCKS = 0,
  /* The ranks take chunks in turn. */
  TUTTI_STATIC_CHUNKS = 1,
  /* A thread that is free takes the next chunk. */
  TUTTI_DYNAMIC_CHUNKS = 2,
  /* The same, but the chunks shrink with what is left. */
  TUTTI_GUIDED_CHUNKS = 3,
  /* The size of the parts follows from what the loop costs. Prefer this one. */
  TUTTI_ADAPTIVE = 4
} tutti_loop;

/* Calls function(me, from, to, arg) for parts that cover first .. last-1 exactly once. `chunk` is
 * the number of iterations in a chunk, or the smallest one for guided chunks and adaptive loops; 0
 * lets tutti choose. If last <= first, it calls nothing. Static loops: each rank runs its own part,
 * as in a region; a rank that fails takes no further chunk. Other loops: the caller begins at once,
 * and threads that come in time do the rest. There `me` names the thread, as its rank too, and
 * cannot synchronise with other ranks. Once a call has failed, no further part begins.
 * Errors: those of tutti_team_run; TUTTI_EINVAL (`how` is no tutti_loop). */
typedef int (*tutti_loop_function)(tutti_member* me, size_t from, size_t to, void* arg);
TUTTI_API int tutti_team_parallel_for(tutti_team* team, size_t first, size_t last, int how,
                                      size_t chunk, tutti_loop_function function, void* arg);

/* ---- Inside a region. `me` is the function's own argument; only the functions that name NULL
 * as an error check it. */

/* Returns the `me` of the innermost region function that the calling thread or virtual rank
 * runs, for code that cannot pass `me` on. It returns NULL outside of regions that were opened
 * from C. */
TUTTI_API tutti_member* tutti_member_here(void);

/* Return the calling rank, the number of ranks in the region, and the thread that runs this
 * rank. */
TUTTI_API uint32_t tutti_member_rank(const tutti_member* me);
TUTTI_API uint32_t tutti_member_size(const tutti_member* me);
TUTTI_API uint32_t tutti_member_thread(const tutti_member* me);

/* Computes the calling rank's block of 0 .. count-1: from *first up to, not including, *last.
 * The sizes of the blocks differ by at most one. */
TUTTI_API void tutti_member_block(const tutti_member* me, size_t count, size_t* first,
                                  size_t* last);

/* All ranks of the region must make the same calls of these in the same order, with the same count,
 * type and operation. That is not checked.
 *   barrier          returns when all ranks have arrived
 *   reduce           sets values[i], on all ranks, to the combined values[i] of all ranks; up to 56
 *                    bytes of values travel with the arrivals
 *   inclusive_scan   combines the values of ranks 0 .. mine instead
 *   exclusive_scan   combines those of ranks 0 .. mine-1; rank 0 gets first[i], or the identity of
 *                    the operation if `first` is NULL
 * Errors: TUTTI_EINVAL (me is NULL; values is NULL while count > 0; `type` is no tutti_type, or
 * `operation` does not apply to it), TUTTI_ECANCELED, TUTTI_ENOMEM. */
TUTTI_API int tutti_member_barrier(tutti_member* me);
TUTTI_API int tutti_member_reduce(tutti_member* me, void* values, size_t count, int type,
                                  int operation);
TUTTI_API int tutti_member_inclusive_scan(tutti_member* me, void* values, size_t count, int type,
                                          int operation);
TUTTI_API int tutti_member_exclusive_scan(tutti_member* me, void* values, size_t count, int type,
                                          int operation, const void* first);

/* ---- Reductions: barrier and reduction in one, for threads that the program already has */

typedef struct tutti_reduction tutti_reduction;

/* Creates a reduction of arrays of `count` values for the ranks 0 .. participants-1. One thread at
 * a time may use a rank. On success *out is the reduction; otherwise it is NULL.
 * Errors: TUTTI_EINVAL (out is NULL; participants is 0 or more than tutti_barrier_max; count is
 * 0, or so large that memory cannot be addressed; `type` is no tutti_type, or `operation` does
 * not apply to it), TUTTI_ENOMEM. */
TUTTI_API int tutti_reduction_create(tutti_reduction** out, uint32_t participants, size_t count,
                                     int type, int operation);

/* Destroys the reduction. It ignores NULL. All ranks must have returned from their last call. */
TUTTI_API void tutti_reduction_destroy(tutti_reduction* reduction);

/* Arrives as `rank`, sets results[i] to the combined values[i] of all participants, and returns
 * when all have arrived. `values` and `results` may be the same array. All participants see, after
 * they return, what each of them did before it arrived.
 * Errors: TUTTI_EINVAL (a pointer is NULL), TUTTI_ERANK, TUTTI_EBROKEN. */
TUTTI_API int tutti_reduction_all(tutti_reduction* reduction, uint32_t rank, const void* values,
                                  void* results);

/* Does the same, but gives up after timeout_ns nanoseconds. `results` stays unchanged then, and
 * this rank must not use the reduction again. Give every rank a deadline, because a rank that gives
 * up may not have passed on what it collected.
 * Errors: those of tutti_reduction_all, TUTTI_ETIMEDOUT. */
TUTTI_API int tutti_reduction_all_for(tutti_reduction* reduction, uint32_t rank, const void* values,
                                      void* results, uint64_t timeout_ns);

/* Does for a reduction what tutti_barrier_missing does for a barrier. */
TUTTI_API int tutti_reduction_missing(const tutti_reduction* reduction, uint32_t rank,
                                      uint32_t* ranks, size_t capacity, size_t* count);

/* Does for a reduction what tutti_barrier_set_patience does for a barrier. */
TUTTI_API int tutti_reduction_set_patience(tutti_reduction* reduction, const char* patience);

/* Returns the number of participants, or 0 if `reduction` is NULL. */
TUTTI_API uint32_t tutti_reduction_participants(const tutti_reduction* reduction);

/* ---- Events: a thread waits until another one tells it that something has happened
 *
 * No notification is lost. `wait` is a wait policy's name; NULL means "adaptive". The functions
 * that end in _for give up after timeout_ns nanoseconds and return TUTTI_ETIMEDOUT then. Any thread
 * may call any function at any time, unless a comment says otherwise. No thread may be inside of a
 * call when an object is destroyed; the functions that destroy ignore NULL.
 * Errors of every function that creates: TUTTI_EINVAL (out is NULL), TUTTI_ENAME, TUTTI_ENOTSUP
 * (this machine lacks what the wait policy needs), TUTTI_ENOMEM. Errors of every other function:
 * TUTTI_EINVAL (a pointer is NULL). set_patience is as tutti_barrier_set_patience. */

/* An event has signals, which are counted, and broadcasts, which are numbered. */
typedef struct tutti_event tutti_event;

TUTTI_API int tutti_event_create(tutti_event** out, const char* wait);
TUTTI_API void tutti_event_destroy(tutti_event* event);
TUTTI_API int tutti_event_set_patience(tutti_event* event, const char* patience);

/* Adds `count` signals, each of which ends one tutti_event_wait, now or later. */
TUTTI_API int tutti_event_signal(tutti_event* event, uint32_t count);

/* Waits for a signal and takes it. After TUTTI_ETIMEDOUT it has taken nothing; a timeout of 0 takes
 * a signal that is there. */
TUTTI_API int tutti_event_wait(tutti_event* event);
TUTTI_API int tutti_event_wait_for(tutti_event* event, uint64_t timeout_ns);

/* Ends the waits of all receivers, now or later. */
TUTTI_API int tutti_event_broadcast(tutti_event* event);

/* Sets *place to the number of broadcasts until now, modulo 2^32. One thread at a time may use a
 * place. */
TUTTI_API int tutti_event_now(const tutti_event* event, uint32_t* place);

/* Waits until there was a broadcast that the place has not seen, and moves it to the last one.
 * Unless `count` is NULL, *count becomes the number of broadcasts in between, which is 0 after
 * TUTTI_ETIMEDOUT. */
TUTTI_API int tutti_event_wait_past(tutti_event* event, uint32_t* place, uint32_t* count);
TUTTI_API int tutti_event_wait_past_for(tutti_event* event, uint32_t* place, uint32_t* count,
                                        uint64_t timeout_ns);

/* An eventcount serves a condition on the program's own data:
 *   for (;;) {
 *     uint32_t key;
 *     tutti_eventcount_prepare_wait(e, &key);
 *     if (condition()) { tutti_eventcount_cancel_wait(e, key); break; }
 *     tutti_eventcount_commit_wait(e, key);
 *   }
 * A notifier changes the data and then notifies. Each prepare_wait must be followed by one
 * cancel_wait or commit_wait; commit_wait_for counts as one also after TUTTI_ETIMEDOUT. */
typedef struct tutti_eventcount tutti_eventcount;

TUTTI_API int tutti_eventcount_create(tutti_eventcount** out, const char* wait);
TUTTI_API void tutti_eventcount_destroy(tutti_eventcount* eventcount);
TUTTI_API int tutti_eventcount_set_patience(tutti_eventcount* eventcount, const char* patience);
TUTTI_API int tutti_eventcount_prepare_wait(tutti_eventcount* eventcount, uint32_t* key);
TUTTI_API int tutti_eventcount_cancel_wait(tutti_eventcount* eventcount, uint32_t key);
TUTTI_API int tutti_eventcount_commit_wait(tutti_eventcount* eventcount, uint32_t key);
TUTTI_API int tutti_eventcount_commit_wait_for(tutti_eventcount* eventcount, uint32_t key,
                                               uint64_t timeout_ns);
TUTTI_API int tutti_eventcount_notify_one(tutti_eventcount* eventcount);
TUTTI_API int tutti_eventcount_notify_all(tutti_eventcount* eventcount);

/* A condition variable has pthread's semantics for any lock. It may be destroyed as soon as all
 * waiters have been notified. */
typedef struct tutti_condition tutti_condition;

/* The calls that take and release the caller's lock, which it holds when it begins to wait. */
typedef struct tutti_lock {
  void (*lock)(void* object);
  void (*unlock)(void* object);
  void* object;
} tutti_lock;

TUTTI_API int tutti_condition_create(tutti_condition** out, const char* wait);
TUTTI_API void tutti_condition_destroy(tutti_condition* condition);
TUTTI_API int tutti_condition_set_patience(tutti_condition* condition, const char* patience);

/* Releases the lock, waits for a notification, and takes the lock again, also after
 * TUTTI_ETIMEDOUT. It may return for no reason. */
TUTTI_API int tutti_condition_wait(tutti_condition* condition, const tutti_lock* lock);
TUTTI_API int tutti_condition_wait_for(tutti_condition* condition, const tutti_lock* lock,
                                       uint64_t timeout_ns);
TUTTI_API int tutti_condition_notify_one(tutti_condition* condition);
TUTTI_API int tutti_condition_notify_all(tutti_condition* condition);

/* Workers run actions that senders post. One thread at a time may post as a sender, and one may
 * poll or wait as a worker. */
typedef struct tutti_workers tutti_workers;
typedef void (*tutti_action)(void* arg, uint32_t sender, uintptr_t payload);

/* `capacity` is the number of posts of one sender to one worker that wait at the same time; it is a
 * power of two.
 * Errors: those above; TUTTI_EINVAL (workers, senders or capacity cannot be right). */
TUTTI_API int tutti_workers_create(tutti_workers** out, uint32_t workers, uint32_t senders,
                                   uint32_t capacity, const char* wait);
TUTTI_API void tutti_workers_destroy(tutti_workers* workers);
TUTTI_API int tutti_workers_set_patience(tutti_workers* workers, const char* patience);

/* Sets *action to the name of an action that calls function(arg, sender, payload). The function
 * must not wait: it may call try_post and raise, but not post. A C++ exception that leaves it ends
 * the program.
 * Errors: TUTTI_EINVAL (a pointer but `arg` is NULL), TUTTI_EAGAIN. */
TUTTI_API int tutti_workers_add(tutti_workers* workers, tutti_action function, void* arg,
                                uint32_t* action);

/* Removes an action, and returns when no worker runs it; posts of it that wait are dropped. A
 * function of an action that calls this gives its worker, other callers TUTTI_NO_RANK. Two actions
 * that run at the same time must not remove each other: each would wait for the other's end.
 * Errors: TUTTI_EINVAL (workers is NULL; there is no such action). */
TUTTI_API int tutti_workers_remove(tutti_workers* workers, uint32_t action, uint32_t by_worker);

/* post runs the action once for each call, in the order of the sender; it waits for a free slot,
 * and try_post returns TUTTI_EAGAIN instead. raise runs the action at least once after the call,
 * with this payload or a later one of this sender: raises that the worker has not seen are one.
 * Errors: TUTTI_EINVAL (workers is NULL), TUTTI_ERANK (no such sender or worker). */
TUTTI_API int tutti_workers_post(tutti_workers* workers, uint32_t sender, uint32_t worker,
                                 uint32_t action, uintptr_t payload);
TUTTI_API int tutti_workers_try_post(tutti_workers* workers, uint32_t sender, uint32_t worker,
                                     uint32_t action, uintptr_t payload);
TUTTI_API int tutti_workers_raise(tutti_workers* workers, uint32_t sender, uint32_t worker,
                                  uint32_t action, uintptr_t payload);

/* Run what has been posted to a worker: poll what there is, wait at least one post. Unless `count`
 * is NULL, *count becomes the number of posts.
 * Errors: TUTTI_EINVAL (workers is NULL), TUTTI_ERANK, TUTTI_ETIMEDOUT. */
TUTTI_API int tutti_workers_poll(tutti_workers* workers, uint32_t worker, uint32_t* count);
TUTTI_API int tutti_workers_wait(tutti_workers* workers, uint32_t worker, uint32_t* count);
TUTTI_API int tutti_workers_wait_for(tutti_workers* workers, uint32_t worker, uint32_t* count,
                                     uint64_t timeout_ns);

#ifdef __cplusplus
}
#endif

#endif
