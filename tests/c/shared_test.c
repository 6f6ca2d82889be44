/* SPDX-License-Identifier: Apache-2.0
 * Barriers between processes, from plain C: every function and every error. */
#define _DEFAULT_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/c/check.h"
#include "tutti.h"

static char name[64];

/* A child that joins as rank 1, meets `phases` times, and then leaves or is killed. */
static pid_t start_child(int phases, int is_killed) {
  const pid_t child = fork();
  if (child != 0) return child;
  tutti_shared_barrier* sync = NULL;
  int error = tutti_shared_barrier_open(&sync, name, 2, TUTTI_CREATE_OR_ATTACH);
  if (error == TUTTI_OK) error = tutti_shared_barrier_join(sync, 1);
  for (int i = 0; i < phases && error == TUTTI_OK; ++i)
    error = tutti_shared_barrier_arrive_and_wait(sync);
  if (is_killed) raise(SIGKILL);
  tutti_shared_barrier_close(sync);
  _exit(error == TUTTI_OK ? 0 : 1);
}

static void test_by_name(void) {
  tutti_shared_barrier* sync = NULL;
  CHECK(tutti_shared_barrier_open(&sync, name, 2, TUTTI_ATTACH) == TUTTI_ENOENT);
  CHECK(sync == NULL);
  CHECK(tutti_shared_barrier_open(&sync, name, 2, TUTTI_CREATE) == TUTTI_OK);
  tutti_shared_barrier* other = NULL;
  CHECK(tutti_shared_barrier_open(&other, name, 2, TUTTI_CREATE) == TUTTI_EEXIST);
  CHECK(tutti_shared_barrier_open(&other, name, 3, TUTTI_ATTACH) == TUTTI_ECOUNT);
  CHECK(tutti_shared_barrier_open(&other, "a/b", 2, TUTTI_ATTACH) == TUTTI_EINVAL);
  CHECK(tutti_shared_barrier_open(&other, name, 0, TUTTI_ATTACH) == TUTTI_EINVAL);
  CHECK(tutti_shared_barrier_open(&other, name, 2, 9) == TUTTI_EINVAL);
  CHECK(tutti_shared_barrier_open(&other, NULL, 2, TUTTI_CREATE) == TUTTI_EINVAL);
  CHECK(tutti_shared_barrier_open(NULL, name, 2, TUTTI_CREATE) == TUTTI_EINVAL);

  uint64_t phase = 0;
  CHECK(tutti_shared_barrier_arrive(sync, &phase) == TUTTI_EINVAL);
  CHECK(tutti_shared_barrier_rank(sync) == TUTTI_NO_RANK);
  CHECK(tutti_shared_barrier_join(sync, 2) == TUTTI_ERANK);
  CHECK(tutti_shared_barrier_join(sync, 0) == TUTTI_OK);
  CHECK(tutti_shared_barrier_join(sync, 1) == TUTTI_EINVAL);
  CHECK(tutti_shared_barrier_rank(sync) == 0);
  CHECK(tutti_shared_barrier_participants(sync) == 2);
  CHECK(tutti_shared_barrier_open(&other, name, 2, TUTTI_ATTACH) == TUTTI_OK);
  CHECK(tutti_shared_barrier_join(other, 0) == TUTTI_ETAKEN);
  tutti_shared_barrier_close(other);

  CHECK(tutti_shared_barrier_set_patience(sync, "passive") == TUTTI_OK);
  CHECK(tutti_shared_barrier_set_patience(sync, "1 s") == TUTTI_EINVAL);
  CHECK(tutti_shared_barrier_arrive(sync, &phase) == TUTTI_OK);
  CHECK(tutti_shared_barrier_arrive(sync, &phase) == TUTTI_EINVAL);
  CHECK(tutti_shared_barrier_wait_for(sync, phase, 1000000) == TUTTI_ETIMEDOUT);
  uint32_t missing[2] = {9, 9};
  size_t count = 0;
  CHECK(tutti_shared_barrier_missing(sync, phase, missing, 2, &count) == TUTTI_OK);
  CHECK(count == 1 && missing[0] == 1);
  CHECK(tutti_shared_barrier_missing(sync, phase, missing, 2, NULL) == TUTTI_EINVAL);

  uint32_t rank = 9;
  int32_t process = 9;
  CHECK(tutti_shared_barrier_died(sync, &rank, &process) == TUTTI_EINVAL);
  const pid_t child = start_child(3, 1);
  CHECK(tutti_shared_barrier_wait_for(sync, phase, UINT64_MAX) == TUTTI_OK);
  CHECK(tutti_shared_barrier_arrive_and_wait(sync) == TUTTI_OK);
  CHECK(tutti_shared_barrier_arrive_and_wait_for(sync, UINT64_C(30000000000)) == TUTTI_OK);
  CHECK(tutti_shared_barrier_arrive_and_wait(sync) == TUTTI_EDIED);
  CHECK(tutti_shared_barrier_died(sync, &rank, &process) == TUTTI_OK);
  CHECK(rank == 1 && process == child);
  CHECK(waitpid(child, NULL, 0) == child);
  CHECK(tutti_shared_barrier_open(&other, name, 2, TUTTI_ATTACH) == TUTTI_EDIED);
  tutti_shared_barrier_close(sync);
  CHECK(tutti_shared_barrier_open(&other, name, 2, TUTTI_ATTACH) == TUTTI_ESTALE);
  CHECK(tutti_shared_barrier_open(&other, name, 2, TUTTI_CREATE_OR_ATTACH) == TUTTI_OK);
  CHECK(tutti_shared_barrier_join(other, TUTTI_NO_RANK) == TUTTI_OK);
  CHECK(tutti_shared_barrier_leave(other) == TUTTI_OK);
  CHECK(tutti_shared_barrier_leave(other) == TUTTI_EINVAL);
  tutti_shared_barrier_close(other);
  CHECK(tutti_shared_barrier_unlink(name) == TUTTI_OK);
  CHECK(tutti_shared_barrier_unlink(name) == TUTTI_ENOENT);
  CHECK(tutti_shared_barrier_unlink("") == TUTTI_EINVAL);
}

static void test_by_address(void) {
  const size_t bytes = tutti_shared_barrier_bytes(2);
  CHECK(bytes > 0);
  CHECK(tutti_shared_barrier_bytes(0) == 0);
  CHECK(tutti_shared_barrier_bytes(1025) == 0);
  void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  tutti_shared_barrier* sync = NULL;
  CHECK(tutti_shared_barrier_at(&sync, memory, bytes, 2) == TUTTI_EKIND);
  CHECK(tutti_shared_barrier_build(memory, bytes - 1, 2) == TUTTI_EINVAL);
  CHECK(tutti_shared_barrier_build(NULL, bytes, 2) == TUTTI_EINVAL);
  CHECK(tutti_shared_barrier_build(memory, bytes, 2) == TUTTI_OK);
  CHECK(tutti_shared_barrier_at(&sync, memory, bytes, 2) == TUTTI_OK);
  const pid_t child = fork();
  int error = tutti_shared_barrier_join(sync, child == 0 ? 1 : 0);
  for (int i = 0; i < 100 && error == TUTTI_OK; ++i)
    error = tutti_shared_barrier_arrive_and_wait_for(sync, UINT64_C(30000000000));
  tutti_shared_barrier_close(sync);
  if (child == 0) _exit(error == TUTTI_OK ? 0 : 1);
  CHECK(error == TUTTI_OK);
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  munmap(memory, bytes);
}

static void test_null(void) {
  uint64_t phase = 0;
  size_t count = 0;
  CHECK(tutti_shared_barrier_join(NULL, 0) == TUTTI_EINVAL);
  CHECK(tutti_shared_barrier_leave(NULL) == TUTTI_EINVAL);
  CHECK(tutti_shared_barrier_arrive(NULL, &phase) == TUTTI_EINVAL);
  CHECK(tutti_shared_barrier_wait_for(NULL, 0, 0) == TUTTI_EINVAL);
  CHECK(tutti_shared_barrier_arrive_and_wait(NULL) == TUTTI_EINVAL);
  CHECK(tutti_shared_barrier_arrive_and_wait_for(NULL, 0) == TUTTI_EINVAL);
  CHECK(tutti_shared_barrier_missing(NULL, 0, NULL, 0, &count) == TUTTI_EINVAL);
  CHECK(tutti_shared_barrier_set_patience(NULL, NULL) == TUTTI_EINVAL);
  CHECK(tutti_shared_barrier_rank(NULL) == TUTTI_NO_RANK);
  CHECK(tutti_shared_barrier_participants(NULL) == 0);
  tutti_shared_barrier_close(NULL);
}

int main(void) {
  snprintf(name, sizeof name, "tutti_c_test_%d", (int)getpid());
  test_by_name();
  test_by_address();
  test_null();
  return finish();
}
