// SPDX-License-Identifier: Apache-2.0
// Routines that a program takes from a handle of a runtime's library act on the runtime that runs
// the program's regions, as Python's threadpoolctl expects; other look-ups are glibc's.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <string.h>

#include "preload/openmp/tests/check.h"

static int region(void) {
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  threads += 1;
  return threads;
}

int main(void) {
  int runtimes = 0;
  static const char* const files[] = {"libgomp.so.1", "libomp.so.5"};
  for (int i = 0; i < 2; ++i) {
    void* const library = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) continue;
    ++runtimes;
    void (*set)(int) = (void (*)(int))dlsym(library, "omp_set_num_threads");
    int (*get)(void) = (int (*)(void))dlsym(library, "omp_get_max_threads");
    CHECK(set != NULL && get != NULL);
    const int before = get();
    CHECK(before == omp_get_max_threads());
    set(before + 1);
    CHECK(region() == before + 1 && get() == before + 1 && omp_get_max_threads() == before + 1);
    set(before);
    CHECK(region() == before);
    CHECK(dlsym(library, "omp_no_such_routine") == NULL);
    const char* const message = dlerror();
    CHECK(message != NULL && strstr(message, "omp_no_such_routine") != NULL);
    dlclose(library);
  }
  CHECK(runtimes > 0);
  void* const mathematics = dlopen("libm.so.6", RTLD_NOW);
  double (*cosine)(double) = (double (*)(double))dlsym(mathematics, "cos");
  CHECK(cosine != NULL && cosine(0) == 1);
  // These ask which object calls.
  CHECK(dlsym(RTLD_NEXT, "main") == NULL);
  CHECK(dlsym(RTLD_NEXT, "getpid") != NULL && dlsym(RTLD_DEFAULT, "getpid") != NULL);
  CHECK(dlvsym(RTLD_DEFAULT, "dlsym", "GLIBC_2.2.5") != NULL);
  CHECK(dlerror() == NULL);
  return 0;
}
