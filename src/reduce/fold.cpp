// SPDX-License-Identifier: Apache-2.0
// The folds of fold.hpp by the vector unit. They are compiled once for each kind of vector unit,
// and detection at run time chooses one.
//
// All kinds give the same bits: the lanes of the defined order occupy as many vectors as they need,
// so an element is combined with the same elements at any width. The file is compiled with
// -ffp-contract=off (cmake/TuttiTargets.cmake), because a fused multiply-add, which only some
// targets have, would round once where others round twice.

#include "tutti/reduce/fold.hpp"

#include <concepts>
#include <limits>

#if TUTTI_HAVE_HIGHWAY
// Without this macro Highway rejects -march=native on CPUs that have these instructions.
#ifndef HWY_WANT_AVX3_DL
#define HWY_WANT_AVX3_DL 1
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/reduce/fold.cpp"
#include <hwy/foreach_target.h>
// It must follow foreach_target.h.
#include <hwy/highway.h>
#else
#include "src/reduce/vector_unit.hpp"
#endif

#ifndef TUTTI_REDUCE_FOLD_ONCE
#define TUTTI_REDUCE_FOLD_ONCE
namespace tutti::detail {
namespace {

// The functions that are compiled for each kind of vector unit.
template <class Op, class T>
struct kernels {
  // Combines rows of fold_lanes<T> values into the lanes. Returns true if the operation selects and
  // a value was a NaN.
  bool (*fold)(const T* values, std::size_t rows, T* lanes);
  void (*combine)(T* into, const T* from, std::size_t count);
};
struct row_kernel {
  void (*fold)(const double* values, rank_t rows, std::size_t width, std::size_t stride,
               double* result);
};

template <class... Kernels>
struct table_of : Kernels... {};
using kernel_table =
    table_of<kernels<plus, double>, kernels<plus, float>, kernels<plus, std::int32_t>,
             kernels<plus, std::int64_t>, kernels<multiplies, double>, kernels<multiplies, float>,
             kernels<multiplies, std::int32_t>, kernels<multiplies, std::int64_t>,
             kernels<minimum, double>, kernels<minimum, float>, kernels<minimum, std::int32_t>,
             kernels<minimum, std::int64_t>, kernels<maximum, double>, kernels<maximum, float>,
             kernels<maximum, std::int32_t>, kernels<maximum, std::int64_t>, row_kernel>;

// Whether the operation selects one of two floating-point values, as minimum and maximum do. There
// vector instructions may lose a NaN.
template <class Op, class T>
constexpr bool selects = std::floating_point<T> &&
                         (std::same_as<Op, minimum> || std::same_as<Op, maximum>);

}  // namespace
}  // namespace tutti::detail
#endif

HWY_BEFORE_NAMESPACE();
namespace tutti::detail::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Computes one step of an operation. If the operation selects, neither operand may be a NaN. (Tests
// for
// NaN use hn::IsNaN(x), because hn::Ne(x, x) is false for a NaN in some releases of Highway, for
// some targets.)
template <class Op, class D, class V = hn::VFromD<D>>
HWY_INLINE V step(D /*d*/, V a, V b) {
  if constexpr (std::same_as<Op, plus>) {
    return hn::Add(a, b);
  } else if constexpr (std::same_as<Op, multiplies>) {
    return hn::Mul(a, b);
  } else if constexpr (std::same_as<Op, minimum>) {
    // Equal values have different bits only if they are zeros of different signs.
    if constexpr (selects<Op, hn::TFromD<D>>)
      return hn::IfThenElse(hn::Eq(a, b), hn::Or(a, b), hn::Min(a, b));
    else
      return hn::Min(a, b);
  } else {
    if constexpr (selects<Op, hn::TFromD<D>>)
      return hn::IfThenElse(hn::Eq(a, b), hn::And(a, b), hn::Max(a, b));
    else
      return hn::Max(a, b);
  }
}

// Combines rows into as many lanes as `Vectors` vectors have: up to four independent chains of
// operations.
template <class Op, int Vectors, class D, class T = hn::TFromD<D>>
HWY_INLINE bool fold_strip(D d, const T* values, std::size_t rows, T* lanes) {
  const std::size_t n = hn::Lanes(d);
  auto lane0 = hn::LoadU(d, lanes);
  [[maybe_unused]] auto lane1 = Vectors > 1 ? hn::LoadU(d, lanes + n) : lane0;
  [[maybe_unused]] auto lane2 = Vectors > 2 ? hn::LoadU(d, lanes + 2 * n) : lane0;
  [[maybe_unused]] auto lane3 = Vectors > 2 ? hn::LoadU(d, lanes + 3 * n) : lane0;
  // All bits of a lane are set once it has met a NaN.
  [[maybe_unused]] auto nan = hn::Zero(d);
  for (; rows > 0; --rows, values += fold_lanes<T>) {
    const auto value0 = hn::LoadU(d, values);
    lane0 = step<Op>(d, lane0, value0);
    if constexpr (selects<Op, T>) nan = hn::Or(nan, hn::VecFromMask(d, hn::IsNaN(value0)));
    if constexpr (Vectors > 1) {
      const auto value1 = hn::LoadU(d, values + n);
      lane1 = step<Op>(d, lane1, value1);
      if constexpr (selects<Op, T>) nan = hn::Or(nan, hn::VecFromMask(d, hn::IsNaN(value1)));
    }
    if constexpr (Vectors > 2) {
      const auto value2 = hn::LoadU(d, values + 2 * n);
      const auto value3 = hn::LoadU(d, values + 3 * n);
      lane2 = step<Op>(d, lane2, value2);
      lane3 = step<Op>(d, lane3, value3);
      if constexpr (selects<Op, T>) {
        nan = hn::Or(nan, hn::VecFromMask(d, hn::IsNaN(value2)));
        nan = hn::Or(nan, hn::VecFromMask(d, hn::IsNaN(value3)));
      }
    }
  }
  hn::StoreU(lane0, d, lanes);
  if constexpr (Vectors > 1) hn::StoreU(lane1, d, lanes + n);
  if constexpr (Vectors > 2) {
    hn::StoreU(lane2, d, lanes + 2 * n);
    hn::StoreU(lane3, d, lanes + 3 * n);
  }
  if constexpr (selects<Op, T>) return !hn::AllTrue(d, hn::Eq(nan, nan));
  return false;
}

// Combines rows into all lanes. Only on some targets do a few registers hold all lanes; other
// targets read the rows several times, in pieces that stay in the first-level cache.
template <class Op, class T>
bool fold_rows_of_lanes(const T* values, std::size_t rows, T* lanes) {
  constexpr std::size_t piece = 64;
  const hn::CappedTag<T, fold_lanes<T>> d;
  const std::size_t n = hn::Lanes(d);
  bool nan = false;
  while (rows > 0) {
    const std::size_t now = rows < piece ? rows : piece;
    std::size_t lane = 0;
    for (; lane + 4 * n <= fold_lanes<T>; lane += 4 * n)
      nan |= fold_strip<Op, 4>(d, values + lane, now, lanes + lane);
    for (; lane + 2 * n <= fold_lanes<T>; lane += 2 * n)
      nan |= fold_strip<Op, 2>(d, values + lane, now, lanes + lane);
    for (; lane < fold_lanes<T>; lane += n)
      nan |= fold_strip<Op, 1>(d, values + lane, now, lanes + lane);
    values += now * fold_lanes<T>;
    rows -= now;
  }
  return nan;
}

template <class Op, class T>
void combine_arrays(T* into, const T* from, std::size_t count) {
  const hn::ScalableTag<T> d;
  const std::size_t n = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + n <= count; i += n) {
    const auto a = hn::LoadU(d, into + i);
    const auto b = hn::LoadU(d, from + i);
    auto result = step<Op>(d, a, b);
    if constexpr (std::floating_point<T>) {
      const auto canonical_nan = hn::Set(d, std::numeric_limits<T>::quiet_NaN());
      auto nan = hn::IsNaN(result);
      if constexpr (selects<Op, T>) nan = hn::Or(hn::IsNaN(a), hn::IsNaN(b));
      result = hn::IfThenElse(nan, canonical_nan, result);
    }
    hn::StoreU(result, d, into + i);
  }
  for (; i < count; ++i) into[i] = canonical(Op{}(into[i], from[i]));
}

// Folds as many columns as a vector has lanes, in the order of the tournament over the rows. It
// works like a binary counter: sums[k] is the sum of 2^k rows, and it is valid while bit k of the
// number of rows so far is set.
template <class D>
HWY_INLINE void fold_columns(D d, const double* values, rank_t rows, std::size_t stride,
                             double* result) {
  alignas(64) double sums[32][fold_rows_widest];
  std::size_t row = 0;
  for (; row + 4 <= rows; row += 4) {
    const double* const at = values + row * stride;
    auto sum = hn::Add(hn::Add(hn::LoadU(d, at), hn::LoadU(d, at + stride)),
                       hn::Add(hn::LoadU(d, at + 2 * stride), hn::LoadU(d, at + 3 * stride)));
    std::size_t level = 2;
    for (; (row >> level & 1) != 0; ++level) sum = hn::Add(hn::LoadU(d, sums[level]), sum);
    hn::StoreU(sum, d, sums[level]);
  }
  const double* const at = values + row * stride;
  auto total = hn::Set(d, plus::identity<double>());
  if (row < rows) total = hn::LoadU(d, at);
  if (row + 1 < rows) total = hn::Add(total, hn::LoadU(d, at + stride));
  if (row + 2 < rows) total = hn::Add(total, hn::LoadU(d, at + 2 * stride));
  // If there is no total yet, it is the identity, which changes nothing.
  for (std::size_t level = 2; level < 32 && rows >> level != 0; ++level)
    if ((rows >> level & 1) != 0) total = hn::Add(hn::LoadU(d, sums[level]), total);
  const auto canonical_nan = hn::Set(d, std::numeric_limits<double>::quiet_NaN());
  hn::StoreU(hn::IfThenElse(hn::IsNaN(total), canonical_nan, total), d, result);
}

template <std::size_t Most>
HWY_INLINE std::size_t fold_columns_by(std::size_t column, const double* values, rank_t rows,
                                       std::size_t width, std::size_t stride, double* result) {
  const hn::CappedTag<double, Most> d;
  for (const std::size_t n = hn::Lanes(d); column + n <= width; column += n)
    fold_columns(d, values + column, rows, stride, result + column);
  return column;
}

void fold_all_columns(const double* values, rank_t rows, std::size_t width, std::size_t stride,
                      double* result) {
  std::size_t column = fold_columns_by<8>(0, values, rows, width, stride, result);
  column = fold_columns_by<4>(column, values, rows, width, stride, result);
  column = fold_columns_by<2>(column, values, rows, width, stride, result);
  fold_columns_by<1>(column, values, rows, width, stride, result);
}

template <class Op, class T>
constexpr void fill(kernels<Op, T>& entry) {
  entry = {&fold_rows_of_lanes<Op, T>, &combine_arrays<Op, T>};
}
constexpr void fill(row_kernel& entry) { entry = {&fold_all_columns}; }
template <class... Kernels>
constexpr table_of<Kernels...> filled(table_of<Kernels...> table) {
  (fill(static_cast<Kernels&>(table)), ...);
  return table;
}

const kernel_table& table() {
  static constexpr kernel_table here = filled(kernel_table{});
  return here;
}

}  // namespace
}  // namespace tutti::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tutti::detail {
namespace {

HWY_EXPORT(table);

}  // namespace

template <fold_operation Op, fold_value T>
T fold_span(Op op, std::span<const T> values) noexcept {
  lane_values<T> lanes = Op::template identity<lane_values<T>>();
  const std::size_t rows = values.size() / fold_lanes<T>;
  if (rows > 0) {
    const kernels<Op, T>& here = HWY_DYNAMIC_DISPATCH(table)();
    if (here.fold(values.data(), rows, lanes.data())) return std::numeric_limits<T>::quiet_NaN();
  }
  return fold_lanes_and_rest(op, lanes, values.subspan(rows * fold_lanes<T>));
}

template <fold_operation Op, fold_value T>
void combine_spans(Op /*op*/, T* into, const T* from, std::size_t count) noexcept {
  const kernels<Op, T>& here = HWY_DYNAMIC_DISPATCH(table)();
  here.combine(into, from, count);
}

void fold_row_array(const double* values, rank_t rows, std::size_t width, std::size_t stride,
                    double* result) noexcept {
  const row_kernel& here = HWY_DYNAMIC_DISPATCH(table)();
  here.fold(values, rows, width, stride, result);
}

// TUTTI_API is repeated because GCC gives an instance the visibility of its arguments' types, and
// `plus` is hidden here.
#define TUTTI_FOLD(Op, T)                                                    \
  template TUTTI_API T fold_span(Op op, std::span<const T> values) noexcept; \
  template TUTTI_API void combine_spans(Op op, T* into, const T* from, std::size_t count) noexcept;
#define TUTTI_FOLDS(Op)        \
  TUTTI_FOLD(Op, double)       \
  TUTTI_FOLD(Op, float)        \
  TUTTI_FOLD(Op, std::int32_t) \
  TUTTI_FOLD(Op, std::int64_t)
TUTTI_FOLDS(plus)
TUTTI_FOLDS(multiplies)
TUTTI_FOLDS(minimum)
TUTTI_FOLDS(maximum)

}  // namespace tutti::detail
#endif
