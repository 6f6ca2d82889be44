// SPDX-License-Identifier: Apache-2.0
// The operations that combine values in reductions. They work on numbers, and element by element on
// a std::array of numbers. plus and multiplies also take std::complex and every type that has the
// operator + or *, such as a matrix or an amount of money. The operation need not be commutative: a
// reduction combines the values in the order of the ranks.
//
//   tutti::plus{}(1.5, 2.0)                                     // 3.5
//   tutti::minimum{}(std::array{1, 7}, std::array{4, 2})        // {1, 2}
//   tutti::plus::identity<double>()                             // -0.0
//   tutti::plus{}(my_vector{1, 2}, my_vector{3, 4})             // by its operator +
//
// Every bit of a result is defined, so a reduction can promise the same bits whatever computes it:
//   * Integers wrap around, as those of std::atomic do, so signed overflow is defined. The sum of
//     bools is their logical or, and their product the logical and. To count them, convert them to
//     an integer first.
//   * Floating-point operations follow IEEE 754 in the current rounding mode. minimum and maximum
//     are those of IEEE 754-2019: a NaN wins, and -0 < +0. (std::min keeps the first of two zeros
//     and may lose a NaN, and so may fmin.)
//   * IEEE 754 does not define which NaN an addition gives. It differs between processors, and even
//     with the order in which a compiler puts two operands. plus and multiplies do not define it
//     either, because a test at every step would lengthen the chain of operations for which all
//     participants wait. Instead a reduction calls canonical() once on its result, which replaces
//     every NaN by std::numeric_limits<T>::quiet_NaN().
//
// op(identity, x) has the bits of x for every x that is not a NaN, with one exception: logical_and
// and logical_or turn every value but 0 into 1. Therefore the identity of plus is -0.0 and not
// +0.0, which would turn -0.0 into +0.0.
//
// A type of the program's own has the bits that its operator gives. The identity of its sum is T{};
// its product has none, nor has that of std::complex, because 1 * inf is not inf in every part.
//
// Do not compile with -ffast-math: it lets the compiler ignore NaNs, the signs of zeros and the
// order of additions.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tutti {

namespace detail {

template <class T>
concept arithmetic = std::is_arithmetic_v<T>;

template <class T>
inline constexpr bool is_array = false;
template <class T, std::size_t N>
inline constexpr bool is_array<std::array<T, N>> = true;

// A sum that is not a number but an object, such as exact_sum. plus merges two of them.
template <class T>
concept mergeable = std::default_initializable<T> && requires(T a, const T& b) {
  a.merge(b);
};

// std::complex, told by its members, because <complex> would add 20,000 lines to this header.
template <class T>
concept complex_number = requires(const T& value) {
  requires std::floating_point<typename T::value_type>;
  { value.real() } -> std::same_as<typename T::value_type>;
  { value.imag() } -> std::same_as<typename T::value_type>;
  T(value.real(), value.imag());
};

// A type of the program's own.
template <class T>
concept other_type =
    std::default_initializable<T> && !arithmetic<T> && !is_array<T> && !mergeable<T>;
template <class T>
concept addable = other_type<T> && requires(const T& a, const T& b) {
  { a + b } -> std::convertible_to<T>;
};
template <class T>
concept multipliable = other_type<T> && requires(const T& a, const T& b) {
  { a* b } -> std::convertible_to<T>;
};

// A type that is wide enough for products of small unsigned types, which C++ would promote to int
// and overflow.
template <std::integral T>
using wrapping = std::common_type_t<unsigned, std::make_unsigned_t<T>>;

template <std::floating_point T>
constexpr bool is_negative(T value) noexcept {
  if constexpr (sizeof(T) == sizeof(std::uint64_t))
    return std::bit_cast<std::int64_t>(value) < 0;
  else if constexpr (sizeof(T) == sizeof(std::uint32_t))
    return std::bit_cast<std::int32_t>(value) < 0;
  else
    return __builtin_copysignl(1, value) < 0;
}

// Compares bits if the format has no padding. That works with -ffast-math too, and costs one
// comparison of integers.
template <std::floating_point T>
constexpr bool is_nan(T value) noexcept {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  if constexpr (sizeof(T) == sizeof(std::uint64_t))
    return std::bit_cast<std::uint64_t>(value) << 1 > std::bit_cast<std::uint64_t>(infinity) << 1;
  else if constexpr (sizeof(T) == sizeof(std::uint32_t))
    return std::bit_cast<std::uint32_t>(value) << 1 > std::bit_cast<std::uint32_t>(infinity) << 1;
  else
    return value != value;
}

// Whether Kernel::of() combines two T or, if T is an array, two of its elements, at any depth.
template <class Kernel, class T>
inline constexpr bool combines = requires(const T& value) {
  Kernel::of(value, value);
};
template <class Kernel, class T, std::size_t N>
inline constexpr bool combines<Kernel, std::array<T, N>> = combines<Kernel, T>;

// Whether Kernel has an identity for T or for the elements of T.
template <class Kernel, class T>
inline constexpr bool has_neutral = requires {
  Kernel::template neutral<T>();
};
template <class Kernel, class T, std::size_t N>
inline constexpr bool has_neutral<Kernel, std::array<T, N>> = has_neutral<Kernel, T>;

// The public interface of a kernel. The kernel combines two numbers; the operation also combines
// arrays element by element, including nested arrays.
template <class Kernel>
struct operation {
  template <class T>
  requires combines<Kernel, T>
  constexpr T operator()(const T& a, const T& b) const noexcept {
    if constexpr (is_array<T>) {
      T result{};
      for (std::size_t i = 0; i < result.size(); ++i) result[i] = (*this)(a[i], b[i]);
      return result;
    } else {
      return Kernel::of(a, b);
    }
  }

  template <class T>
  requires combines<Kernel, T> && has_neutral<Kernel, T>
  static constexpr T identity() noexcept {
    if constexpr (is_array<T>) {
      T result{};
      for (auto& element : result) element = identity<typename T::value_type>();
      return result;
    } else {
      return Kernel::template neutral<T>();
    }
  }
};

struct plus_kernel {
  template <arithmetic T>
  static constexpr T of(T a, T b) noexcept {
    if constexpr (std::same_as<T, bool>)
      return a || b;
    else if constexpr (std::integral<T>)
      return static_cast<T>(static_cast<wrapping<T>>(a) + static_cast<wrapping<T>>(b));
    else
      return a + b;
  }
  template <arithmetic T>
  static constexpr T neutral() noexcept {
    if constexpr (std::floating_point<T>) return -T{0};
    return T{0};
  }

  template <mergeable T>
  static constexpr T of(T a, const T& b) noexcept {
    a.merge(b);
    return a;
  }
  template <mergeable T>
  static constexpr T neutral() noexcept {
    return T{};
  }

  template <addable T>
  static constexpr T of(const T& a, const T& b) noexcept {
    return a + b;
  }
  template <addable T>
  static constexpr T neutral() noexcept {
    if constexpr (complex_number<T>) {
      using part = typename T::value_type;
      return T(-part{0}, -part{0});
    } else {
      return T{};
    }
  }
};

struct multiplies_kernel {
  template <arithmetic T>
  static constexpr T of(T a, T b) noexcept {
    if constexpr (std::same_as<T, bool>)
      return a && b;
    else if constexpr (std::integral<T>)
      return static_cast<T>(static_cast<wrapping<T>>(a) * static_cast<wrapping<T>>(b));
    else
      return a * b;
  }
  template <arithmetic T>
  static constexpr T neutral() noexcept {
    return T{1};
  }

  template <multipliable T>
  static constexpr T of(const T& a, const T& b) noexcept {
    return a * b;
  }
};

// The smallest or the largest value.
template <bool is_largest>
struct extremum_kernel {
  template <arithmetic T>
  static constexpr T of(T a, T b) noexcept {
    if (is_largest ? a > b : a < b) return a;
    if (is_largest ? b > a : b < a) return b;
    if constexpr (std::floating_point<T>) {
      if (a != b) return std::numeric_limits<T>::quiet_NaN();
      return is_negative(a) == is_largest ? b : a;
    }
    return a;
  }
  template <arithmetic T>
  static constexpr T neutral() noexcept {
    using limits = std::numeric_limits<T>;
    if constexpr (limits::has_infinity)
      return is_largest ? -limits::infinity() : limits::infinity();
    else
      return is_largest ? limits::lowest() : (limits::max)();
  }
};
using minimum_kernel = extremum_kernel<false>;
using maximum_kernel = extremum_kernel<true>;

// Take numbers as truth values; the result is 1 or 0. A NaN is true, as in C++.
struct logical_and_kernel {
  template <arithmetic T>
  static constexpr T of(T a, T b) noexcept {
    return static_cast<T>(a != T{0} && b != T{0});
  }
  template <arithmetic T>
  static constexpr T neutral() noexcept {
    return T{1};
  }
};

struct logical_or_kernel {
  template <arithmetic T>
  static constexpr T of(T a, T b) noexcept {
    return static_cast<T>(a != T{0} || b != T{0});
  }
  template <arithmetic T>
  static constexpr T neutral() noexcept {
    return T{0};
  }
};

struct bit_and_kernel {
  template <std::integral T>
  static constexpr T of(T a, T b) noexcept {
    return static_cast<T>(a & b);
  }
  template <std::integral T>
  static constexpr T neutral() noexcept {
    if constexpr (std::same_as<T, bool>)
      return true;
    else
      return static_cast<T>(~T{0});
  }
};

struct bit_or_kernel {
  template <std::integral T>
  static constexpr T of(T a, T b) noexcept {
    return static_cast<T>(a | b);
  }
  template <std::integral T>
  static constexpr T neutral() noexcept {
    return T{0};
  }
};

struct bit_xor_kernel {
  template <std::integral T>
  static constexpr T of(T a, T b) noexcept {
    return static_cast<T>(a ^ b);
  }
  template <std::integral T>
  static constexpr T neutral() noexcept {
    return T{0};
  }
};

}  // namespace detail

struct plus : detail::operation<detail::plus_kernel> {};
struct multiplies : detail::operation<detail::multiplies_kernel> {};
struct minimum : detail::operation<detail::minimum_kernel> {};
struct maximum : detail::operation<detail::maximum_kernel> {};
struct logical_and : detail::operation<detail::logical_and_kernel> {};
struct logical_or : detail::operation<detail::logical_or_kernel> {};
struct bit_and : detail::operation<detail::bit_and_kernel> {};
struct bit_or : detail::operation<detail::bit_or_kernel> {};
struct bit_xor : detail::operation<detail::bit_xor_kernel> {};

// Returns the unique representation of a reduction's result: it replaces every NaN by
// std::numeric_limits<T>::quiet_NaN(), normalises an exact sum (exact.hpp), and leaves all other
// values as they are. It takes a few instructions for a double, outside of the chain of operations
// between ranks.
template <class T>
constexpr T canonical(T value) noexcept {
  if constexpr (std::floating_point<T>) {
    return detail::is_nan(value) ? std::numeric_limits<T>::quiet_NaN() : value;
  } else if constexpr (detail::is_array<T>) {
    for (auto& element : value) element = canonical(element);
    return value;
  } else if constexpr (detail::complex_number<T>) {
    return T(canonical(value.real()), canonical(value.imag()));
  } else {
    // The name tells an exact sum from a program's own type whose normalize() changes the value.
    if constexpr (requires { typename T::has_many_forms; }) value.normalize();
    return value;
  }
}

namespace detail {

template <class Op, class T>
inline constexpr bool can_combine = requires(Op& op, const T& a, const T& b) {
  { op(a, b) } -> std::convertible_to<T>;
};

// Stands for an operation that cannot be used, so that the sentence is the only error.
struct no_operation {
  template <class T>
  constexpr T operator()(const T& a, const T&) const noexcept {
    return a;
  }
};

// Returns `op`, unless it cannot combine two T: then the program does not compile.
template <class T, class Op>
constexpr decltype(auto) usable(Op& op) noexcept {
  constexpr bool can = can_combine<Op, T>;
  static_assert(can,
                "tutti: the operation cannot combine two values of this type. It must be callable "
                "as op(a, b) with two values and give a third. tutti::plus and tutti::multiplies "
                "take numbers, std::complex, std::array of these, and types with the operator + "
                "or *; the other operations take numbers and std::array of numbers.");
  if constexpr (can)
    return (op);
  else
    return no_operation{};
}

}  // namespace detail

}  // namespace tutti
