// SPDX-License-Identifier: Apache-2.0
// Threads that hand data over at a barrier, for ThreadSanitizer: it may report no race. With the
// argument "race" all of them count in one variable before they come to a barrier, and it must
// report that. With "start" and a command the program then starts that, and ends as it does. It
// leaves barriers behind, which are no leaks.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { threads = 4, phases = 50 };

static pthread_barrier_t barrier;
static int has_race;
static int begun;
static int values[threads];

static void* hand_over(void* raw) {
  int* const mine = raw;
  if (has_race) ++begun;
  for (int phase = 0; phase < phases; ++phase) {
    *mine = phase;
    pthread_barrier_wait(&barrier);
    int sum = 0;
    for (int i = 0; i < threads; ++i) sum += values[i];
    if (sum != threads * phase) fprintf(stderr, "phase %d: %d\n", phase, sum);
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

int main(int count, char** words) {
  has_race = count > 1 && strcmp(words[1], "race") == 0;
  pthread_t made[threads];
  if (pthread_barrier_init(&barrier, NULL, threads) != 0) return 2;
  for (int i = 0; i < threads; ++i)
    if (pthread_create(&made[i], NULL, hand_over, &values[i]) != 0) return 2;
  for (int i = 0; i < threads; ++i) pthread_join(made[i], NULL);
  for (int i = 0; i < threads; ++i) {
    pthread_barrier_t* const left = malloc(sizeof *left);
    if (left == NULL || pthread_barrier_init(left, NULL, 1) != 0) return 2;
    free(left);
  }
  if (count > 2 && system(words[2]) != 0) return 3;
  return pthread_barrier_destroy(&barrier);
}
