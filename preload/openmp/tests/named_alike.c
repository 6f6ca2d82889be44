// SPDX-License-Identifier: Apache-2.0
// Two libraries: one has functions whose names begin like those of a runtime, and the other one
// calls them in a region.
#ifdef DEFINES_THEM
int kmp_search(int text) { return text; }
int omp_fit(int text) { return text; }
int acc_read(int text) { return text; }
#else
int kmp_search(int text);
int omp_fit(int text);
int acc_read(int text);
int search(void);

int search(void) {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 10; ++i) sum += kmp_search(i) + omp_fit(i) - acc_read(i);
  return sum;
}
#endif
