/* SPDX-License-Identifier: Apache-2.0
 * CHECK(condition) says what does not hold and goes on; finish() is the program's exit status. */
#ifndef TUTTI_TESTS_C_CHECK_H
#define TUTTI_TESTS_C_CHECK_H

#include <stdio.h>
#include <stdlib.h>

static int failures = 0;

/* Only the main thread checks. */
static void check(int holds, const char* what, const char* file, int line) {
  if (holds) return;
  fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
  ++failures;
}
#define CHECK(condition) check(!!(condition), #condition, __FILE__, __LINE__)

static int finish(void) {
  if (failures > 0) fprintf(stderr, "%d checks failed\n", failures);
  return failures > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
