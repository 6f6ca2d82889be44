// SPDX-License-Identifier: Apache-2.0
// Clang's interface: atomic updates of integers and floating-point numbers by function calls, which
// compilers other than clang emit.
#include <cstdint>

#include "preload/openmp/environment.hpp"
#include "preload/openmp/kmpc.hpp"
#include "preload/openmp/reproducible.hpp"
#include "preload/openmp/threads.hpp"

using namespace tutti::openmp;

namespace {

// A value before and after its update.
template <class T>
struct change {
  T before, after;
};

// Replaces the value by `compute` of it, in the order of the ranks if sums are to be reproducible.
template <class T, class Compute>
change<T> update(T* at, Compute compute) {
  const bool is_in_order = is_reproducible();
  if (is_in_order) begin_in_order(self());
  // An update orders what comes before it and after it, as it does in LLVM's runtime.
  std::atomic_ref<T> value(*at);
  // relaxed: the exchange below orders it.
  T before = value.load(tutti::relaxed), after = compute(before);
  // seq_cst: see above. relaxed: a failure is tried again.
  while (!value.compare_exchange_weak(before, after, tutti::seq_cst, tutti::relaxed))
    after = compute(before);
  if (is_in_order) end_in_order(self());
  return {before, after};
}

}  // namespace

// x = EXPRESSION of x and y. The second function returns the new value, or the old one if
// `wants_new` is 0.
#define TUTTI_ATOMIC_UPDATE(type, T, operation, expression)                             \
  TUTTI_KMPC void __kmpc_atomic_##type##_##operation(source_place*, int, T* at, T y) {  \
    update(at, [y](T x) { return static_cast<T>(expression); });                        \
  }                                                                                     \
  TUTTI_KMPC T __kmpc_atomic_##type##_##operation##_cpt(source_place*, int, T* at, T y, \
                                                        int wants_new) {                \
    const change<T> done = update(at, [y](T x) { return static_cast<T>(expression); }); \
    return wants_new != 0 ? done.after : done.before;                                   \
  }
// The same, and with the operands exchanged.
#define TUTTI_ATOMIC_BOTH(type, T, operation, operator_)                                     \
  TUTTI_ATOMIC_UPDATE(type, T, operation, x operator_ y)                                     \
  TUTTI_KMPC void __kmpc_atomic_##type##_##operation##_rev(source_place*, int, T* at, T y) { \
    update(at, [y](T x) { return static_cast<T>(y operator_ x); });                          \
  }                                                                                          \
  TUTTI_KMPC T __kmpc_atomic_##type##_##operation##_cpt_rev(source_place*, int, T* at, T y,  \
                                                            int wants_new) {                 \
    const change<T> done = update(at, [y](T x) { return static_cast<T>(y operator_ x); });   \
    return wants_new != 0 ? done.after : done.before;                                        \
  }
#define TUTTI_ATOMIC_NUMBER(type, T)                                          \
  TUTTI_ATOMIC_UPDATE(type, T, add, x + y)                                    \
  TUTTI_ATOMIC_UPDATE(type, T, mul, x* y)                                     \
  TUTTI_ATOMIC_BOTH(type, T, sub, -)                                          \
  TUTTI_ATOMIC_BOTH(type, T, div, /)                                          \
  TUTTI_ATOMIC_UPDATE(type, T, max, x < y ? y : x)                            \
  TUTTI_ATOMIC_UPDATE(type, T, min, y < x ? y : x)                            \
  TUTTI_KMPC T __kmpc_atomic_##type##_rd(source_place*, int, T* at) {         \
    /* seq_cst: see update. */                                                \
    return std::atomic_ref<T>(*at).load(tutti::seq_cst);                      \
  }                                                                           \
  TUTTI_KMPC void __kmpc_atomic_##type##_wr(source_place*, int, T* at, T y) { \
    update(at, [y](T) { return y; });                                         \
  }                                                                           \
  TUTTI_KMPC T __kmpc_atomic_##type##_swp(source_place*, int, T* at, T y) {   \
    return update(at, [y](T) { return y; }).before;                           \
  }
#define TUTTI_ATOMIC_INTEGER(type, T, U)                   \
  TUTTI_ATOMIC_NUMBER(type, T)                             \
  TUTTI_ATOMIC_UPDATE(type, T, andb, x& y)                 \
  TUTTI_ATOMIC_UPDATE(type, T, orb, x | y)                 \
  TUTTI_ATOMIC_UPDATE(type, T, xor, x ^ y)                 \
  TUTTI_ATOMIC_UPDATE(type, T, andl, (x != 0) && (y != 0)) \
  TUTTI_ATOMIC_UPDATE(type, T, orl, (x != 0) || (y != 0))  \
  TUTTI_ATOMIC_UPDATE(type, T, eqv, x ^ ~y)                \
  TUTTI_ATOMIC_UPDATE(type, T, neqv, x ^ y)                \
  TUTTI_ATOMIC_BOTH(type, T, shl, <<)                      \
  TUTTI_ATOMIC_BOTH(type, T, shr, >>)                      \
  TUTTI_ATOMIC_BOTH(type##u, U, div, /)                    \
  TUTTI_ATOMIC_BOTH(type##u, U, shr, >>)

TUTTI_ATOMIC_INTEGER(fixed1, std::int8_t, std::uint8_t)
TUTTI_ATOMIC_INTEGER(fixed2, std::int16_t, std::uint16_t)
TUTTI_ATOMIC_INTEGER(fixed4, std::int32_t, std::uint32_t)
TUTTI_ATOMIC_INTEGER(fixed8, std::int64_t, std::uint64_t)
TUTTI_ATOMIC_NUMBER(float4, float)
TUTTI_ATOMIC_NUMBER(float8, double)
