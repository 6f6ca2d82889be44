// SPDX-License-Identifier: Apache-2.0
// The functions of clang's interface that update a variable atomically. Compilers other than clang
// call them, so this program, which clang compiles, does so by their names.
#include <stdint.h>

#include "preload/openmp/tests/check.h"

extern void __kmpc_atomic_fixed4_add(void*, int, int32_t*, int32_t);
extern int32_t __kmpc_atomic_fixed4_add_cpt(void*, int, int32_t*, int32_t, int);
extern void __kmpc_atomic_fixed4_sub_rev(void*, int, int32_t*, int32_t);
extern int32_t __kmpc_atomic_fixed4_sub_cpt_rev(void*, int, int32_t*, int32_t, int);
extern void __kmpc_atomic_fixed4_eqv(void*, int, int32_t*, int32_t);
extern void __kmpc_atomic_fixed1_add(void*, int, int8_t*, int8_t);
extern void __kmpc_atomic_fixed8u_div(void*, int, uint64_t*, uint64_t);
extern void __kmpc_atomic_fixed8_shl(void*, int, int64_t*, int64_t);
extern void __kmpc_atomic_float8_add(void*, int, double*, double);
extern void __kmpc_atomic_float8_max(void*, int, double*, double);
extern double __kmpc_atomic_float8_swp(void*, int, double*, double);
extern float __kmpc_atomic_float4_rd(void*, int, float*);
extern void __kmpc_atomic_float4_wr(void*, int, float*, float);

enum { rounds = 100 };

static void no_update_is_lost(void) {
  int32_t count = 0, drawn = 0, differences = 0;
  int8_t small = 0;
  double sum = 0, most = 0;
  int threads = 1;
#pragma omp parallel
  {
#pragma omp single
    threads = omp_get_num_threads();
    const int rank = omp_get_thread_num();
    int32_t last = -1;
    for (int i = 0; i < rounds; ++i) {
      __kmpc_atomic_fixed4_add(0, 0, &count, 1);
      __kmpc_atomic_fixed1_add(0, 0, &small, 1);
      __kmpc_atomic_float8_add(0, 0, &sum, 0.5);
      __kmpc_atomic_float8_max(0, 0, &most, rank * rounds + i);
      const int32_t before = __kmpc_atomic_fixed4_add_cpt(0, 0, &drawn, 1, 0);
      CHECK(before > last);
      last = before;
      __kmpc_atomic_fixed4_sub_rev(0, 0, &differences, 1);
    }
  }
  CHECK(count == rounds * threads && drawn == rounds * threads);
  CHECK(small == (int8_t)(rounds * threads));
  CHECK(sum == 0.5 * rounds * threads);
  CHECK(most == 1.0 * rounds * threads - 1);
  CHECK(differences == 0);
}

static void results_are_those_of_the_operators(void) {
  int32_t a = 5;
  CHECK(__kmpc_atomic_fixed4_add_cpt(0, 0, &a, 2, 1) == 7 && a == 7);
  CHECK(__kmpc_atomic_fixed4_sub_cpt_rev(0, 0, &a, 10, 1) == 3 && a == 3);
  __kmpc_atomic_fixed4_eqv(0, 0, &a, 5);
  CHECK(a == (3 ^ ~5));
  uint64_t b = UINT64_MAX;
  __kmpc_atomic_fixed8u_div(0, 0, &b, 2);
  CHECK(b == UINT64_MAX / 2);
  int64_t c = 3;
  __kmpc_atomic_fixed8_shl(0, 0, &c, 40);
  CHECK(c == (int64_t)3 << 40);
  double d = 1.5;
  CHECK(__kmpc_atomic_float8_swp(0, 0, &d, 2.5) == 1.5 && d == 2.5);
  float e = 0;
  __kmpc_atomic_float4_wr(0, 0, &e, 0.25f);
  CHECK(__kmpc_atomic_float4_rd(0, 0, &e) == 0.25f);
}

int main(void) {
  no_update_is_lost();
  results_are_those_of_the_operators();
  return 0;
}
