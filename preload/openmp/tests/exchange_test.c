// SPDX-License-Identifier: Apache-2.0
// Loops with compare-and-swap that update a floating-point variable, in the form that the options
// of the compiler give them, and in libraries that come one where another has been. With
// --reproducible all repeats agree. The arguments are libraries: this file without main().
#include <dlfcn.h>
#include <string.h>

#include "preload/openmp/tests/check.h"

#ifdef IS_INTEGER
typedef long number;
#else
typedef double number;
#endif

// The subtraction then needs a register of a higher number, and with it a longer prefix, and no
// other arithmetic is near.
#if defined(__AVX512VL__)
#define NEEDS "avx512vl"
#define USE_OTHERS                                                                               \
  __asm__ volatile(".skip 64, 0x90" ::                                                           \
                       : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", \
                         "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15")
#elif defined(__AVX__)
#define NEEDS "avx"
#define USE_OTHERS                     \
  __asm__ volatile(".skip 64, 0x90" :: \
                       : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7")
#else
#define USE_OTHERS
#endif

static number sum(void) {
  number x = 1;
#pragma omp parallel num_threads(8)
  {
    const int rank = omp_get_thread_num();
    const number mine = (number)(1.0 / (3 + rank) * (rank % 2 != 0 ? 1000 : 1));
    for (int i = 0; i < 20; ++i) {
      USE_OTHERS;
#pragma omp atomic
      x -= mine;
    }
  }
  return x;
}

int different_sums(void);
int different_sums(void) {
  const number first = sum();
  int different = 0;
  for (int i = 1; i < 200; ++i) {
    const number again = sum();
    different += memcmp(&first, &again, sizeof first) != 0;
  }
  return different;
}

#ifndef IS_LIBRARY
int main(int count, char** arguments) {
#ifdef NEEDS
  if (!__builtin_cpu_supports(NEEDS)) return 0;
#endif
  int different = different_sums();
  for (int i = 1; i < count; ++i) {
    void* const library = dlopen(arguments[i], RTLD_NOW);
    int (*const other)(void) =
        library == NULL ? NULL : (int (*)(void))dlsym(library, "different_sums");
    if (other == NULL) return puts(dlerror()), 97;
    different += other();
    dlclose(library);
  }
  printf("%d of all repeats differ\n", different);
  return different != 0;
}
#endif
