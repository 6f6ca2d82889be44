// SPDX-License-Identifier: Apache-2.0
// A program with a race: all ranks of a region write a variable. ThreadSanitizer must tell,
// although the runtime orders what comes before and after the region.
#include "preload/openmp/tests/check.h"

int main(void) {
  int raced = 0;
#pragma omp parallel
  for (int i = 0; i < 100; ++i) ++raced;
  CHECK(raced > 0);
  return 0;
}
