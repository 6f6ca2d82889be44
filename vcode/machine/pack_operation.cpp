// SPDX-License-Identifier: Apache-2.0
// PACK counts before it moves: the destination of a part depends on how many elements the parts
// before it keep.
#include "vcode/kernels/pack.hpp"
#include "vcode/machine/operations.hpp"

namespace tutti::vcode {
namespace {

using std::int32_t;

// The counts of one part.
struct packed {
  int32_t total = 0;
  int32_t head = 0;
  int32_t tail = 0;
};

int32_t count_between(const std::uint8_t* flags, int32_t begin, int32_t end) {
  constexpr int32_t few = 32;
  if (end - begin >= few) {
    return static_cast<int32_t>(count_flags(flags + begin, static_cast<std::size_t>(end - begin)));
  }
  int32_t found = 0;
  for (int32_t k = begin; k < end; ++k) found += flags[k];
  return found;
}

packed count_part(const segment_part& me, const segment_view& s, const std::uint8_t* flags,
                  int32_t* lengths) {
  packed found;
  found.head = count_between(flags, me.head.begin, me.head.end);
  found.tail = count_between(flags, me.tail.begin, me.tail.end);
  found.total = found.head + found.tail;
  for (int32_t j = me.first; j < me.last; ++j) {
    lengths[j] = count_between(flags, s.offsets[j], s.offsets[j + 1]);
    found.total += lengths[j];
  }
  return found;
}

}  // namespace

void run_pack(context& c, const step& s, value* v) {
  ++c.statistics.vector_instructions;
  value descriptor;
  {
    const segment_view segments(c, v[2]);
    require_elements(v[0], segments, "the vector");
    require_elements(v[1], segments, "the flags");
    const auto* const flags = elements<std::uint8_t>(c, v[1]);
    const unsigned parts = c.workers.parts(segments.work());
    const scratch_array<packed> found(c.memory, parts);
    const bool is_one = segments.count == 1;
    block* const lengths = is_one ? nullptr : c.memory.make(kind::integer, segments.count);
    c.workers.each(parts, [&](unsigned part) {
      int32_t only = 0;
      found[part] = count_part(segment_part_of(segments, part, parts), segments, flags,
                               is_one ? &only : lengths->as<int32_t>());
    });
    int32_t total = 0;
    for (unsigned part = 0; part < parts; ++part) total += found[part].total;

    const std::size_t size = size_of(s.type);
    const auto* const from = elements<std::byte>(c, v[0]);
    result_vector made(c, s.type, total);
    auto* const to = made.data<std::byte>();
    c.workers.each(parts, [&](unsigned part) {
      const segment_part me = segment_part_of(segments, part, parts);
      const auto begin = static_cast<std::size_t>(me.begin);
      std::size_t before = 0;
      for (unsigned p = 0; p < part; ++p) before += static_cast<std::size_t>(found[p].total);
      pack_flagged(size, from + begin * size, flags + begin,
                   static_cast<std::size_t>(me.end) - begin, to + before * size,
                   static_cast<std::size_t>(found[part].total));
    });
    c.memory.release(v[0]);
    v[0] = made.finish();

    if (is_one) {
      descriptor = value::one_segment(total);
    } else {
      // The cut segments: at most one for each limit between parts.
      c.workers.each(1, [&](unsigned) {
        auto* const each = lengths->as<int32_t>();
        for (unsigned part = 0; part < parts; ++part) {
          const segment_part me = segment_part_of(segments, part, parts);
          if (!me.head.empty()) each[me.head.segment] += found[part].head;
          if (!me.tail.empty()) each[me.tail.segment] = found[part].tail;
        }
      });
      descriptor = make_segdes(c, value(lengths));
    }
    const auto count = static_cast<std::size_t>(segments.total);
    count_pass(c, count, count * (size + 2) + static_cast<std::size_t>(total) * size);
  }
  c.memory.release(v[1]);
  c.memory.release(v[2]);
  v[1] = descriptor;
}

}  // namespace tutti::vcode
