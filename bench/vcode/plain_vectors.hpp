// SPDX-License-Identifier: Apache-2.0
// The vectors of the plain interpreter: a header with a count of references, and the elements
// behind it. A descriptor is the lengths of its segments and their sum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

#include "vcode/language/instructions.hpp"

namespace tutti::bench::plain {

using std::int32_t;
using std::uint8_t;
using vcode::kind;

struct vector {
  int32_t references = 1;
  kind type = kind::integer;
  int32_t length = 0;
  // For a descriptor: the elements of all segments.
  int32_t total = 0;

  template <class T>
  T* as() {
    return reinterpret_cast<T*>(this + 1);
  }
};

inline vector* make(kind type, int32_t length) {
  auto* const made = static_cast<vector*>(
      std::malloc(sizeof(vector) + static_cast<std::size_t>(length) * vcode::size_of(type)));
  if (made == nullptr) throw std::bad_alloc();
  *made = {1, type, length, 0};
  return made;
}

inline void drop(vector* v) {
  if (--v->references == 0) std::free(v);
}

// A vector that the interpreter has taken from the stack.
struct dropper {
  void operator()(vector* v) const { drop(v); }
};
using operand = std::unique_ptr<vector, dropper>;

template <class T>
constexpr kind kind_for = std::is_same_v<T, double>    ? kind::real
                          : std::is_same_v<T, uint8_t> ? kind::boolean
                                                       : kind::integer;

}  // namespace tutti::bench::plain
