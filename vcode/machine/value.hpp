// SPDX-License-Identifier: Apache-2.0
// A value on the stack: 16 bytes that hold either a counted reference to a vector in memory or one
// element.
//
// A vector of length 1 is always stored as the element itself, and a descriptor of one segment as
// its length. So scalars, four of five values in compiled programs, need no memory and no reference
// counting.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vcode/language/kind.hpp"

namespace tutti::vcode {

struct block;
// Defined in fusable.hpp.
struct fusable;

class value {
 public:
  value() = default;
  static value of(std::int32_t i) {
    value v(kind::integer);
    v.integer_ = i;
    return v;
  }
  static value of(double f) {
    value v(kind::real);
    v.real_ = f;
    return v;
  }
  static value of(bool b) {
    value v(kind::boolean);
    v.boolean_ = b ? 1 : 0;
    return v;
  }
  static value one_segment(std::int32_t length) {
    value v(kind::segdes);
    v.integer_ = length;
    return v;
  }
  explicit value(block* b) : word_(reinterpret_cast<std::uintptr_t>(b)) {}

  // Kinds are smaller than any address.
  bool is_scalar() const { return word_ < 8; }
  kind type() const;
  block* vector() const { return reinterpret_cast<block*>(word_); }
  bool is(const vcode::block* b) const { return word_ == reinterpret_cast<std::uintptr_t>(b); }

  std::int32_t integer() const { return integer_; }
  double real() const { return real_; }
  bool boolean() const { return boolean_ != 0; }
  // The address of the element, for kernels that take addresses.
  const void* address() const { return &integer_; }
  static value from(kind k, const void* element);

  // The number of elements, or of segments.
  std::int32_t length() const;
  // For a descriptor: the elements of all segments.
  std::int32_t elements() const;

 private:
  explicit value(kind k) : word_(static_cast<std::uintptr_t>(k)) {}
  std::uintptr_t word_ = 0;
  union {
    std::int32_t integer_ = 0;
    double real_;
    std::uint8_t boolean_;
  };
};
static_assert(sizeof(value) == 16);

struct alignas(64) block {
  std::uint32_t references = 1;
  kind type = kind::integer;
  bool owns_data = false;
  // For a descriptor: true if every segment has one element. For lengths of which a descriptor was
  // made: the same.
  bool is_ones = false;
  // The units of memory, if the block owns its data.
  std::uint32_t units = 0;
  std::int32_t length = 0;
  // For a descriptor, and for lengths of which one was made: the sum of the lengths.
  std::int32_t total = 0;
  // For a descriptor: no segment is longer. For an INT vector: all elements are known to lie in
  // 0 .. bound-1, unless bound is 0.
  std::int32_t bound = 0;
  // Null while deferred.
  void* data = nullptr;
  // For a descriptor: the lengths.
  block* lengths = nullptr;
  // For a descriptor: length + 1 offsets. For lengths of which a descriptor was made: its offsets,
  // for the next descriptor.
  block* offsets = nullptr;
  // How to compute elements that are deferred.
  fusable* deferred = nullptr;
  block* next_free = nullptr;

  template <class T>
  T* as() {
    return static_cast<T*>(data);
  }
  template <class T>
  const T* as() const {
    return static_cast<const T*>(data);
  }
};

struct pair_block : block {
  value first;
  value second;
};

inline kind value::type() const { return is_scalar() ? static_cast<kind>(word_) : vector()->type; }
inline std::int32_t value::length() const { return is_scalar() ? 1 : vector()->length; }
inline std::int32_t value::elements() const { return is_scalar() ? integer_ : vector()->total; }

inline value value::from(kind k, const void* element) {
  switch (k) {
    case kind::real: return of(*static_cast<const double*>(element));
    case kind::boolean: return of(*static_cast<const std::uint8_t*>(element) != 0);
    case kind::segdes: return one_segment(*static_cast<const std::int32_t*>(element));
    default: return of(*static_cast<const std::int32_t*>(element));
  }
}

}  // namespace tutti::vcode
