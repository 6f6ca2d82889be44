// SPDX-License-Identifier: Apache-2.0
// What the kernels of this folder use of Highway, for builds without it: vectors of one lane. The
// kernels give the same bits with any number of lanes. A source includes this file in place of
// <hwy/foreach_target.h> and <hwy/highway.h>, which would compile it once for each vector unit.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#define HWY_NAMESPACE one_lane
#define HWY_BEFORE_NAMESPACE() static_assert(true)
#define HWY_AFTER_NAMESPACE() static_assert(true)
#define HWY_INLINE inline
#define HWY_ONCE 1
#define HWY_EXPORT(function) static_assert(true)
#define HWY_DYNAMIC_DISPATCH(function) one_lane::function

namespace hwy::one_lane {

template <class T>
struct ScalableTag {
  using type = T;
};
template <class T, std::size_t>
using CappedTag = ScalableTag<T>;
template <class D>
using TFromD = typename D::type;
template <class D>
using VFromD = typename D::type;

template <class D>
constexpr std::size_t Lanes(D) {
  return 1;
}
template <class D>
TFromD<D> Zero(D) {
  return 0;
}
template <class D>
TFromD<D> Set(D, TFromD<D> value) {
  return value;
}
template <class D>
TFromD<D> LoadU(D, const TFromD<D>* from) {
  return *from;
}
template <class D>
void StoreU(TFromD<D> value, D, TFromD<D>* to) {
  *to = value;
}

// Integers wrap around, as vector units do.
template <class T>
using wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                             std::type_identity<T>>::type;
template <class T>
T Add(T a, T b) {
  return static_cast<T>(static_cast<wrapping<T>>(a) + static_cast<wrapping<T>>(b));
}
template <class T>
T Sub(T a, T b) {
  return static_cast<T>(static_cast<wrapping<T>>(a) - static_cast<wrapping<T>>(b));
}
template <class T>
T Mul(T a, T b) {
  return static_cast<T>(static_cast<wrapping<T>>(a) * static_cast<wrapping<T>>(b));
}
template <class T>
T Min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
T Max(T a, T b) {
  return a < b ? b : a;
}
template <class T>
T Abs(T a) {
  return std::abs(a);
}

template <class T>
using bits_of = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
template <class T>
T Or(T a, T b) {
  return std::bit_cast<T>(std::bit_cast<bits_of<T>>(a) | std::bit_cast<bits_of<T>>(b));
}
template <class T>
T And(T a, T b) {
  return std::bit_cast<T>(std::bit_cast<bits_of<T>>(a) & std::bit_cast<bits_of<T>>(b));
}
inline bool Or(bool a, bool b) { return a || b; }

template <class T>
bool Eq(T a, T b) {
  return a == b;
}
template <class T>
bool IsNaN(T a) {
  return a != a;
}
template <class T>
T IfThenElse(bool choice, T yes, T no) {
  return choice ? yes : no;
}
template <class D>
TFromD<D> VecFromMask(D, bool mask) {
  using T = TFromD<D>;
  return std::bit_cast<T>(mask ? ~bits_of<T>{0} : bits_of<T>{0});
}
template <class D>
bool AllTrue(D, bool mask) {
  return mask;
}
template <class T>
T GetLane(T value) {
  return value;
}
template <class D>
TFromD<D> SumOfLanes(D, TFromD<D> value) {
  return value;
}
template <class D>
TFromD<D> MaxOfLanes(D, TFromD<D> value) {
  return value;
}

}  // namespace hwy::one_lane
