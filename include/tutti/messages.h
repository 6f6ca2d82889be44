/* SPDX-License-Identifier: Apache-2.0
 * The C interface of messages, the refutable barrier and active messages (docs/messages.md). Link
 * with -ltutti, as for tutti.h, whose errors and rules also apply here.
 *
 *   tutti_communicator* all;
 *   tutti_communicator_create(&all, 4, NULL);
 *   // on the thread of rank r:
 *   tutti_active* active;
 *   tutti_active_create(&active, tutti_communicator_endpoint(all, r));
 *   tutti_active_add(active, take_task, &state, TUTTI_AT_ONCE, &task);
 *   tutti_active_send(active, 3, task, &t, sizeof t);
 *   tutti_active_idle(active, 1, &end);   // runs functions until all are done
 *
 * One thread (or virtual rank) at a time uses an endpoint; different endpoints may be used at the
 * same time. */
#ifndef TUTTI_MESSAGES_H
#define TUTTI_MESSAGES_H

#include "tutti.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Communicators */

typedef struct tutti_communicator tutti_communicator;
typedef struct tutti_endpoint tutti_endpoint;

/* Set `size` to sizeof(tutti_communicator_options), so that later versions can add members. NULL or
 * 0 in another member lets tutti choose. */
typedef struct tutti_communicator_options {
  size_t size;
  /* The name of a detector of termination: "counter", "snapshot", "star", "tree", "ring" or
   * "waves". */
  const char* detector;
  /* The name of a wait policy. */
  const char* wait;
  /* The bytes of the ring from one participant to another. */
  size_t ring_bytes;
} tutti_communicator_options;

/* Creates a communicator for the ranks 0 .. participants-1; `options` may be NULL. On success *out
 * is the communicator; otherwise it is NULL.
 * Errors: TUTTI_EINVAL (out is NULL; the participants are not 1 .. 4095; the rings are larger than
 * 1 GiB; the size of the options), TUTTI_ENAME (the detector or the wait policy), TUTTI_ENOTSUP,
 * TUTTI_ENOMEM. */
TUTTI_API int tutti_communicator_create(tutti_communicator** out, uint32_t participants,
                                        const tutti_communicator_options* options);

/* Creates a separate communicator for some participants: ranks[i] has rank i in it.
 * Errors: TUTTI_EINVAL (a pointer is NULL; `ranks` is empty or names a rank twice), TUTTI_ERANK,
 * TUTTI_ENOMEM. */
TUTTI_API int tutti_communicator_group(tutti_communicator** out, const tutti_communicator* from,
                                       const uint32_t* ranks, uint32_t count);

/* Destroys the communicator and its endpoints. It ignores NULL. All participants must have returned
 * from their last call. */
TUTTI_API void tutti_communicator_destroy(tutti_communicator* communicator);

/* Returns the number of participants, or 0 if `communicator` is NULL. */
TUTTI_API uint32_t tutti_communicator_size(const tutti_communicator* communicator);

/* Does what tutti_barrier_set_patience does for a barrier. */
TUTTI_API int tutti_communicator_set_patience(tutti_communicator* communicator,
                                              const char* patience);

/* Returns the endpoint of a rank, which lives as long as the communicator, or NULL if there is no
 * such rank. */
TUTTI_API tutti_endpoint* tutti_communicator_endpoint(tutti_communicator* communicator,
                                                      uint32_t rank);

/* ---- Messages
 *
 * Hold no message while you wait for room: a message that is received and not released keeps the
 * room of all that came after it. Two participants that wait for each other's room while each holds
 * a message wait for ever, even if both receive. Release first, then wait; or use active messages,
 * which hold nothing while they wait. */

/* A message that is received and not yet released. The bytes are valid until the release. */
typedef struct tutti_message {
  const void* data;
  uint32_t size;
  /* The rank of the sender. */
  uint32_t source;
  /* Only tutti uses it. */
  uint64_t index;
} tutti_message;

TUTTI_API uint32_t tutti_endpoint_rank(const tutti_endpoint* me);
TUTTI_API uint32_t tutti_endpoint_size(const tutti_endpoint* me);

/* Copies the bytes and sends them. Messages to one participant arrive in their order. They leave
 * when some have come together, at tutti_endpoint_flush, or in an idle function.
 * Errors: TUTTI_EINVAL (me is NULL; data is NULL while bytes > 0; 4 GiB or more), TUTTI_ERANK,
 * TUTTI_EAGAIN (there is no room now: receive, release everything, and try again), TUTTI_ENOMEM
 * (nothing was sent). */
TUTTI_API int tutti_endpoint_try_send(tutti_endpoint* me, uint32_t to, const void* data,
                                      size_t bytes);

/* Waits for room. Passes each message that comes meanwhile to `take` and then releases it; `take`
 * may call tutti_endpoint_try_send, and nothing that waits. _for gives up after timeout_ns.
 * Errors: those of tutti_endpoint_try_send but TUTTI_EAGAIN; TUTTI_EINVAL (take is NULL, or calls
 * this function; the message goes to `me` itself, which holds messages), TUTTI_EDIED (the receiver
 * has left; or an idle_for that was late has ended the episode: call tutti_endpoint_idle),
 * TUTTI_ETIMEDOUT, TUTTI_ETHROW (`take` left by a C++ exception). */
typedef void (*tutti_take_function)(void* arg, const tutti_message* message);
TUTTI_API int tutti_endpoint_send_wait(tutti_endpoint* me, uint32_t to, const void* data,
                                       size_t bytes, tutti_take_function take, void* arg);
TUTTI_API int tutti_endpoint_send_wait_for(tutti_endpoint* me, uint32_t to, const void* data,
                                           size_t bytes, tutti_take_function take, void* arg,
                                           uint64_t timeout_ns);

/* Receives the next message. Release each message, in any order.
 * Errors: TUTTI_EINVAL (a pointer is NULL), TUTTI_EAGAIN (none is here). */
TUTTI_API int tutti_endpoint_try_recv(tutti_endpoint* me, tutti_message* message);

/* Errors: TUTTI_EINVAL (a pointer is NULL; the source is no rank). A message that is released twice
 * is not found. */
TUTTI_API int tutti_endpoint_release(tutti_endpoint* me, const tutti_message* message);

/* Makes all messages sent so far visible to their receivers. */
TUTTI_API int tutti_endpoint_flush(tutti_endpoint* me);

/* ---- The refutable barrier */

typedef enum tutti_idle {
  /* A message can be received here; the vote is withdrawn. */
  TUTTI_IDLE_MESSAGE = 0,
  /* All participants are idle and no message is under way; at least one voted 0. */
  TUTTI_IDLE_ALL = 1,
  /* The same, and none voted 0. */
  TUTTI_IDLE_UNANIMOUS = 3
} tutti_idle;

/* Why a participant keeps the others waiting. */
typedef enum tutti_absence {
  /* It is not idle. */
  TUTTI_RUNNING = 0,
  /* Its own deadline has passed as well, and it has not come again. */
  TUTTI_LATE = 1,
  /* It has received messages and not released them. */
  TUTTI_HOLDING = 2,
  /* It has left. */
  TUTTI_GONE = 3
} tutti_absence;

typedef struct tutti_absentee {
  uint32_t rank;
  /* A tutti_absence. */
  int why;
  /* For TUTTI_HOLDING: the messages that it held at its last idle call. */
  uint64_t messages;
} tutti_absentee;

/* Waits until a message can be received here, or until all participants are idle and no message is
 * under way; *result becomes a tutti_idle.
 * Errors: TUTTI_EINVAL (a pointer is NULL), TUTTI_EDIED (a participant has left), TUTTI_ENOMEM (a
 * large message that waits here to leave, as in tutti_endpoint_try_send). */
TUTTI_API int tutti_endpoint_idle(tutti_endpoint* me, int vote, int* result);

/* Does the same, but gives up after timeout_ns nanoseconds. Then it writes up to `capacity`
 * participants that are missing to `missing`, and their number to *count, unless count is NULL.
 * Errors: those of tutti_endpoint_idle, TUTTI_ETIMEDOUT. */
TUTTI_API int tutti_endpoint_idle_for(tutti_endpoint* me, int vote, uint64_t timeout_ns,
                                      int* result, tutti_absentee* missing, size_t capacity,
                                      size_t* count);

/* Does what tutti_endpoint_idle does. If the episode ends, `values` becomes the combined values of
 * all participants, of up to 256 bytes; else it stays. `type` is a tutti_type and `operation` a
 * tutti_operation. All participants of an episode give the same, which is not checked.
 * Errors: those of tutti_endpoint_idle; TUTTI_EINVAL (values is NULL; count is 0 or too large;
 * `operation` does not apply to `type`; an idle_for that was late may still end the episode). */
TUTTI_API int tutti_endpoint_idle_reduce(tutti_endpoint* me, int vote, void* values, size_t count,
                                         int type, int operation, int* result);

/* Declares that this participant will never be idle again: the others get TUTTI_EDIED. */
TUTTI_API int tutti_endpoint_leave(tutti_endpoint* me);

/* ---- Active messages: each message names a function, which its receiver runs
 *
 * Functions may send, and no program of them can deadlock for want of room
 * (tutti/comm/active_messages.hpp says why). Use an endpoint by its active messages only. All
 * participants add the same functions in the same order before the first message arrives. */

typedef struct tutti_active tutti_active;

/* The bytes are valid until the function returns. */
typedef void (*tutti_active_function)(void* arg, uint32_t source, const void* data, size_t bytes);

typedef enum tutti_when {
  /* As soon as the message is received, inside of any call. The function may only send, and its
   * sends never wait: what finds no room is kept and sent later. */
  TUTTI_AT_ONCE = 0,
  /* On a copy of the message, in tutti_active_poll or tutti_active_idle. Its sends wait. */
  TUTTI_LATER = 1
} tutti_when;

/* Errors: TUTTI_EINVAL (a pointer is NULL), TUTTI_ENOMEM. destroy ignores NULL. */
TUTTI_API int tutti_active_create(tutti_active** out, tutti_endpoint* me);
TUTTI_API void tutti_active_destroy(tutti_active* active);

/* Sets *handler to the number of a handler that calls function(arg, source, data, bytes).
 * Errors: TUTTI_EINVAL (a pointer but `arg` is NULL; `when` is no tutti_when), TUTTI_ENOMEM. */
TUTTI_API int tutti_active_add(tutti_active* active, tutti_active_function function, void* arg,
                               int when, uint32_t* handler);

/* Sends a message for that handler. Waits for room, and runs functions meanwhile.
 * Errors: TUTTI_EINVAL (active is NULL; data is NULL while bytes > 0; a participant lacks a
 * handler), TUTTI_ERANK, TUTTI_EDIED (the receiver has left), TUTTI_ENOMEM, TUTTI_ETHROW (a
 * function left by a C++ exception). */
TUTTI_API int tutti_active_send(tutti_active* active, uint32_t to, uint32_t handler,
                                const void* data, size_t bytes);

/* Runs the functions of all messages that are here. Unless had_work is NULL, it becomes whether
 * there was anything to do.
 * Errors: TUTTI_EINVAL (active is NULL; a function that runs at once calls this; a participant
 * lacks a handler), TUTTI_EDIED, TUTTI_ENOMEM, TUTTI_ETHROW. */
TUTTI_API int tutti_active_poll(tutti_active* active, int* had_work);

/* Runs functions until all participants are idle and no message is under way or waits for its
 * function. *result becomes TUTTI_IDLE_ALL or TUTTI_IDLE_UNANIMOUS.
 * Errors: those of tutti_active_poll; TUTTI_EINVAL (result is NULL). */
TUTTI_API int tutti_active_idle(tutti_active* active, int vote, int* result);

#ifdef __cplusplus
}
#endif

#endif
