// SPDX-License-Identifier: Apache-2.0
// Writes vectors that are a function of the segment and of the position in it: DIST and INDEX.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "vcode/kernels/elementwise.hpp"
#include "vcode/machine/segment_view.hpp"

namespace tutti::vcode {

// The same value at every position of a segment.
template <class T>
class repetition {
 public:
  explicit repetition(T value) : value_(value) {}
  T operator()(std::int32_t /*k*/) const { return value_; }
  void write(T* to, std::int32_t /*from*/, std::int32_t count) const {
    std::fill_n(to, count, value_);
  }

 private:
  T value_;
};

// first, first + step, ...; INT wraps.
class progression {
 public:
  progression(std::int32_t first, std::int32_t step)
      : first_(static_cast<std::uint32_t>(first)), step_(static_cast<std::uint32_t>(step)) {}
  std::int32_t operator()(std::int32_t k) const {
    return static_cast<std::int32_t>(first_ + step_ * static_cast<std::uint32_t>(k));
  }
  // Writes elements from .. from+count-1.
  void write(std::int32_t* to, std::int32_t from, std::int32_t count) const {
    fill_progression((*this)(from), static_cast<std::int32_t>(step_), to,
                     static_cast<std::size_t>(count));
  }

 private:
  std::uint32_t first_;
  std::uint32_t step_;
};

// filler(j) returns what makes the elements of segment j from their positions; element e of the
// vector goes to to[e - origin]. Whole segments are written in stretches of fixed width without a
// remainder loop: the following segments overwrite the excess. The last segments are written
// exactly.
template <class T, class Filler>
void fill_pieces(const segment_part& mine, const segment_view& s, T* to, std::int32_t origin,
                 Filler&& filler) {
  constexpr std::int32_t wide = 8;
  // From this length on, the widest vector unit is worth a call.
  constexpr std::int32_t long_segment = 128;
  const auto fill = [&](const piece& p) {
    filler(p.segment).write(to + (p.begin - origin), p.begin - s.offsets[p.segment], p.size());
  };
  if (!mine.head.empty()) fill(mine.head);
  std::int32_t at = mine.first < mine.last ? s.offsets[mine.first] : mine.end;
  for (std::int32_t j = mine.first; j < mine.last; ++j) {
    const std::int32_t count = s.lengths[j];
    const auto element = filler(j);
    T* const segment = to + (at - origin);
    if (count >= long_segment) {
      element.write(segment, 0, count);
    } else if (mine.end - at - count >= wide) {
      for (std::int32_t k = 0; k < count; k += wide) {
        for (std::int32_t w = 0; w < wide; ++w) segment[k + w] = element(k + w);
      }
    } else {
      for (std::int32_t k = 0; k < count; ++k) segment[k] = element(k);
    }
    at += count;
  }
  if (!mine.tail.empty()) fill(mine.tail);
}

template <class T>
auto repeated(const T* values) {
  return [values](std::int32_t j) { return repetition<T>(values[j]); };
}

// Segment j is start[j], start[j] + stride(j), ...
template <class Stride>
auto counted(const std::int32_t* start, Stride&& stride) {
  return [start, stride](std::int32_t j) { return progression(start[j], stride(j)); };
}

}  // namespace tutti::vcode
