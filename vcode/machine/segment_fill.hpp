// SPDX-License-Identifier: Apache-2.0
// Writes what is a function of the segment and of the place in it: DIST and INDEX.
#pragma once

#include <cstddef>
#include <cstdint>

#include "machine/segment_view.hpp"

namespace tutti::vcode {

// filler(j) gives what makes the elements of segment j from their places in it; element e of the vector goes to
// to[e - origin]. Whole segments are written in stretches of fixed width, without a rest: what is too much is
// overwritten by the segments behind. The last ones are written exactly.
template <class T, class Filler>
void fill_pieces(const share& mine, const segment_view& s, T* to, std::int32_t origin,
                 Filler&& filler) {
  constexpr std::int32_t wide = 8;
  const auto fill = [&](const piece& p) {
    const auto element = filler(p.segment);
    const std::int32_t skipped = p.begin - s.offsets[p.segment];
    T* const at = to + (p.begin - origin);
    for (std::int32_t k = 0; k < p.size(); ++k) at[k] = element(skipped + k);
  };
  if (!mine.head.empty()) fill(mine.head);
  std::int32_t at = mine.first < mine.last ? s.offsets[mine.first] : mine.end;
  for (std::int32_t j = mine.first; j < mine.last; ++j) {
    const std::int32_t count = s.lengths[j];
    const auto element = filler(j);
    T* const segment = to + (at - origin);
    if (mine.end - at - count >= wide) {
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
  return [values](std::int32_t j) { return [value = values[j]](std::int32_t) { return value; }; };
}

// start[j], start[j] + stride(j), ...; INT wraps.
template <class Stride>
auto counted(const std::int32_t* start, Stride&& stride) {
  return [start, stride](std::int32_t j) {
    return [first = static_cast<std::uint32_t>(start[j]),
            step = static_cast<std::uint32_t>(stride(j))](std::int32_t k) {
      return static_cast<std::int32_t>(first + step * static_cast<std::uint32_t>(k));
    };
  };
}

}  // namespace tutti::vcode
