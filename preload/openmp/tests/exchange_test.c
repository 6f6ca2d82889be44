// SPDX-License-Identifier: Apache-2.0
// Loops with compare-and-swap that update a floating-point variable, in the form that the options
// of the compiler give them, and in libraries that come one where another has been. With
// --reproducible all repeats agree. The arguments are libraries: this file without main().
#include <dlfcn.h>
#include <string.h>

#include "preload/openmp/tests/check.h"

#ifdef IS_INTEGER
typedef long number;
#elif defined(IS_PAIR)
typedef struct {
  _Alignas(8) float a;
  float b;
} number;
typedef unsigned long word;
#elif defined(IS_WIDE) || defined(IS_WIDE_IN_PLACE)
typedef struct {
  _Alignas(16) double a;
  double b;
} number;
__extension__ typedef unsigned __int128 word;
#elif defined(IS_LONG) || defined(IS_TURNED)
typedef struct {
  double a;
} number;
typedef unsigned long word;
#else
typedef double number;
#define IS_ATOMIC
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
#elif defined(IS_PAIR) || defined(IS_TURNED)
#define USE_OTHERS __asm__ volatile(".skip 64, 0x90")
#else
#define USE_OTHERS
#endif

#if defined(IS_INTEGER) || defined(IS_ATOMIC)
#define START 1
#define MAKE(value) (number)(value)
#else
// The program's own loop: two values of 4 bytes; two of 8 bytes, which takes a call of libatomic
// or, with a longer instruction, none; and one value whose arithmetic is far before the exchange,
// or comes after it.
#define START \
  { 0 }
#if defined(IS_LONG) || defined(IS_TURNED)
#define MAKE(value) \
  { value }
#else
#define MAKE(value) \
  { value, 3 * (value) }
#endif
#ifdef IS_TURNED
static inline void subtract(number* x, number mine) {
  word old = 0, next = 0;
  double value = 0;
  __asm__ volatile(
      "jmp 2f\n"
      "1: movq %2, %1\n"
      "lock cmpxchg %1, %3\n"
      "je 3f\n"
      "2: movq %0, %2\n"
      "subsd %4, %2\n"
      "jmp 1b\n"
      "3:"
      : "+a"(old), "+&r"(next), "+&x"(value), "+m"(*x)
      : "x"(mine.a)
      : "cc");
}
#else
static inline void subtract(number* x, number mine) {
  word old = 0, next = 0;
  for (int is_done = 0; !is_done;) {
    number value;
    memcpy(&value, &old, sizeof value);
    value.a -= mine.a;
#ifdef IS_LONG
    __asm__ volatile(".skip 100, 0x90" : "+x"(value.a));
#else
    value.b -= mine.b;
#endif
    memcpy(&next, &value, sizeof next);
#ifdef IS_WIDE_IN_PLACE
    const word seen = __sync_val_compare_and_swap((word*)(void*)x, old, next);
    is_done = seen == old;
    old = seen;
#else
    is_done = __atomic_compare_exchange_n((word*)(void*)x, &old, next, 0, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED);
#endif
  }
}
#endif
#endif

static number sum(void) {
  number x = START;
#pragma omp parallel num_threads(8)
  {
    const int rank = omp_get_thread_num();
    const double own = 1.0 / (3 + rank) * (rank % 2 != 0 ? 1000 : 1);
    const number mine = MAKE(own);
    for (int i = 0; i < 20; ++i) {
      USE_OTHERS;
#if defined(IS_INTEGER) || defined(IS_ATOMIC)
#pragma omp atomic
      x -= mine;
#else
      subtract(&x, mine);
#endif
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
