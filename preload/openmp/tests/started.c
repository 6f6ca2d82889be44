// SPDX-License-Identifier: Apache-2.0
// A program that run_test.py starts in several ways: it opens a region and then does what its
// arguments ask for.
#ifdef _OPENMP
#include <dlfcn.h>
#endif
#ifdef HAS_HOLES
#include <sys/mman.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef IMPORTS_OPENACC
// libgomp has this symbol and tutti has not.
extern int acc_get_num_devices(int kind);
#endif
#ifdef HAS_STUB
int acc_get_num_devices(int kind) { return kind * 0; }
#endif
#ifdef HAS_RUNTIME
// The program defines a runtime that has one thread.
void GOMP_parallel(void (*function)(void*), void* data, unsigned threads, unsigned flags) {
  (void)threads, (void)flags;
  function(data);
}
#endif

#ifdef HAS_ARITHMETIC
static double values[100];
static int product = 1;
#endif
#ifdef HAS_HOLES
// Pages of code that nothing may read: one may be run, and the other one may not.
enum { page = 4096 };
__attribute__((aligned(page), noinline)) static void may_be_run(void) {
  __asm__ volatile(".skip 4096, 0x90");
}
__attribute__((aligned(page), noinline, used)) static void may_not_be_run(void) {
  __asm__ volatile(".skip 4096, 0x90");
}
__attribute__((aligned(page), noinline, used)) static void comes_after(void) {}
#endif

int main(int count, char** arguments) {
  int sum = 0;
#ifdef HAS_ARITHMETIC
  // Such arithmetic belongs to no exchange.
#pragma omp parallel for
  for (int i = 0; i < 100; ++i) {
    values[i] = values[i] * 0.5 + count;
#pragma omp atomic
    product *= 3;
  }
#endif
#ifdef HAS_HOLES
  if (mprotect((void*)may_be_run, page, PROT_EXEC) != 0) return 96;
  if (mprotect((void*)may_not_be_run, page, PROT_NONE) != 0) return 95;
  comes_after();
#endif
#pragma omp parallel for reduction(+ : sum)
  for (int i = 1; i <= 100; ++i) sum += i;
#ifdef IMPORTS_OPENACC
  // The host is a device of kind 2, and there is one.
  if (acc_get_num_devices(2) != 1) return 98;
#endif
  if (sum != 5050) return 99;
  if (count == 3 && strcmp(arguments[1], "exit") == 0) return atoi(arguments[2]);
  if (count == 3 && strcmp(arguments[1], "signal") == 0) return raise(atoi(arguments[2]));
  if (count == 2 && strcmp(arguments[1], "group") == 0) return printf("%d\n", (int)getpgrp()) < 0;
  if (count == 2 && strcmp(arguments[1], "name") == 0) {
    char name[64] = "";
    FILE* const file = fopen("/proc/self/comm", "r");
    return fgets(name, sizeof name, file) == NULL || fputs(name, stdout) < 0 || fclose(file) != 0;
  }
#ifdef _OPENMP
  // Libraries with names that begin like those of a runtime.
  if (count == 3 && strcmp(arguments[1], "open") == 0) {
    void* const library = dlopen(arguments[2], RTLD_NOW);
    int (*const search)(void) = library == NULL ? NULL : (int (*)(void))dlsym(library, "search");
    if (search == NULL) return puts(dlerror()), 97;
    return search();
  }
#endif
  for (int c = getchar(); c != EOF; c = getchar()) putchar(c);
  return 0;
}
