// SPDX-License-Identifier: Apache-2.0
// Clang's interface: atomic updates by function calls that take a lock, because the values are long
// double, complex, or of a size that only the program knows; updates by values of another type; and
// comparisons.
#include <cstdint>
#include <cstring>

#include "preload/openmp/environment.hpp"
#include "preload/openmp/kmpc.hpp"
#include "preload/openmp/reproducible.hpp"
#include "preload/openmp/threads.hpp"

using namespace tutti::openmp;
using tutti::relaxed;
using tutti::seq_cst;

namespace {

// The compilers pass complex numbers as C does.
__extension__ typedef __complex__ float cmplx4;
__extension__ typedef __complex__ double cmplx8;
__extension__ typedef __complex__ long double cmplx10;
using float10 = long double;

constinit small_lock wide_values;

// Runs the function while no other one runs, in the order of the ranks if sums are to be
// reproducible.
template <class Function>
auto exclusively(Function function) {
  struct turn {
    bool is_in_order = is_reproducible();
    turn() {
      if (is_in_order) begin_in_order(self());
      wide_values.lock();
    }
    ~turn() {
      wide_values.unlock();
      if (is_in_order) end_in_order(self());
    }
  } const mine;
  return function();
}

// Stores the new value. Returns it, or the old one if `wants_new` is 0.
template <class T>
T replace(T* at, T value, int wants_new) {
  const T before = *at;
  *at = value;
  return wants_new != 0 ? value : before;
}

// The same without the lock, for values that the processor exchanges.
template <class T, class Compute>
void update(T* at, Compute compute) {
  const bool is_in_order = is_reproducible();
  if (is_in_order) begin_in_order(self());
  std::atomic_ref<T> value(*at);
  // relaxed: the exchange below orders it.
  T before = value.load(relaxed);
  // seq_cst: an update orders what comes before it and after it. relaxed: a failure is tried again.
  while (!value.compare_exchange_weak(before, compute(before), seq_cst, relaxed)) {
  }
  if (is_in_order) end_in_order(self());
}

}  // namespace

// x = EXPRESSION of x and y.
#define TUTTI_WIDE_UPDATE(type, operation, ending, expression)                             \
  TUTTI_KMPC void __kmpc_atomic_##type##_##operation##ending(source_place*, int, type* at, \
                                                             type y) {                     \
    exclusively([=] {                                                                      \
      const type x = *at;                                                                  \
      *at = expression;                                                                    \
    });                                                                                    \
  }
#define TUTTI_WIDE_CAPTURE(type, operation, ending, expression)                                  \
  TUTTI_KMPC type __kmpc_atomic_##type##_##operation##_cpt##ending(source_place*, int, type* at, \
                                                                   type y, int wants_new) {      \
    return exclusively([=] {                                                                     \
      const type x = *at;                                                                        \
      return replace<type>(at, expression, wants_new);                                           \
    });                                                                                          \
  }
// LLVM's runtime returns complex numbers of 8 bytes through an address.
#define TUTTI_WIDE_CAPTURE_AT(type, operation, ending, expression)         \
  TUTTI_KMPC void __kmpc_atomic_##type##_##operation##_cpt##ending(        \
      source_place*, int, type* at, type y, type* result, int wants_new) { \
    *result = exclusively([=] {                                            \
      const type x = *at;                                                  \
      return replace<type>(at, expression, wants_new);                     \
    });                                                                    \
  }
#define TUTTI_WIDE_NUMBER(type, CAPTURE)                                            \
  TUTTI_WIDE_UPDATE(type, add, , x + y)                                             \
  TUTTI_WIDE_UPDATE(type, mul, , x* y)                                              \
  TUTTI_WIDE_UPDATE(type, sub, , x - y)                                             \
  TUTTI_WIDE_UPDATE(type, sub, _rev, y - x)                                         \
  TUTTI_WIDE_UPDATE(type, div, , x / y)                                             \
  TUTTI_WIDE_UPDATE(type, div, _rev, y / x)                                         \
  CAPTURE(type, add, , x + y)                                                       \
  CAPTURE(type, mul, , x* y)                                                        \
  CAPTURE(type, sub, , x - y)                                                       \
  CAPTURE(type, sub, _rev, y - x)                                                   \
  CAPTURE(type, div, , x / y)                                                       \
  CAPTURE(type, div, _rev, y / x)                                                   \
  TUTTI_KMPC type __kmpc_atomic_##type##_rd(source_place*, int, type* at) {         \
    return exclusively([=] { return *at; });                                        \
  }                                                                                 \
  TUTTI_KMPC void __kmpc_atomic_##type##_wr(source_place*, int, type* at, type y) { \
    exclusively([=] { *at = y; });                                                  \
  }

TUTTI_WIDE_NUMBER(float10, TUTTI_WIDE_CAPTURE)
TUTTI_WIDE_UPDATE(float10, max, , x < y ? y : x)
TUTTI_WIDE_UPDATE(float10, min, , y < x ? y : x)
TUTTI_WIDE_CAPTURE(float10, max, , x < y ? y : x)
TUTTI_WIDE_CAPTURE(float10, min, , y < x ? y : x)
TUTTI_WIDE_NUMBER(cmplx4, TUTTI_WIDE_CAPTURE_AT)
TUTTI_WIDE_NUMBER(cmplx8, TUTTI_WIDE_CAPTURE)
TUTTI_WIDE_NUMBER(cmplx10, TUTTI_WIDE_CAPTURE)

TUTTI_KMPC float10 __kmpc_atomic_float10_swp(source_place*, int, float10* at, float10 y) {
  return exclusively([=] { return replace(at, y, 0); });
}
TUTTI_KMPC void __kmpc_atomic_cmplx4_swp(source_place*, int, cmplx4* at, cmplx4 y, cmplx4* result) {
  *result = exclusively([=] { return replace(at, y, 0); });
}
TUTTI_KMPC cmplx8 __kmpc_atomic_cmplx8_swp(source_place*, int, cmplx8* at, cmplx8 y) {
  return exclusively([=] { return replace(at, y, 0); });
}
TUTTI_KMPC cmplx10 __kmpc_atomic_cmplx10_swp(source_place*, int, cmplx10* at, cmplx10 y) {
  return exclusively([=] { return replace(at, y, 0); });
}

// ---- updates by wider values

#define TUTTI_MIXED_UPDATE(type, T, operation, operator_)                                \
  TUTTI_KMPC void __kmpc_atomic_##type##_##operation##_float8(source_place*, int, T* at, \
                                                              double y) {                \
    update(at, [y](T x) { return static_cast<T>(static_cast<double>(x) operator_ y); }); \
  }
#define TUTTI_MIXED_INTEGER(type, T)  \
  TUTTI_MIXED_UPDATE(type, T, mul, *) \
  TUTTI_MIXED_UPDATE(type, T, div, /)
TUTTI_MIXED_INTEGER(fixed1, std::int8_t)
TUTTI_MIXED_INTEGER(fixed2, std::int16_t)
TUTTI_MIXED_INTEGER(fixed4, std::int32_t)
TUTTI_MIXED_INTEGER(fixed8, std::int64_t)
TUTTI_MIXED_INTEGER(float4, float)
TUTTI_MIXED_UPDATE(float4, float, add, +)
TUTTI_MIXED_UPDATE(float4, float, sub, -)

#define TUTTI_MIXED_COMPLEX(operation, operator_)                                           \
  TUTTI_KMPC void __kmpc_atomic_cmplx4_##operation##_cmplx8(source_place*, int, cmplx4* at, \
                                                            cmplx8 y) {                     \
    exclusively([=] { *at = static_cast<cmplx4>(static_cast<cmplx8>(*at) operator_ y); });  \
  }
TUTTI_MIXED_COMPLEX(add, +)
TUTTI_MIXED_COMPLEX(sub, -)
TUTTI_MIXED_COMPLEX(mul, *)
TUTTI_MIXED_COMPLEX(div, /)

// ---- updates by a function of the program, and regions between two calls

// The program may update the same variable by instructions of its own.
#define TUTTI_ANY_EXCHANGE(bytes, T)                                            \
  TUTTI_KMPC void __kmpc_atomic_##bytes(source_place*, int, void* at, void* y,  \
                                        void (*compute)(void*, void*, void*)) { \
    update(static_cast<T*>(at), [=](T x) {                                      \
      T result;                                                                 \
      compute(&result, &x, y);                                                  \
      return result;                                                            \
    });                                                                         \
  }
TUTTI_ANY_EXCHANGE(1, std::int8_t)
TUTTI_ANY_EXCHANGE(2, std::int16_t)
TUTTI_ANY_EXCHANGE(4, std::int32_t)
TUTTI_ANY_EXCHANGE(8, std::int64_t)

#define TUTTI_ANY_UPDATE(bytes)                                                 \
  TUTTI_KMPC void __kmpc_atomic_##bytes(source_place*, int, void* at, void* y,  \
                                        void (*compute)(void*, void*, void*)) { \
    exclusively([=] { compute(at, at, y); });                                   \
  }
TUTTI_ANY_UPDATE(10)
TUTTI_ANY_UPDATE(16)
TUTTI_ANY_UPDATE(20)
TUTTI_ANY_UPDATE(32)

TUTTI_KMPC void __kmpc_atomic_start() {
  if (is_reproducible()) begin_in_order(self());
  wide_values.lock();
}
TUTTI_KMPC void __kmpc_atomic_end() {
  wide_values.unlock();
  if (is_reproducible()) end_in_order(self());
}

// ---- comparisons: x = d if x == e. The first kind tells whether it was, the second kind returns
// the old value. `_cpt` also stores the old value if they differed, or the new value.

#define TUTTI_COMPARE(bytes, T)                                                               \
  TUTTI_KMPC bool __kmpc_atomic_bool_##bytes##_cas(source_place*, int, T* at, T e, T d) {     \
    /* seq_cst: see update. */                                                                \
    return std::atomic_ref<T>(*at).compare_exchange_strong(e, d, seq_cst, seq_cst);           \
  }                                                                                           \
  TUTTI_KMPC T __kmpc_atomic_val_##bytes##_cas(source_place*, int, T* at, T e, T d) {         \
    /* seq_cst: see update. */                                                                \
    std::atomic_ref<T>(*at).compare_exchange_strong(e, d, seq_cst, seq_cst);                  \
    return e;                                                                                 \
  }                                                                                           \
  TUTTI_KMPC bool __kmpc_atomic_bool_##bytes##_cas_cpt(source_place*, int, T* at, T e, T d,   \
                                                       T* result) {                           \
    /* seq_cst: see update. */                                                                \
    if (std::atomic_ref<T>(*at).compare_exchange_strong(e, d, seq_cst, seq_cst)) return true; \
    *result = e;                                                                              \
    return false;                                                                             \
  }                                                                                           \
  TUTTI_KMPC T __kmpc_atomic_val_##bytes##_cas_cpt(source_place*, int, T* at, T e, T d,       \
                                                   T* result) {                               \
    /* seq_cst: see update. */                                                                \
    const bool was_equal =                                                                    \
        std::atomic_ref<T>(*at).compare_exchange_strong(e, d, seq_cst, seq_cst);              \
    *result = was_equal ? d : e;                                                              \
    return e;                                                                                 \
  }
TUTTI_COMPARE(1, std::int8_t)
TUTTI_COMPARE(2, std::int16_t)
TUTTI_COMPARE(4, std::int32_t)
TUTTI_COMPARE(8, std::int64_t)
