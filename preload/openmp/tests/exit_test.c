// SPDX-License-Identifier: Apache-2.0
// Regions while the program ends: after the system has refused threads or memory, which ends it
// with status 1 and a message, and after the runtime's own static objects have been destroyed.
// Before that, a worker ends.
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "preload/openmp/tests/check.h"

static struct rlimit usual;

static int count(int threads) {
  int counted = 0;
#pragma omp parallel num_threads(threads) reduction(+ : counted)
  ++counted;
  return counted;
}

static void last_exit(void) {
  // More threads than there are.
  CHECK(count(90) == 90);
  _exit(0);
}

static void first_exit(void) {
  CHECK(count(2) == 2);
  CHECK(setrlimit(RLIMIT_AS, &usual) == 0);
  CHECK(count(70) == 70);
}

// Functions that are registered earlier are called later. This one is registered before any library
// is initialized.
static void begin(void) { atexit(last_exit); }
__attribute__((section(".preinit_array"), used)) static void (*const early)(void) = begin;

static rlim_t used_bytes(void) {
  FILE* const f = fopen("/proc/self/statm", "r");
  CHECK(f != NULL);
  unsigned long pages = 0;
  CHECK(fscanf(f, "%lu", &pages) == 1);
  fclose(f);
  return pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static pthread_key_t at_end;
static int ended;

static void note_end(void* unused) {
  (void)unused;
  CHECK(!omp_in_parallel() && omp_get_level() == 0 && omp_get_num_threads() == 1);
#pragma omp atomic write
  ended = 1;
}

// A program without tasks: the destructor of a worker is no part of its last region. (In
// threads_test.c programs have tasks.)
static void check_end_of_worker(void) {
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) CHECK(pthread_setspecific(at_end, &at_end) == 0);
  CHECK(omp_pause_resource_all(omp_pause_hard) == 0);
  for (int is_over = 0; !is_over;) {
    usleep(100);
#pragma omp atomic read
    is_over = ended;
  }
}

static void use_all_memory(void) {
  struct rlimit none = usual;
  none.rlim_cur = used_bytes();
  CHECK(setrlimit(RLIMIT_AS, &none) == 0);
  for (size_t bytes = 1 << 20; bytes >= 16; bytes /= 2)
    for (void* volatile block = &none; block != NULL;) block = malloc(bytes);
}

// A region for which there is no memory ends the program, but by no signal.
static void check_without_memory(void) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    use_all_memory();
    count(60);
    CHECK(!"the system refuses memory");
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
}

int main(void) {
  CHECK(pthread_key_create(&at_end, note_end) == 0);
  check_end_of_worker();
  atexit(first_exit);
  CHECK(count(2) == 2);
  CHECK(getrlimit(RLIMIT_AS, &usual) == 0);
  check_without_memory();
  // The stacks of so many threads need more.
  struct rlimit little = usual;
  little.rlim_cur = used_bytes() + (20u << 20);
  CHECK(setrlimit(RLIMIT_AS, &little) == 0);
  count(60);
  CHECK(!"the system refuses threads");
}
