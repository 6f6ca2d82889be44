// SPDX-License-Identifier: Apache-2.0
// An ordinary program with pthread barriers: phases, destruction by the serial thread, barriers
// that are destroyed twice or never, barriers between processes, refused counts, errno, and too
// little memory.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      _exit(1);                                                       \
    }                                                                 \
  } while (0)

enum { most = 17, phases = 300, lives = 200 };

static int threads;
static pthread_barrier_t barrier;
static int turn[most];
static atomic_int serials[phases + 1];
static pthread_barrier_t* mapped[lives];

static void* run_phases(void* raw) {
  const int me = (int)(long)raw;
  for (int phase = 1; phase <= phases; ++phase) {
    turn[me] = phase;
    const int first = pthread_barrier_wait(&barrier);
    CHECK(first == 0 || first == PTHREAD_BARRIER_SERIAL_THREAD);
    if (first != 0) atomic_fetch_add(&serials[phase], 1);
    for (int i = 0; i < threads; ++i) CHECK(turn[i] == phase);
    pthread_barrier_wait(&barrier);
    CHECK(serials[phase] == 1);
  }
  return NULL;
}

// The serial thread destroys the barrier and unmaps its page, while others may still be leaving.
static void* run_lives(void* raw) {
  (void)raw;
  for (int i = 0; i < lives; ++i)
    if (pthread_barrier_wait(mapped[i]) == PTHREAD_BARRIER_SERIAL_THREAD) {
      CHECK(pthread_barrier_destroy(mapped[i]) == 0);
      CHECK(munmap(mapped[i], 4096) == 0);
    }
  return NULL;
}

static void on_threads(void* (*work)(void*)) {
  pthread_t made[most];
  for (long i = 0; i < threads; ++i) CHECK(pthread_create(&made[i], NULL, work, (void*)i) == 0);
  for (int i = 0; i < threads; ++i) CHECK(pthread_join(made[i], NULL) == 0);
}

static void* map(int flags) {
  void* const page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);
  CHECK(page != MAP_FAILED);
  return page;
}

static void check_processes(void) {
  pthread_barrier_t* const shared = map(MAP_SHARED);
  pthread_barrierattr_t attributes;
  CHECK(pthread_barrierattr_init(&attributes) == 0);
  CHECK(pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0);
  CHECK(pthread_barrier_init(shared, &attributes, 2) == 0);
  const pid_t child = fork();
  for (int i = 0; i < 100; ++i) pthread_barrier_wait(shared);
  if (child == 0) _exit(0);
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(pthread_barrier_destroy(shared) == 0);
}

// Each process leaves a barrier of its own, whose object only it has, in memory that the next one
// has too.
static void check_what_a_sibling_leaves(void) {
  pthread_barrier_t* const left = map(MAP_SHARED);
  for (int i = 0; i < 2; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      enum { many = 5000 };
      static pthread_barrier_t others[many];
      if (i == 0)
        for (int k = 0; k < many; ++k) CHECK(pthread_barrier_init(&others[k], NULL, 1) == 0);
      CHECK(pthread_barrier_init(left, NULL, 1) == 0);
      CHECK(pthread_barrier_wait(left) == PTHREAD_BARRIER_SERIAL_THREAD);
      _exit(0);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
  }
  CHECK(munmap(left, 4096) == 0);
}

static void check_too_little_memory(void) {
  enum { many = 100000 };
  const size_t bytes = many * sizeof(pthread_barrier_t);
  pthread_barrier_t* const all =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);
  CHECK(all != MAP_FAILED);
  long pages = 0;
  FILE* const file = fopen("/proc/self/statm", "r");
  CHECK(file != NULL && fscanf(file, "%ld", &pages) == 1 && fclose(file) == 0);
  struct rlimit usual;
  CHECK(getrlimit(RLIMIT_AS, &usual) == 0);
  struct rlimit small = usual;
  small.rlim_cur = (rlim_t)(pages * sysconf(_SC_PAGESIZE)) + (1 << 20);
  CHECK(setrlimit(RLIMIT_AS, &small) == 0);
  int made = 0, error = 0;
  errno = ENOTTY;
  while (made < many && (error = pthread_barrier_init(&all[made], NULL, 1)) == 0) ++made;
  CHECK(made > 0 && made < many && error == ENOMEM && errno == ENOTTY);
  for (int i = 0; i < made; ++i) CHECK(pthread_barrier_destroy(&all[i]) == 0);
  CHECK(setrlimit(RLIMIT_AS, &usual) == 0);
  CHECK(pthread_barrier_init(&barrier, NULL, 1) == 0);
  CHECK(pthread_barrier_destroy(&barrier) == 0);
  CHECK(munmap(all, bytes) == 0);
}

static long pages_of_memory(void) {
  long all = 0, used = 0;
  FILE* const file = fopen("/proc/self/statm", "r");
  CHECK(file != NULL && fscanf(file, "%ld %ld", &all, &used) == 2 && fclose(file) == 0);
  return used;
}

// A program that initialises a barrier on the stack and never destroys it needs no more memory.
static void check_barriers_that_are_left(void) {
  const long before = pages_of_memory();
  for (int i = 0; i < 100000; ++i) {
    pthread_barrier_t left;
    CHECK(pthread_barrier_init(&left, NULL, 1) == 0);
    CHECK(pthread_barrier_wait(&left) == PTHREAD_BARRIER_SERIAL_THREAD);
  }
  CHECK(pages_of_memory() < before + 1000);
  // Barriers that have been moved stay apart from those that are made where they were.
  enum { copies = 3 };
  pthread_barrier_t moved[copies];
  for (int used = 0; used < 2; ++used) {
    for (int i = 0; i < copies; ++i) {
      pthread_barrier_t here;
      CHECK(pthread_barrier_init(&here, NULL, 1) == 0);
      if (used) CHECK(pthread_barrier_wait(&here) == PTHREAD_BARRIER_SERIAL_THREAD);
      memcpy(&moved[i], &here, sizeof here);
      if (used) CHECK(pthread_barrier_wait(&moved[i]) == PTHREAD_BARRIER_SERIAL_THREAD);
    }
    CHECK(memcmp(&moved[0], &moved[1], sizeof moved[0]) != 0);
    CHECK(memcmp(&moved[1], &moved[2], sizeof moved[0]) != 0);
    for (int i = 0; i < copies; ++i) CHECK(pthread_barrier_destroy(&moved[i]) == 0);
  }
  // A barrier and its copy are destroyed, and the object does not become two barriers.
  pthread_barrier_t first, second;
  CHECK(pthread_barrier_init(&first, NULL, 1) == 0);
  memcpy(&second, &first, sizeof first);
  CHECK(pthread_barrier_destroy(&first) == 0);
  CHECK(pthread_barrier_destroy(&second) == 0);
  CHECK(pthread_barrier_init(&first, NULL, 1) == 0);
  CHECK(pthread_barrier_init(&second, NULL, 1) == 0);
  CHECK(memcmp(&first, &second, sizeof first) != 0);
  CHECK(pthread_barrier_destroy(&first) == 0);
  CHECK(pthread_barrier_destroy(&second) == 0);
  // A copy in other memory is not the barrier, so its object is not used again.
  pthread_barrier_t kept, other;
  CHECK(pthread_barrier_init(&kept, NULL, 2) == 0);
  memcpy(&other, &kept, sizeof other);
  CHECK(pthread_barrier_init(&other, NULL, 1) == 0);
  CHECK(memcmp(&other, &kept, sizeof other) != 0);
  CHECK(pthread_barrier_wait(&other) == PTHREAD_BARRIER_SERIAL_THREAD);
  CHECK(pthread_barrier_destroy(&other) == 0);
  CHECK(pthread_barrier_destroy(&kept) == 0);
  // What another process has left in shared memory is no barrier of this one.
  memset((char*)&other + 16, 0x5a, sizeof other - 16);
  CHECK(pthread_barrier_init(&kept, NULL, 1) == 0);
  memcpy(&other, &kept, 8);
  memset((char*)&other + 8, 0x5a, 8);
  CHECK(pthread_barrier_init(&other, NULL, 1) == 0);
  CHECK(pthread_barrier_destroy(&other) == 0);
  CHECK(pthread_barrier_destroy(&kept) == 0);
}

static void check_destroyed_barriers(void) {
  CHECK(pthread_barrier_init(&barrier, NULL, 1) == 0);
  CHECK(pthread_barrier_destroy(&barrier) == 0);
  CHECK(pthread_barrier_destroy(&barrier) == 0);
  CHECK(pthread_barrier_wait(&barrier) == EINVAL);
}

static void do_nothing(int number) { (void)number; }

static void* come_late(void* raw) {
  for (int i = 0; i < 5; ++i) {
    usleep(20000);
    CHECK(pthread_kill(*(pthread_t*)raw, SIGUSR1) == 0);
    usleep(5000);
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

// Signals interrupt the system calls of a waiting thread.
static void check_errno(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = do_nothing;
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
  pthread_t me = pthread_self(), other;
  CHECK(pthread_create(&other, NULL, come_late, &me) == 0);
  errno = ENOTTY;
  for (int i = 0; i < 5; ++i) {
    pthread_barrier_wait(&barrier);
    CHECK(errno == ENOTTY);
  }
  CHECK(pthread_join(other, NULL) == 0);
  CHECK(pthread_barrier_destroy(&barrier) == 0);
}

int main(void) {
  alarm(100);
  // Before there are threads, whose heaps could give more.
  check_too_little_memory();
  check_barriers_that_are_left();
  check_destroyed_barriers();
  check_errno();
  static const int sizes[] = {1, 2, 3, 8, most};
  for (int s = 0; s < 5; ++s) {
    threads = sizes[s];
    CHECK(pthread_barrier_init(&barrier, NULL, (unsigned)threads) == 0);
    for (int phase = 0; phase <= phases; ++phase) serials[phase] = 0;
    on_threads(run_phases);
    CHECK(pthread_barrier_destroy(&barrier) == 0);
    for (int i = 0; i < lives; ++i) {
      mapped[i] = map(MAP_PRIVATE);
      CHECK(pthread_barrier_init(mapped[i], NULL, (unsigned)threads) == 0);
    }
    on_threads(run_lives);
  }
  check_processes();
  check_what_a_sibling_leaves();
  CHECK(pthread_barrier_init(&barrier, NULL, 0) == EINVAL);
  return 0;
}
