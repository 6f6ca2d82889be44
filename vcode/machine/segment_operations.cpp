// SPDX-License-Identifier: Apache-2.0
// Descriptors, and what fills or thins out segments: DIST, INDEX, PACK, LENGTH, MAKE_SEGDES, LENGTHS.
#include <fmt/format.h>

#include <limits>

#include "machine/deferred.hpp"
#include "machine/operations.hpp"

namespace tutti::vcode {
namespace {

using std::int32_t;

[[noreturn]] void fail_length(const int32_t* lengths, std::size_t count) {
  std::int64_t total = 0;
  for (std::size_t j = 0; j < count; ++j) {
    if (lengths[j] < 0) fail(fmt::format("segment {} has the length {}", j, lengths[j]));
    total += lengths[j];
  }
  fail(fmt::format("the segments have {} elements together: more than an INT can count", total));
}

template <class Visit>
void with_type(kind type, Visit&& visit) {
  switch (type) {
    case kind::real: return visit(double{});
    case kind::boolean: return visit(std::uint8_t{});
    default: return visit(int32_t{});
  }
}

std::size_t work_of(const segment_view& s) {
  return static_cast<std::size_t>(s.total) + static_cast<std::size_t>(s.count);
}

// element(j, k) is what stands at place k of segment j. Whole segments are written in stretches of fixed width,
// without a rest: what is too much is overwritten by the segments behind. The last ones are written exactly.
template <class T, class Element>
void fill_pieces(const share& mine, const segment_view& s, T* to, Element&& element) {
  constexpr int32_t wide = 8;
  const auto fill = [&](const piece& p) {
    const int32_t skipped = p.begin - s.offsets[p.segment];
    T* const at = to + p.begin;
    for (int32_t k = 0; k < p.size(); ++k) at[k] = element(p.segment, skipped + k);
  };
  if (!mine.head.empty()) fill(mine.head);
  const int32_t end = mine.end;
  int32_t at = mine.first < mine.last ? s.offsets[mine.first] : end;
  for (int32_t j = mine.first; j < mine.last; ++j) {
    const int32_t count = s.lengths[j];
    T* const segment = to + at;
    if (end - at - count >= wide) {
      for (int32_t k = 0; k < count; k += wide) {
        for (int32_t w = 0; w < wide; ++w) segment[k + w] = element(j, k + w);
      }
    } else {
      for (int32_t k = 0; k < count; ++k) segment[k] = element(j, k);
    }
    at += count;
  }
  if (!mine.tail.empty()) fill(mine.tail);
}

template <class T, class Element>
void fill_segments(context& c, const segment_view& s, T* to, Element&& element) {
  const unsigned parts = c.workers.parts(work_of(s));
  c.workers.each(parts,
                 [&](unsigned part) { fill_pieces(share_of(s, part, parts), s, to, element); });
}

// PACK counts before it moves: what one part found.
struct packed {
  int32_t total = 0;
  int32_t head = 0;
  int32_t tail = 0;
};

int32_t count_flags(const std::uint8_t* flags, int32_t begin, int32_t end) {
  int32_t found = 0;
  for (int32_t k = begin; k < end; ++k) found += flags[k];
  return found;
}

packed count_part(const share& me, const segment_view& s, const std::uint8_t* flags,
                  int32_t* lengths) {
  packed found;
  found.head = count_flags(flags, me.head.begin, me.head.end);
  found.tail = count_flags(flags, me.tail.begin, me.tail.end);
  found.total = found.head + found.tail;
  for (int32_t j = me.first; j < me.last; ++j) {
    lengths[j] = count_flags(flags, s.offsets[j], s.offsets[j + 1]);
    found.total += lengths[j];
  }
  return found;
}

// Without a branch for each element. Never writes at `end` or behind, where another part's elements go.
template <class T>
void move_flagged(const T* from, const std::uint8_t* flags, std::size_t count, T* to, T* end) {
  for (std::size_t k = 0; k < count && to != end; ++k) {
    *to = from[k];
    to += flags[k];
  }
}

}  // namespace

void run_dist(context& c, const step& s, value* v) {
  if (v[0].is_scalar() && v[1].is_scalar()) {
    if (v[1].integer() == 1) return;
    if (c.defer_from != 0 && static_cast<std::size_t>(v[1].integer()) >= c.defer_from) {
      ++c.statistics.vector_instructions;
      v[0] = defer_constant(c, v[0], v[1].integer());
      return;
    }
  }
  ++c.statistics.vector_instructions;
  {
    const segment_view segments(v[1]);
    require_segments(v[0], segments, "the vector of values");
    with_type(s.type, [&]<class T>(T) {
      const T* const values = elements<T>(c, v[0]);
      result_vector made(c, s.type, segments.total);
      fill_segments(c, segments, made.data<T>(),
                    [values](int32_t j, int32_t) { return values[j]; });
      c.memory.release(v[0]);
      v[0] = made.finish();
    });
    const auto count = static_cast<std::size_t>(segments.total);
    count_pass(c, count, count * size_of(s.type));
  }
  c.memory.release(v[1]);
}

void run_index(context& c, const step&, value* v) {
  if (v[2].is_scalar() && v[0].is_scalar() && v[1].is_scalar()) {
    if (v[2].integer() == 1) return;  // The start itself.
    if (c.defer_from != 0 && static_cast<std::size_t>(v[2].integer()) >= c.defer_from) {
      ++c.statistics.vector_instructions;
      v[0] = defer_progression(c, v[0].integer(), v[1].integer(), v[2].integer());
      return;
    }
  }
  ++c.statistics.vector_instructions;
  {
    const segment_view segments(v[2]);
    require_segments(v[0], segments, "the vector of starts");
    require_segments(v[1], segments, "the vector of strides");
    const auto* const start = elements<int32_t>(c, v[0]);
    const auto* const stride = elements<int32_t>(c, v[1]);
    result_vector made(c, kind::integer, segments.total);
    fill_segments(c, segments, made.data<int32_t>(), [start, stride](int32_t j, int32_t k) {
      return static_cast<int32_t>(static_cast<std::uint32_t>(start[j]) +
                                  static_cast<std::uint32_t>(stride[j]) *
                                      static_cast<std::uint32_t>(k));
    });
    const auto count = static_cast<std::size_t>(segments.total);
    count_pass(c, count, count * 4);
    c.memory.release(v[0]);
    v[0] = made.finish();
  }
  c.memory.release(v[1]);
  c.memory.release(v[2]);
}

void run_length(context& c, const step&, value* v) {
  const int32_t length = v[0].length();
  c.memory.release(v[0]);
  v[0] = value::of(length);
}

void run_lengths(context& c, const step&, value* v) {
  if (v[0].is_scalar()) {
    v[0] = value::of(v[0].integer());
    return;
  }
  const value lengths(v[0].vector()->lengths);
  store::retain(lengths);
  c.memory.release(v[0]);
  v[0] = lengths;
}

void run_make_segdes(context& c, const step&, value* v) {
  if (!v[0].is_scalar()) ++c.statistics.vector_instructions;
  v[0] = make_segdes(c, v[0]);
}

value make_segdes(context& c, value lengths) {
  if (lengths.is_scalar()) {
    if (lengths.integer() < 0) {
      const int32_t length = lengths.integer();
      fail_length(&length, 1);
    }
    return value::one_segment(lengths.integer());
  }
  const auto* const data = elements<int32_t>(c, lengths);
  const auto count = static_cast<std::size_t>(lengths.length());
  block* const offsets = c.memory.make(kind::integer, static_cast<int32_t>(count + 1));
  auto* const to = offsets->as<int32_t>();
  const unsigned parts = c.workers.parts(count);
  // Sums of lengths that are too long together still fit in these.
  const scratch_array<std::int64_t> sums(c.memory, parts);
  const bool fits = c.workers.all(parts, [&](unsigned part) {
    const range mine = part_of(count, part, parts);
    std::int64_t sum = 0;
    int32_t signs = 0;
    for (std::size_t j = mine.begin; j < mine.end; ++j) {
      signs |= data[j];
      sum += data[j];
    }
    sums[part] = sum;
    return signs >= 0;
  });
  std::int64_t total = 0;
  for (unsigned part = 0; part < parts; ++part) total += sums[part];
  if (!fits || total > std::numeric_limits<int32_t>::max()) fail_length(data, count);
  c.workers.each(parts, [&](unsigned part) {
    const range mine = part_of(count, part, parts);
    std::int64_t before = 0;
    for (unsigned p = 0; p < part; ++p) before += sums[p];
    auto at = static_cast<int32_t>(before);
    for (std::size_t j = mine.begin; j < mine.end; ++j) {
      to[j] = at;
      at += data[j];
    }
    if (part + 1 == parts) to[count] = at;
  });
  count_pass(c, count, 3 * count * 4);
  return value(c.memory.make_segdes(lengths.vector(), offsets, static_cast<int32_t>(total)));
}

void run_pack(context& c, const step& s, value* v) {
  ++c.statistics.vector_instructions;
  value descriptor;
  {
    const segment_view segments(v[2]);
    require_elements(v[0], segments, "the vector");
    require_elements(v[1], segments, "the flags");
    const auto* const flags = elements<std::uint8_t>(c, v[1]);
    const unsigned parts = c.workers.parts(work_of(segments));
    const scratch_array<packed> found(c.memory, parts);
    const bool is_one = segments.count == 1;
    block* const lengths = is_one ? nullptr : c.memory.make(kind::integer, segments.count);
    c.workers.each(parts, [&](unsigned part) {
      int32_t only = 0;
      found[part] = count_part(share_of(segments, part, parts), segments, flags,
                               is_one ? &only : lengths->as<int32_t>());
    });
    int32_t total = 0;
    for (unsigned part = 0; part < parts; ++part) total += found[part].total;
    with_type(s.type, [&]<class T>(T) {
      const T* const from = elements<T>(c, v[0]);
      result_vector made(c, s.type, total);
      T* const to = made.data<T>();
      c.workers.each(parts, [&](unsigned part) {
        const share me = share_of(segments, part, parts);
        T* at = to;
        for (unsigned p = 0; p < part; ++p) at += found[p].total;
        if (found[part].total == 0) return;
        move_flagged(from + me.begin, flags + me.begin, static_cast<std::size_t>(me.end - me.begin),
                     at, at + found[part].total);
      });
      c.memory.release(v[0]);
      v[0] = made.finish();
    });
    if (is_one) {
      descriptor = value::one_segment(total);
    } else {
      // Cut segments: few, one for each limit between parts.
      c.workers.each(1, [&](unsigned) {
        auto* const to = lengths->as<int32_t>();
        for (unsigned part = 0; part < parts; ++part) {
          const share me = share_of(segments, part, parts);
          if (!me.head.empty()) to[me.head.segment] += found[part].head;
          if (!me.tail.empty()) to[me.tail.segment] = found[part].tail;
        }
      });
      descriptor = make_segdes(c, value(lengths));
    }
    const auto count = static_cast<std::size_t>(segments.total);
    count_pass(c, count,
               count * (size_of(s.type) + 2) + static_cast<std::size_t>(total) * size_of(s.type));
  }
  c.memory.release(v[1]);
  c.memory.release(v[2]);
  v[1] = descriptor;
}

}  // namespace tutti::vcode
