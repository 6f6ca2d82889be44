/* SPDX-License-Identifier: Apache-2.0
 * A user's program in C: one participant passes a barrier. */
#include <stdio.h>
#include <tutti.h>

int main(void) {
  tutti_barrier* barrier = NULL;
  if (tutti_barrier_create(&barrier, 1, NULL, NULL) != 0) return 1;
  if (tutti_barrier_wait(barrier, 0) < 0) return 1;
  tutti_barrier_destroy(barrier);
  printf("C: met; built with \"%s\"\n", tutti_built_with());
  return 0;
}
