// SPDX-License-Identifier: Apache-2.0
// Checks of the test programs, which are ordinary OpenMP programs: they know nothing of tutti.
#pragma once

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void fail(const char* what, const char* file, int line) {
  fprintf(stderr, "%s:%d: %s\n", file, line, what);
  _exit(1);
}
#define CHECK(condition)                                    \
  do {                                                      \
    if (!(condition)) fail(#condition, __FILE__, __LINE__); \
  } while (0)
