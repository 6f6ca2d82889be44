// SPDX-License-Identifier: Apache-2.0
// A descriptor as the operations see it, and its division into parts of equal work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "vcode/machine/value.hpp"

namespace tutti::vcode {

struct context;

class segment_view {
 public:
  // Computes lengths and offsets if they are deferred.
  segment_view(context& c, value descriptor);
  // Requires that lengths and offsets are not deferred.
  explicit segment_view(value descriptor) {
    if (descriptor.is_scalar()) {
      one_[0] = one_[2] = total = descriptor.integer();
      count = 1;
      lengths = &one_[0];
      offsets = &one_[1];
    } else {
      const block& b = *descriptor.vector();
      count = b.length;
      total = b.total;
      lengths = b.lengths->as<std::int32_t>();
      offsets = b.offsets->as<std::int32_t>();
    }
  }
  segment_view(const segment_view&) = delete;
  segment_view& operator=(const segment_view&) = delete;

  // The work of starting a segment, in elements: a million empty segments are work too.
  static constexpr std::int64_t segment_weight = 8;
  std::size_t work() const { return static_cast<std::size_t>(total + count * segment_weight); }

  std::int32_t count;
  std::int32_t total;
  const std::int32_t* lengths;
  // count + 1 offsets.
  const std::int32_t* offsets;

 private:
  std::int32_t one_[3] = {0, 0, 0};
};

// Consecutive elements of one segment.
struct piece {
  std::int32_t segment = 0;
  // Counted from the beginning of the vector.
  std::int32_t begin = 0;
  std::int32_t end = 0;
  bool empty() const { return begin == end; }
  std::int32_t size() const { return end - begin; }
};

// Calls visit(begin, count) for strips of `strip` elements, and at last fewer, of begin .. end-1
// until a call returns false. Returns whether all returned true.
template <class Visit>
bool all_strips(std::int32_t begin, std::int32_t end, std::int32_t strip, Visit&& visit) {
  // No position is beyond `end`, which may be the largest number.
  for (; end - begin > strip; begin += strip) {
    if (!visit(begin, strip)) return false;
  }
  return begin == end || visit(begin, end - begin);
}

// What one part has: the rest of a segment that an earlier part began, whole segments, and the
// beginning of a segment that the next part continues. A huge segment is cut; many small ones are
// distributed.
struct segment_part {
  piece head;
  // The whole segments are first .. last - 1.
  std::int32_t first = 0;
  std::int32_t last = 0;
  piece tail;
  // The range of the elements of all pieces.
  std::int32_t begin = 0;
  std::int32_t end = 0;

  // Calls visit(segment, begin, end) for each piece, empty segments too.
  template <class Visit>
  void each(const segment_view& s, Visit&& visit) const {
    if (!head.empty()) visit(head.segment, head.begin, head.end);
    for (std::int32_t j = first; j < last; ++j) visit(j, s.offsets[j], s.offsets[j + 1]);
    if (!tail.empty()) visit(tail.segment, tail.begin, tail.end);
  }
};

namespace detail {

struct cut {
  std::int32_t segment;
  std::int32_t element;
};

// Each segment adds the weight of segment_weight elements.
inline cut cut_at(const segment_view& s, unsigned part, unsigned parts, std::int32_t align) {
  if (part == 0) return {0, 0};
  if (part == parts || s.count == 0) return {s.count, s.total};
  const std::int64_t weight =
      (s.total + s.count * segment_view::segment_weight) * part / static_cast<std::int64_t>(parts);
  // Finds the last segment that begins at or before this weight.
  std::int32_t low = 0;
  std::int32_t high = s.count;
  while (high - low > 1) {
    const std::int32_t middle = low + (high - low) / 2;
    (s.offsets[middle] + middle * segment_view::segment_weight <= weight ? low : high) = middle;
  }
  const std::int32_t begin = s.offsets[low];
  const std::int64_t inside = std::min(weight - begin - low * segment_view::segment_weight,
                                       static_cast<std::int64_t>(s.lengths[low]));
  const auto rounded = static_cast<std::int32_t>(inside / align * align);
  // A cut at the end of a segment leaves nothing of it.
  if (rounded == s.lengths[low] && rounded > 0) return {low + 1, s.offsets[low + 1]};
  return {low, begin + rounded};
}

// Returns the segment that has this element.
inline std::int32_t segment_of(const segment_view& s, std::int32_t element) {
  return static_cast<std::int32_t>(std::upper_bound(s.offsets, s.offsets + s.count, element) -
                                   s.offsets) -
         1;
}

}  // namespace detail

// Returns the share of elements begin .. end-1, at least one. Empty segments at the limits do not
// matter.
inline segment_part segment_part_between(const segment_view& s, std::int32_t begin,
                                         std::int32_t end) {
  segment_part made;
  made.begin = begin;
  made.end = end;
  std::int32_t j = detail::segment_of(s, begin);
  if (s.offsets[j] < begin) {
    made.head = {j, begin, std::min(end, s.offsets[j + 1])};
    ++j;
  }
  made.first = made.last = j;
  if (made.head.end == end) return made;
  made.last = detail::segment_of(s, end - 1);
  if (s.offsets[made.last + 1] == end) {
    ++made.last;
  } else {
    made.tail = {made.last, s.offsets[made.last], end};
  }
  return made;
}

// Cuts segments at multiples of `align` from their beginnings.
inline segment_part segment_part_of(const segment_view& s, unsigned part, unsigned parts,
                                    std::int32_t align = 64) {
  const detail::cut from = detail::cut_at(s, part, parts, align);
  const detail::cut to = detail::cut_at(s, part + 1, parts, align);
  segment_part made;
  made.begin = from.element;
  made.end = to.element;
  made.first = from.segment;
  made.last = to.segment;
  if (from.segment < s.count && from.element > s.offsets[from.segment]) {
    made.head = {from.segment, from.element, std::min(to.element, s.offsets[from.segment + 1])};
    if (from.segment == to.segment) {
      made.first = made.last;
      return made;
    }
    made.first = from.segment + 1;
  }
  if (to.segment < s.count && to.element > s.offsets[to.segment]) {
    made.tail = {to.segment, s.offsets[to.segment], to.element};
  }
  return made;
}

}  // namespace tutti::vcode
