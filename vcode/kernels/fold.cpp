// SPDX-License-Identifier: Apache-2.0
// Folds by lanes and blocks, compiled for each Highway target in targets.hpp.
#include "vcode/kernels/fold.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "vcode/kernels/operations.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vcode/kernels/fold.cpp"
#include "vcode/kernels/targets.hpp"
// Highway includes this file once for each target.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "vcode/kernels/vector_unit.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::vcode::HWY_NAMESPACE {
namespace {

// Segments that are reduced together if they have one length, and the longest of such segments: the
// loops over them have fixed bounds, so their sums wait neither for each other nor for a branch.
constexpr std::size_t group = 8;
constexpr std::size_t longest_in_group = 8;

template <class T>
constexpr bool is_ordered = std::is_same_v<T, double>;

template <class Operation, class T>
T from_left(const T* in, std::size_t count, T value) {
  for (std::size_t i = 0; i < count; ++i) value = Operation{}(value, in[i]);
  return value;
}

template <class Operation, class T>
T of_block(const T* in, std::size_t count) {
  constexpr T none = op::identity<Operation, T>;
  if (count < lanes) return from_left<Operation>(in, count, none);
  T lane[lanes];
  for (std::size_t l = 0; l < lanes; ++l) lane[l] = in[l];
  std::size_t i = lanes;
  for (; i + lanes <= count; i += lanes) {
    for (std::size_t l = 0; l < lanes; ++l) lane[l] = Operation{}(lane[l], in[i + l]);
  }
  for (std::size_t l = 0; i < count; ++i, ++l) lane[l] = Operation{}(lane[l], in[i]);
  for (std::size_t width = lanes / 2; width > 0; width /= 2) {
    for (std::size_t l = 0; l < width; ++l) lane[l] = Operation{}(lane[l], lane[l + width]);
  }
  return lane[0];
}

template <class Operation, class T>
T of_range(const T* in, std::size_t count, T value, bool strict) {
  if ((is_ordered<T> && strict) || count < lanes) {
    return from_left<Operation>(in, count, value);
  }
  for (std::size_t i = 0; i < count; i += block_elements) {
    value = Operation{}(value, of_block<Operation>(in + i, std::min(block_elements, count - i)));
  }
  return value;
}

template <class Operation, class T>
T scan_from_left(const T* in, T* out, std::size_t count, T value) {
  for (std::size_t i = 0; i < count; ++i) {
    const T element = in[i];
    out[i] = value;
    value = Operation{}(value, element);
  }
  return value;
}

template <class Operation, class T>
T scan_range(const T* in, T* out, std::size_t count, T value, bool strict) {
  if (!is_ordered<T> || strict) {
    return scan_from_left<Operation>(in, out, count, value);
  }
  for (std::size_t i = 0; i < count; i += block_elements) {
    const std::size_t size = std::min(block_elements, count - i);
    const T next = Operation{}(value, of_block<Operation>(in + i, size));
    scan_from_left<Operation>(in + i, out + i, size, value);
    value = next;
  }
  return value;
}

template <std::size_t Length, class Operation, class T>
void reduce_group(const T* in, T* out) {
  for (std::size_t s = 0; s < group; ++s, in += Length) {
    T value = op::identity<Operation, T>;
    for (std::size_t k = 0; k < Length; ++k) value = Operation{}(value, in[k]);
    out[s] = value;
  }
}

bool have_one_length(const std::int32_t* lengths) {
  std::int32_t differences = 0;
  for (std::size_t s = 1; s < group; ++s) differences |= lengths[s] ^ lengths[0];
  return differences == 0;
}

template <class Operation, class T>
struct fold {
  // Entry n - 1 reduces `group` segments of n elements.
  template <std::size_t... Less>
  static constexpr auto groups_of(std::index_sequence<Less...>) {
    return std::array{reduce_group<Less + 1, Operation, T>...};
  }
  static constexpr auto groups = groups_of(std::make_index_sequence<longest_in_group>());

  static void block(const void* in, std::size_t count, void* result) {
    *static_cast<T*>(result) = of_block<Operation>(static_cast<const T*>(in), count);
  }
  static void reduce(const void* in, std::size_t count, void* value, bool strict) {
    T& to = *static_cast<T*>(value);
    to = of_range<Operation>(static_cast<const T*>(in), count, to, strict);
  }
  static void scan(const void* in, void* out, std::size_t count, void* value, bool strict) {
    T& to = *static_cast<T*>(value);
    to = scan_range<Operation>(static_cast<const T*>(in), static_cast<T*>(out), count, to, strict);
  }
  static void reduce_segments(const void* in, const std::int32_t* lengths, std::size_t segments,
                              void* out, bool strict) {
    const T* from = static_cast<const T*>(in);
    T* const to = static_cast<T*>(out);
    for (std::size_t s = 0; s < segments; ++s) {
      const auto count = static_cast<std::size_t>(lengths[s]);
      if (count - 1 < longest_in_group && segments - s >= group && have_one_length(lengths + s)) {
        groups[count - 1](from, to + s);
        from += group * count;
        s += group - 1;
        continue;
      }
      to[s] = of_range<Operation>(from, count, op::identity<Operation, T>, strict);
      from += count;
    }
  }
  static void scan_segments(const void* in, void* out, const std::int32_t* lengths,
                            std::size_t segments, bool strict) {
    const T* from = static_cast<const T*>(in);
    T* to = static_cast<T*>(out);
    for (std::size_t s = 0; s < segments; ++s) {
      const auto count = static_cast<std::size_t>(lengths[s]);
      scan_range<Operation>(from, to, count, op::identity<Operation, T>, strict);
      from += count;
      to += count;
    }
  }

  static fold_kernels kernels() {
    fold_kernels made;
    made.ordered = is_ordered<T>;
    if constexpr (std::is_same_v<T, double>) {
      made.identity_real = op::identity<Operation, T>;
    } else if constexpr (std::is_same_v<T, std::int32_t>) {
      made.identity_integer = op::identity<Operation, T>;
    } else {
      made.identity_boolean = op::identity<Operation, T>;
    }
    made.block = block;
    made.reduce = reduce;
    made.scan = scan;
    made.reduce_segments = reduce_segments;
    made.scan_segments = scan_segments;
    return made;
  }
};

template <class Operation>
fold_kernels numbers(kind type) {
  return type == kind::real ? fold<Operation, double>::kernels()
                            : fold<Operation, std::int32_t>::kernels();
}
template <class Operation>
fold_kernels flags(kind type) {
  return type == kind::boolean ? fold<Operation, std::uint8_t>::kernels()
                               : fold<Operation, std::int32_t>::kernels();
}

fold_kernels kernels_for(opcode code, kind type) {
  switch (code) {
    case opcode::add_scan:
    case opcode::add_reduce: return numbers<op::add>(type);
    case opcode::multiply_scan:
    case opcode::multiply_reduce: return numbers<op::multiply>(type);
    case opcode::max_scan:
    case opcode::max_reduce: return numbers<op::maximum>(type);
    case opcode::min_scan:
    case opcode::min_reduce: return numbers<op::minimum>(type);
    case opcode::and_scan:
    case opcode::and_reduce: return flags<op::logical_and>(type);
    case opcode::or_scan:
    case opcode::or_reduce: return flags<op::logical_or>(type);
    default: return flags<op::logical_xor>(type);
  }
}

}  // namespace
}  // namespace tutti::vcode::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tutti::vcode {

TUTTI_VCODE_EXPORT(kernels_for);

fold_kernels find_fold(opcode code, kind type) {
  return TUTTI_VCODE_CHOSEN(kernels_for)(code, type);
}

const void* fold_kernels::identity(kind type) const {
  if (type == kind::real) return &identity_real;
  if (type == kind::boolean) return &identity_boolean;
  return &identity_integer;
}

}  // namespace tutti::vcode
#endif
