// SPDX-License-Identifier: Apache-2.0
// Folds of long arrays in one defined order. The order does not depend on the vector width: the
// vector unit of any CPU gives the same bits as the plain loops below, which define the order.
//
//   double sum = tutti::fold(tutti::plus{}, values);      // any contiguous range of a fold_value
//   tutti::combine(tutti::plus{}, into, from);            // into[i] = op(into[i], from[i])
//   tutti::fold_rows(partial, ranks, 2, stride, result);  // the sums over the ranks
//
// Order of fold  There are as many lanes as fill 128 bytes (16 doubles, 32 floats). Element i goes
//                to lane i mod lanes, in the order of i, and every lane starts with the identity.
//                Then the upper half of the lanes is combined onto the lower half until one lane is
//                left. So the fold of no values is the identity (-0.0 for a sum).
// Cost           docs/reproducible-sums.md. It is faster than a loop over one sum, in which every
//                addition waits for the previous one.
// NaN            Every NaN in a result is the default quiet NaN (operations.hpp).
// Source         The usual vector sum, but with a number of lanes that is independent of the
//                vector.
//
// fold, combine and fold_rows need the compiled library. The *_plain versions are in this header
// alone and take any operation and any arithmetic type; the tests compare the others with them. All
// are thread-safe.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "tutti/export.h"
#include "tutti/platform/misuse.hpp"
#include "tutti/reduce/operations.hpp"
#include "tutti/schedule/tournament.hpp"

namespace tutti {

// The types and operations of the compiled folds. The plain folds take more.
template <class T>
concept fold_value = std::same_as<T, double> || std::same_as<T, float> ||
    std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t>;
template <class Op>
concept fold_operation = std::same_as<Op, plus> || std::same_as<Op, multiplies> ||
    std::same_as<Op, minimum> || std::same_as<Op, maximum>;

template <class T>
inline constexpr std::size_t fold_lanes = 128 / sizeof(T);

// The largest width of fold_rows. combine() takes longer rows.
inline constexpr std::size_t fold_rows_widest = 8;

namespace detail {

template <class T>
using lane_values = std::array<T, fold_lanes<T>>;

// Folds what follows the full rows of lanes: the rest of the values, and the tree over the lanes.
template <class Op, class T>
constexpr T fold_lanes_and_rest(Op op, lane_values<T>& lanes, std::span<const T> rest) noexcept {
  for (std::size_t i = 0; i < rest.size(); ++i)
    lanes[i % fold_lanes<T>] = op(lanes[i % fold_lanes<T>], rest[i]);
  for (std::size_t half = fold_lanes<T> / 2; half > 0; half /= 2)
    for (std::size_t lane = 0; lane < half; ++lane)
      lanes[lane] = op(lanes[lane], lanes[lane + half]);
  return canonical(lanes[0]);
}

template <class R>
using span_element = typename decltype(std::span(std::declval<R&>()))::element_type;

template <fold_operation Op, fold_value T>
TUTTI_API T fold_span(Op op, std::span<const T> values) noexcept;
template <fold_operation Op, fold_value T>
TUTTI_API void combine_spans(Op op, T* into, const T* from, std::size_t count) noexcept;
TUTTI_API void fold_row_array(const double* values, rank_t rows, std::size_t width,
                              std::size_t stride, double* result) noexcept;

constexpr void require_rows(std::size_t width, std::size_t stride) {
  require(width >= 1 && width <= fold_rows_widest,
          "fold_rows: the width must be 1 to 8; combine() takes longer rows");
  require(stride >= width, "fold_rows: the stride is less than the width: rows would overlap");
}

}  // namespace detail

// Defines the order of fold().
template <class Op, class T>
constexpr T fold_plain(Op op, std::span<const T> values) noexcept {
  detail::lane_values<T> lanes = Op::template identity<detail::lane_values<T>>();
  return detail::fold_lanes_and_rest(op, lanes, values);
}

// Defines combine(). Throws std::invalid_argument if the lengths differ.
template <class Op, class T>
constexpr void combine_plain(Op op, std::span<T> into, std::span<const T> from) {
  require(into.size() == from.size(), "combine: the two arrays differ in length");
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = canonical(op(into[i], from[i]));
}

// Sets result[c], for 0 <= c < width, to the sum of values[r * stride + c] over the rows r, in the
// order of all reductions (schedule::fold): ((0 + 1) + (2 + 3)) + ... Without rows it is -0.0, the
// identity. Throws std::invalid_argument unless 1 <= width <= fold_rows_widest and stride >= width.
constexpr void fold_rows_plain(const double* values, rank_t rows, std::size_t width,
                               std::size_t stride, double* result) {
  detail::require_rows(width, stride);
  for (std::size_t column = 0; column < width; ++column) {
    const auto value = [&](rank_t row) { return values[row * stride + column]; };
    result[column] =
        rows == 0 ? plus::identity<double>() : canonical(schedule::fold(0, rows, value, plus{}));
  }
}

// Returns the fold of a contiguous range, such as a std::vector or std::span.
template <fold_operation Op, class R>
requires fold_value<std::remove_const_t<detail::span_element<const R>>>
auto fold(Op op, const R& values) noexcept {
  using T = std::remove_const_t<detail::span_element<const R>>;
  return detail::fold_span<Op, T>(op, std::span<const T>(values));
}

// Sets into[i] = op(into[i], from[i]) for two contiguous ranges. They may be the same, but must not
// overlap otherwise. Throws std::invalid_argument if their lengths differ.
template <fold_operation Op, class Into, class From>
requires fold_value<detail::span_element<Into>> &&
    std::same_as<std::remove_const_t<detail::span_element<const From>>, detail::span_element<Into>>
void combine(Op op, Into&& into, const From& from) {
  const std::span to(into);
  const std::span with(from);
  require(to.size() == with.size(), "combine: the two arrays differ in length");
  detail::combine_spans(op, to.data(), with.data(), to.size());
}

// Does what fold_rows_plain does, by the vector unit. A master sums with it the partial sums that n
// ranks left in an array.
inline void fold_rows(const double* values, rank_t rows, std::size_t width, std::size_t stride,
                      double* result) {
  // Folding so few values takes less time than a call into the library.
  if (std::size_t{rows} * width < 16) return fold_rows_plain(values, rows, width, stride, result);
  detail::require_rows(width, stride);
  detail::fold_row_array(values, rows, width, stride, result);
}

}  // namespace tutti
