// SPDX-License-Identifier: Apache-2.0
// Scans and reductions along segments, in two sweeps where several threads share a segment.
#include <cstring>
#include <vector>

#include "vcode/machine/deferred.hpp"
#include "vcode/machine/operations.hpp"

namespace tutti::vcode {
namespace {

constexpr auto block_length = static_cast<std::int32_t>(block_elements);

// The segments that are cut between parts, and the positions of their blocks' values in the scratch
// array.
class shared_segments {
 public:
  shared_segments(const segment_view& s, unsigned parts) {
    for (unsigned part = 1; part < parts; ++part) {
      const segment_part mine = segment_part_of(s, part, parts, block_length);
      if (mine.head.empty()) continue;
      if (!list_.empty() && list_.back().segment == mine.head.segment) continue;
      const std::int32_t length = s.lengths[mine.head.segment];
      list_.push_back({mine.head.segment, blocks_});
      blocks_ += (static_cast<std::size_t>(length) + block_elements - 1) / block_elements;
    }
  }
  bool empty() const { return list_.empty(); }
  std::size_t blocks() const { return blocks_; }
  struct entry {
    std::int32_t segment;
    std::size_t first_block;
  };
  const std::vector<entry>& list() const { return list_; }
  std::size_t first_block(std::int32_t segment) const {
    for (const entry& each : list_) {
      if (each.segment == segment) return each.first_block;
    }
    return 0;
  }

 private:
  std::vector<entry> list_;
  std::size_t blocks_ = 0;
};

// A fold of one vector; addresses its pieces.
class folding {
 public:
  folding(context& c, const step& s, const value& data, const segment_view& segments)
      : context_(c),
        fold_(*s.fold),
        type_(s.type),
        size_(size_of(s.type)),
        strict_(c.options.strict && fold_.ordered),
        segments_(segments),
        in_(elements<std::byte>(c, data)),
        // In strict order one thread folds a whole segment: the thread that has its beginning.
        align_(strict_ ? INT32_MAX : block_length),
        parts_(c.workers.parts(static_cast<std::size_t>(segments.total) +
                               static_cast<std::size_t>(segments.count))),
        shared_(segments, strict_ ? 1 : parts_),
        values_(c.memory, std::max<std::size_t>(1, shared_.blocks() * 8)) {}

  void scan(std::byte* out) {
    if (!shared_.empty()) {
      context_.workers.each(parts_, [&](unsigned part) { fold_shared_pieces(mine(part)); });
    }
    context_.workers.each(parts_, [&](unsigned part) { scan_part(mine(part), out); });
  }

  // Writes one value for each segment.
  void reduce(std::byte* out) {
    reduce_parts(out);
    if (shared_.empty()) return;
    context_.workers.each(1, [&](unsigned) {
      for (const auto& each : shared_.list()) {
        fold_blocks(segments_.lengths[each.segment], each.first_block,
                    out + static_cast<std::size_t>(each.segment) * size_);
      }
    });
  }

  // Reduces the only segment; all threads get the result.
  void reduce_to_one(void* result) {
    const scratch_array<std::byte> one(context_.memory, 8);
    reduce_parts(one.data());
    if (shared_.empty()) {
      std::memcpy(result, one.data(), size_);
    } else {
      fold_blocks(segments_.lengths[0], 0, result);
    }
  }

 private:
  segment_part mine(unsigned part) const {
    return segment_part_of(segments_, part, parts_, align_);
  }
  const std::byte* at(std::int32_t element) const {
    return in_ + static_cast<std::size_t>(element) * size_;
  }

  void reduce_parts(std::byte* out) {
    context_.workers.each(parts_, [&](unsigned part) {
      const segment_part me = mine(part);
      fold_shared_pieces(me);
      if (me.first == me.last) return;
      fold_.reduce_segments(at(segments_.offsets[me.first]), segments_.lengths + me.first,
                            static_cast<std::size_t>(me.last - me.first),
                            out + static_cast<std::size_t>(me.first) * size_, strict_);
    });
  }

  // The first sweep: folds the blocks of this part's pieces of shared segments.
  void fold_shared_pieces(const segment_part& me) {
    for (const piece& p : {me.head, me.tail}) {
      if (p.empty()) continue;
      const auto before = static_cast<std::size_t>(p.begin - segments_.offsets[p.segment]);
      std::size_t index = shared_.first_block(p.segment) + before / block_elements;
      all_strips(p.begin, p.end, block_length, [&](std::int32_t begin, std::int32_t count) {
        fold_.block(at(begin), static_cast<std::size_t>(count), &values_[index++ * 8]);
        return true;
      });
    }
  }

  // Combines the values of the blocks of the first `length` elements, from left to right.
  void fold_blocks(std::int32_t length, std::size_t first, void* result) const {
    std::memcpy(result, fold_.identity(type_), size_);
    const std::size_t count =
        (static_cast<std::size_t>(length) + block_elements - 1) / block_elements;
    // Each block value counts as a vector of one element, so that they are combined in order.
    for (std::size_t i = 0; i < count; ++i)
      fold_.reduce(&values_[(first + i) * 8], 1, result, true);
  }

  void scan_piece(const piece& p, std::byte* out) {
    if (p.empty()) return;
    double value = 0;
    fold_blocks(p.begin - segments_.offsets[p.segment], shared_.first_block(p.segment), &value);
    fold_.scan(at(p.begin), out + static_cast<std::size_t>(p.begin) * size_,
               static_cast<std::size_t>(p.size()), &value, strict_);
  }

  // The second sweep.
  void scan_part(const segment_part& me, std::byte* out) {
    scan_piece(me.head, out);
    if (me.first < me.last) {
      const std::int32_t begin = segments_.offsets[me.first];
      fold_.scan_segments(at(begin), out + static_cast<std::size_t>(begin) * size_,
                          segments_.lengths + me.first,
                          static_cast<std::size_t>(me.last - me.first), strict_);
    }
    scan_piece(me.tail, out);
  }

  context& context_;
  const fold_kernels& fold_;
  kind type_;
  std::size_t size_;
  bool strict_;
  const segment_view& segments_;
  const std::byte* in_;
  std::int32_t align_;
  unsigned parts_;
  shared_segments shared_;
  // The values of the blocks of shared segments, 8 bytes each.
  scratch_array<std::byte> values_;
};

}  // namespace

void run_scan(context& c, const step& s, value* v) {
  const segment_view segments(c, v[1]);
  require_elements(v[0], segments, "the vector");
  // Empty segments may accompany the one with the element.
  if (v[0].is_scalar()) {
    c.memory.release(v[1]);
    v[0] = value::from(s.type, s.fold->identity(s.type));
    return;
  }
  ++c.statistics.vector_instructions;
  force(c, v[0]);
  {
    folding work(c, s, v[0], segments);
    if (is_reusable(v[0], s.type)) {
      v[0].vector()->bound = 0;
      work.scan(v[0].vector()->as<std::byte>());
    } else {
      result_vector made(c, s.type, v[0].length());
      work.scan(made.data<std::byte>());
      c.memory.release(v[0]);
      v[0] = made.finish();
    }
  }
  const auto count = static_cast<std::size_t>(segments.total);
  count_pass(c, count, 2 * count * size_of(s.type));
  c.memory.release(v[1]);
}

void run_reduce(context& c, const step& s, value* v) {
  const segment_view segments(c, v[1]);
  require_elements(v[0], segments, "the vector");
  const auto count = static_cast<std::size_t>(segments.total);
  if (segments.count == 1) {
    double result = 0;
    std::memcpy(&result, s.fold->identity(s.type), size_of(s.type));
    if (v[0].is_scalar()) {
      s.fold->reduce(v[0].address(), 1, &result, true);
    } else {
      ++c.statistics.vector_instructions;
      block* const b = v[0].vector();
      if (b->deferred != nullptr && b->references == 1 && !(s.fold->ordered && c.options.strict)) {
        fold_deferred(c, b, *s.fold, &result);
      } else if (c.workers.parts(count) == 1 && !c.workers.is_spmd()) {
        s.fold->reduce(elements<void>(c, v[0]), count, &result, c.options.strict);
        count_pass(c, count, count * size_of(s.type));
      } else {
        folding(c, s, v[0], segments).reduce_to_one(&result);
        count_pass(c, count, count * size_of(s.type));
      }
    }
    c.memory.release(v[0]);
    v[0] = value::from(s.type, &result);
    return;
  }
  ++c.statistics.vector_instructions;
  if (!v[0].is_scalar() && is_nobody_elses(v[0]) && v[1].vector()->bound <= block_length) {
    result_vector made(c, s.type, segments.count);
    fold_deferred_segments(c, v[0].vector(), *s.fold, segments, made.data<std::byte>(),
                           size_of(s.type));
    c.memory.release(v[0]);
    v[0] = made.finish();
    c.memory.release(v[1]);
    return;
  }
  {
    result_vector made(c, s.type, segments.count);
    folding(c, s, v[0], segments).reduce(made.data<std::byte>());
    c.memory.release(v[0]);
    v[0] = made.finish();
  }
  count_pass(c, count, count * size_of(s.type));
  c.memory.release(v[1]);
}

}  // namespace tutti::vcode
