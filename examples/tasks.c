/* SPDX-License-Identifier: Apache-2.0
 * Active messages in C: participants hand each other the nodes of a tree, and all learn when none
 * is left, although nobody knows how many there are. */
#include <pthread.h>
#include <stdio.h>

#include "tutti/messages.h"

enum { participants = 4 };

struct walker {
  tutti_communicator* all;
  tutti_active* active;
  uint32_t rank, visit;
  unsigned long nodes;
};

/* Runs for each node that comes, also while this participant waits for room to send. */
static void visit(void* arg, uint32_t source, const void* data, size_t bytes) {
  struct walker* me = arg;
  (void)source;
  (void)bytes;
  const unsigned char depth = *(const unsigned char*)data;
  ++me->nodes;
  if (depth == 0) return;
  const unsigned char below = (unsigned char)(depth - 1);
  for (uint32_t child = 1; child <= 2; ++child)
    tutti_active_send(me->active, (me->rank + child) % participants, me->visit, &below, 1);
}

static void* run(void* arg) {
  struct walker* me = arg;
  tutti_active_create(&me->active, tutti_communicator_endpoint(me->all, me->rank));
  tutti_active_add(me->active, visit, me, TUTTI_AT_ONCE, &me->visit);
  const unsigned char root = 15;
  if (me->rank == 0) tutti_active_send(me->active, 0, me->visit, &root, 1);
  int end = 0;
  tutti_active_idle(me->active, 1, &end);
  tutti_active_destroy(me->active);
  return NULL;
}

int main(void) {
  tutti_communicator* all = NULL;
  if (tutti_communicator_create(&all, participants, NULL) != TUTTI_OK) return 1;
  struct walker them[participants] = {{0}};
  pthread_t threads[participants];
  for (uint32_t r = 0; r < participants; ++r) {
    them[r].all = all;
    them[r].rank = r;
    if (pthread_create(&threads[r], NULL, run, &them[r]) != 0) return 1;
  }
  unsigned long nodes = 0;
  for (uint32_t r = 0; r < participants; ++r) {
    pthread_join(threads[r], NULL);
    nodes += them[r].nodes;
  }
  tutti_communicator_destroy(all);
  printf("%lu nodes\n", nodes);
  return nodes == (1ul << 16) - 1 ? 0 : 1;
}
