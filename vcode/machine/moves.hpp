// SPDX-License-Identifier: Apache-2.0
// Functions that the permute instructions share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "vcode/machine/deferred.hpp"
#include "vcode/machine/operations.hpp"

namespace tutti::vcode {

// Moves depend on the size of an element only, so three instantiations are enough. Doubles are
// moved as integers of the same size.
template <class Visit>
void with_size(kind type, Visit&& visit) {
  switch (size_of(type)) {
    case 8: return visit(std::uint64_t{});
    case 4: return visit(std::uint32_t{});
    default: return visit(std::uint8_t{});
  }
}

inline bool is_below(std::int32_t index, std::int32_t limit) {
  return static_cast<std::uint32_t>(index) < static_cast<std::uint32_t>(limit);
}

// Indices of consecutive elements of one segment; they lead to elements 0 .. limit-1.
struct indices {
  const std::int32_t* index;
  // Null if no element is excluded.
  const std::uint8_t* flags;
  std::int32_t count;
  std::int32_t limit;
};

// A call of a vector kernel is not worth it for fewer elements.
inline constexpr std::int32_t least_for_a_kernel = 32;

inline bool are_below(const indices& i) {
  constexpr std::int32_t few = 16;
  if (i.count >= few) {
    return all_below(i.index, static_cast<std::size_t>(i.count),
                     static_cast<std::uint32_t>(i.limit));
  }
  for (std::int32_t k = 0; k < i.count; ++k) {
    if (!is_below(i.index[k], i.limit)) return false;
  }
  return true;
}

// Vector instructions check this many indices, which are then used while they are in the cache.
inline constexpr std::int32_t index_strip = 2048;

// Calls visit(segment, begin, pointer to the indices, count) for all indices, on all threads.
// Indices with no other reference are computed on the way and not stored. Returns true if all calls
// returned true.
template <class Visit>
bool for_each_index(context& c, const value& index, const segment_view& segments, Visit&& visit) {
  const auto pieces = [&](const segment_part& mine, const std::int32_t* first,
                          std::int32_t origin) {
    bool result = true;
    mine.each(segments, [&](std::int32_t j, std::int32_t b, std::int32_t e) {
      result = result && visit(j, b, first + (b - origin), e - b);
    });
    return result;
  };
  if (is_nobody_elses(index)) {
    return for_each_strip(c, index.vector(),
                          [&](std::int32_t begin, const void* strip, std::int32_t count) {
                            return pieces(segment_part_between(segments, begin, begin + count),
                                          static_cast<const std::int32_t*>(strip), begin);
                          });
  }
  const auto* const all = elements<std::int32_t>(c, index);
  const unsigned parts = c.workers.parts(segments.work());
  return c.workers.all(
      parts, [&](unsigned part) { return pieces(segment_part_of(segments, part, parts), all, 0); });
}

inline void release_all(context& c, value* v, unsigned count) {
  for (unsigned i = 0; i < count; ++i) c.memory.release(v[i]);
}

inline void require_same_count(const segment_view& a, const segment_view& b) {
  if (a.count == b.count) return;
  fail_lengths("the first descriptor", a.count, "the second", b.count);
}

template <class T>
inline void copy(const T* from, T* to, std::int32_t count) {
  constexpr std::int32_t few = 16;
  if (count > few) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
  } else {
    for (std::int32_t k = 0; k < count; ++k) to[k] = from[k];
  }
}

// The elements of a permute's result where no index leads: `v`, or one element everywhere. A
// deferred vector is computed now.
template <class T>
class defaults {
 public:
  defaults(context& c, const value& v) {
    const value* const element = v.is_scalar() ? &v : constant_of(v);
    if (element != nullptr) {
      std::memcpy(&element_, element->address(), sizeof(T));
    } else {
      vector_ = elements<T>(c, v);
    }
  }
  void write(T* to, std::int32_t begin, std::int32_t end) const {
    if (begin >= end) return;
    if (vector_ != nullptr) {
      copy(vector_ + begin, to + begin, end - begin);
    } else {
      std::fill(to + begin, to + end, element_);
    }
  }

  // Bytes of memory traffic for each element of a new result: the write, and the read if the
  // element comes from memory.
  std::size_t bytes() const { return vector_ != nullptr ? 2 * sizeof(T) : sizeof(T); }

 private:
  const T* vector_ = nullptr;
  T element_{};
};

// Reports the first wrong index; there must be one.
[[noreturn]] void fail_index(const std::int32_t* index, const std::uint8_t* flags,
                             const segment_view& of_index, const segment_view& target);

// Executes BPERMUTE, PERMUTE and DPERMUTE if INDEX made the indices, so that they are known to be
// consecutive in every segment and need not be computed. Otherwise does nothing and returns false.
// The caller has checked the lengths and releases the operands; the result is in v[0].
bool gather_slices(context& c, const step& s, value* v, const segment_view& source,
                   const segment_view& target);
bool scatter_slices(context& c, const step& s, value* v, const segment_view& source,
                    const segment_view& target);

}  // namespace tutti::vcode
