/* SPDX-License-Identifier: Apache-2.0
 * Teams of the tests, and the region that does nothing. */
#ifndef TUTTI_TESTS_C_TEAMS_H
#define TUTTI_TESTS_C_TEAMS_H

#include <stddef.h>
#include <stdint.h>

#include "tests/c/check.h"
#include "tutti.h"

static inline tutti_team* make_team(uint32_t threads, uint32_t ranks, const char* barrier) {
  const tutti_team_options options = {.size = sizeof(tutti_team_options),
                                      .threads = threads,
                                      .ranks = ranks,
                                      .barrier = barrier,
                                      .place = TUTTI_UNPLACED};
  tutti_team* team = NULL;
  CHECK(tutti_team_create(&team, &options) == TUTTI_OK);
  CHECK(tutti_team_size(team) == ranks);
  CHECK(tutti_team_threads(team) == threads);
  return team;
}

static inline int do_nothing(tutti_member* me, void* arg) { return (void)me, (void)arg, TUTTI_OK; }

#endif
