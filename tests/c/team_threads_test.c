/* SPDX-License-Identifier: Apache-2.0
 * Teams whose threads the system cannot create: when they are made, and in a child of fork(). */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/c/teams.h"

/* With little address space the system cannot create another thread; the threads that it has
 * created must end. */
static void test_no_more_threads(void) {
#ifdef TUTTI_TEST_SANITIZED
  return; /* Their shadow memory needs the address space. */
#endif
  const pid_t child = fork();
  if (child == 0) {
    const struct rlimit limit = {UINT64_C(256) << 20, UINT64_C(256) << 20};
    tutti_team* team = NULL;
    const tutti_team_options options = {.size = sizeof options, .threads = 2000};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(1);
    const int error = tutti_team_create(&team, &options);
    _exit(error == TUTTI_ETHREAD && team == NULL ? 0 : 2);
  }
  int status = -1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A child of fork() that cannot create the workers again is told so, and may try once more. */
static void test_no_more_threads_in_a_child(void) {
#ifndef TUTTI_TEST_SANITIZED
  tutti_team* team = make_team(2, 2, NULL);
  CHECK(tutti_team_run(team, do_nothing, NULL) == TUTTI_OK);
  const pid_t child = fork();
  if (child == 0) {
    /* The limit does not count for root. */
    struct rlimit most, none;
    if (geteuid() == 0 && setuid(65534) != 0) _exit(1);
    if (getrlimit(RLIMIT_NPROC, &most) != 0) _exit(2);
    none = most;
    none.rlim_cur = 0;
    if (setrlimit(RLIMIT_NPROC, &none) != 0) _exit(3);
    if (tutti_team_run(team, do_nothing, NULL) != TUTTI_ETHREAD) _exit(4);
    if (setrlimit(RLIMIT_NPROC, &most) != 0) _exit(5);
    _exit(tutti_team_run(team, do_nothing, NULL) == TUTTI_OK ? 0 : 6);
  }
  int status = -1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  tutti_team_destroy(team);
#endif
}

int main(void) {
  test_no_more_threads(); /* First: a fork copies the calling thread only. */
  test_no_more_threads_in_a_child();
  return finish();
}
