// SPDX-License-Identifier: Apache-2.0
// What lies on the stack: 16 bytes, either a vector in memory, shared and counted, or one element itself.
//
// A vector of length 1 is always the element itself, and a descriptor of one segment is its length, so that
// scalars, four of five values in compiled programs, cost no memory and no counting.
#pragma once

#include <cstddef>
#include <cstdint>

#include "language/kind.hpp"

namespace tutti::vcode {

struct block;
struct fusable;  // deferred.hpp

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
  // Where the element is, for kernels that take addresses.
  const void* address() const { return &integer_; }
  static value from(kind k, const void* element);

  std::int32_t length() const;    // elements, or segments
  std::int32_t elements() const;  // of a descriptor: in all its segments

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
  bool is_ones = false;     // of a descriptor: every segment has one element
  std::uint32_t units = 0;  // of memory, if it owns data
  std::int32_t length = 0;
  std::int32_t total = 0;       // of a descriptor
  void* data = nullptr;         // null while deferred
  block* lengths = nullptr;     // of a descriptor
  block* offsets = nullptr;     // of a descriptor: length + 1 of them
  fusable* deferred = nullptr;  // how to compute what is not there yet
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
