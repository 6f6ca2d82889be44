// SPDX-License-Identifier: Apache-2.0
// Permutes by indices first, first + 1, first + 2, ... copy slices. Compiled programs take vectors
// apart and put them together this way.
#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <optional>

#include "vcode/machine/deferred.hpp"
#include "vcode/machine/moves.hpp"
#include "vcode/machine/operations.hpp"

namespace tutti::vcode {
namespace {

using std::int32_t;

bool have_same_lengths(const segment_view& a, const segment_view& b) {
  if (a.count != b.count || a.total != b.total) return false;
  return a.lengths == b.lengths ||
         std::memcmp(a.lengths, b.lengths, static_cast<std::size_t>(a.count) * 4) == 0;
}

// The first index of each segment.
struct slices {
  const int32_t* first;
  bool fits(int32_t segment, int32_t length, int32_t limit) const {
    return length == 0 || (first[segment] >= 0 && first[segment] <= limit - length);
  }
  // The first index of a slice that fits. An empty one fits wherever it begins, and moves nothing.
  int32_t begin(int32_t segment, int32_t length) const { return length == 0 ? 0 : first[segment]; }
};

std::optional<slices> find_slices(const value& index, const segment_view& segments) {
  if (index.is_scalar() || index.vector()->deferred == nullptr) return std::nullopt;
  const fusable& f = *index.vector()->deferred;
  const auto counts_by_one = [&] {
    return f.operand[1].is_scalar() && f.operand[1].integer() == 1;
  };
  if (f.source == source_kind::progression && counts_by_one() && segments.count == 1) {
    return slices{static_cast<const int32_t*>(f.operand[0].address())};
  }
  if (f.source == source_kind::progressions && counts_by_one() &&
      have_same_lengths(segment_view(f.operand[2]), segments)) {
    return slices{f.operand[0].vector()->as<int32_t>()};
  }
  return std::nullopt;
}

// Computes the vectors to be copied first: that may store the index too, if it is one of their
// operands, and then it is no longer known as slices. `others` are the source and, if there is one,
// the default.
std::optional<slices> slices_beside(context& c, const value& index, const segment_view& segments,
                                    std::initializer_list<const value*> others) {
  if (!find_slices(index, segments)) return std::nullopt;
  for (const value* const other : others) {
    if (constant_of(*other) == nullptr) force(c, *other);
  }
  return find_slices(index, segments);
}

bool all_fit(context& c, const slices& from, const segment_view& index, const segment_view& limit) {
  const auto count = static_cast<std::size_t>(index.count);
  const unsigned parts = c.workers.parts(count);
  return c.workers.all(parts, [&](unsigned part) {
    const range mine = part_of(count, part, parts);
    bool fit = true;
    for (auto j = static_cast<int32_t>(mine.begin); j < static_cast<int32_t>(mine.end); ++j) {
      fit = fit && from.fits(j, index.lengths[j], limit.lengths[j]);
    }
    return fit;
  });
}

}  // namespace

bool gather_slices(context& c, const step& s, value* v, const segment_view& source,
                   const segment_view& target) {
  const auto found = slices_beside(c, v[1], target, {v});
  if (!found) return false;
  const slices from = *found;
  if (!all_fit(c, from, target, source)) {
    fail_index(elements<int32_t>(c, v[1]), nullptr, target, source);
  }
  with_size(s.type, [&]<class T>(T) {
    const T* const in = elements<T>(c, v[0]);
    result_vector made(c, s.type, target.total);
    T* const to = made.data<T>();
    const unsigned parts = c.workers.parts(target.work());
    c.workers.each(parts, [&](unsigned part) {
      segment_part_of(target, part, parts).each(target, [&](int32_t j, int32_t b, int32_t e) {
        const int32_t slice = source.offsets[j] + from.begin(j, target.lengths[j]);
        copy(in + slice + (b - target.offsets[j]), to + b, e - b);
      });
    });
    c.memory.release(v[0]);
    v[0] = made.finish();
  });
  const auto count = static_cast<std::size_t>(target.total);
  count_pass(c, count, count * 2 * size_of(s.type));
  return true;
}

bool scatter_slices(context& c, const step& s, value* v, const segment_view& source,
                    const segment_view& target) {
  const bool has_default = s.code != opcode::permute;
  const auto found =
      has_default ? slices_beside(c, v[1], source, {v, v + 2}) : slices_beside(c, v[1], source, {});
  if (!found) return false;
  const slices at = *found;
  if (!all_fit(c, at, source, target)) {
    fail_index(elements<int32_t>(c, v[1]), nullptr, source, target);
  }
  // Consecutive indices, as many as places, begin at 0, so nothing moves.
  if (s.code == opcode::permute) return true;
  with_size(s.type, [&]<class T>(T) {
    const T* const in = elements<T>(c, v[0]);
    value& before = v[2];
    const bool reuses = is_reusable(before, s.type);
    const defaults<T> rest(c, before);
    result_vector made =
        reuses ? result_vector(c, s.type, before) : result_vector(c, s.type, target.total);
    T* const to = made.data<T>();
    // The work is what is written: the slices, or everything.
    const segment_view& written = reuses ? source : target;
    const unsigned parts = c.workers.parts(written.work());
    c.workers.each(parts, [&](unsigned part) {
      segment_part_of(written, part, parts).each(written, [&](int32_t j, int32_t b, int32_t e) {
        const int32_t slice = target.offsets[j] + at.begin(j, source.lengths[j]);
        if (reuses) {
          copy(in + b, to + slice + (b - source.offsets[j]), e - b);
          return;
        }
        const int32_t begin = std::clamp(slice, b, e);
        const int32_t end = std::clamp(slice + source.lengths[j], begin, e);
        rest.write(to, b, begin);
        if (begin < end) copy(in + source.offsets[j] + (begin - slice), to + begin, end - begin);
        rest.write(to, end, e);
      });
    });
    c.memory.release(v[0]);
    v[0] = made.finish();
  });
  const auto count = static_cast<std::size_t>(target.total);
  count_pass(c, count, static_cast<std::size_t>(source.total) * 2 * size_of(s.type));
  return true;
}

}  // namespace tutti::vcode
