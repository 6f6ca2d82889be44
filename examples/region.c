/* SPDX-License-Identifier: Apache-2.0
 * A parallel region in C: the mean and the variance of an array on a team of threads, and a
 * region in which a rank fails. */
#include <stdio.h>
#include <tutti.h>

enum { count = 100000 };

/* Adds up one rank's block. The sums travel with the messages that end the region. */
static int add_up(tutti_member* me, void* arg, double* sums) {
  const double* values = arg;
  size_t first, last;
  tutti_member_block(me, count, &first, &last);
  for (size_t i = first; i < last; ++i) {
    /* A value that is not 0 makes the region fail. */
    if (values[i] < 0) return 1;
    sums[0] += values[i];
    sums[1] += values[i] * values[i];
  }
  return 0;
}

int main(void) {
  static double values[count];
  for (int i = 0; i < count; ++i) values[i] = i % 100;

  tutti_team* team = NULL;
  const tutti_team_options options = {.size = sizeof options, .threads = 4};
  int error = tutti_team_create(&team, &options);
  if (error != TUTTI_OK) {
    fprintf(stderr, "region: cannot create a team: %s\n", tutti_strerror(error));
    return 1;
  }
  double sums[2];
  error = tutti_team_run_reduce(team, add_up, values, TUTTI_PLUS, sums, 2);
  if (error == TUTTI_OK) {
    const double mean = sums[0] / count;
    printf("mean %g, variance %g\n", mean, sums[1] / count - mean * mean);
  }

  values[count / 2] = -1;
  const int found = tutti_team_run_reduce(team, add_up, values, TUTTI_PLUS, sums, 2);
  printf("rank %u found a negative value\n", (unsigned)tutti_team_failed_rank(team));
  tutti_team_destroy(team);
  return error == TUTTI_OK && found == 1 ? 0 : 1;
}
