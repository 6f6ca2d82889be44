// SPDX-License-Identifier: Apache-2.0
// Descriptors, and the instructions that fill segments: DIST, INDEX, LENGTH, MAKE_SEGDES, LENGTHS.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "vcode/kernels/moves.hpp"
#include "vcode/machine/deferred.hpp"
#include "vcode/machine/operations.hpp"
#include "vcode/machine/segment_fill.hpp"

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

template <class T, class Filler>
void fill_segments(context& c, const segment_view& s, T* to, Filler&& filler) {
  const unsigned parts = c.workers.parts(s.work());
  c.workers.each(parts, [&](unsigned part) {
    fill_pieces(segment_part_of(s, part, parts), s, to, 0, filler);
  });
}

bool is_deferred(const context& c, std::int32_t total) {
  // A single element is never deferred.
  return c.defer_from != 0 && total > 1 && static_cast<std::size_t>(total) >= c.defer_from;
}

// Returns the element that all places have in common, if there is one. In nested code a constant is
// a vector of equal elements.
std::optional<value> common_element(context& c, const value& values) {
  if (const value* const constant = constant_of(values)) return *constant;
  if (values.length() == 0) return std::nullopt;
  const auto* const data = elements<std::byte>(c, values);
  const std::size_t size = size_of(values.type());
  const std::size_t bytes = static_cast<std::size_t>(values.length()) * size;
  // Compares each element with the one before it.
  if (std::memcmp(data, data + size, bytes - size) != 0) return std::nullopt;
  return value::from(values.type(), data);
}

// A descriptor of several segments with one element each; DIST and INDEX return their operand.
bool is_ones(const value& descriptor) {
  return !descriptor.is_scalar() && descriptor.vector()->is_ones;
}

}  // namespace

void run_dist(context& c, const step& s, value* v) {
  const int32_t total = v[1].elements();
  require_same_length("the vector of values", v[0].length(), "the segment descriptor",
                      v[1].length());
  if (v[0].is_scalar() && total == 1) return;
  ++c.statistics.vector_instructions;
  if (v[0].is_scalar() && is_deferred(c, total)) {
    v[0] = defer_constant(c, v[0], total);
    return;
  }
  if (is_ones(v[1])) {
    c.memory.release(v[1]);
    return;
  }
  if (is_deferred(c, total)) {
    if (const auto element = common_element(c, v[0])) {
      c.memory.release(v[0]);
      c.memory.release(v[1]);
      v[0] = defer_constant(c, *element, total);
    } else {
      v[0] = defer_distribution(c, v[0], v[1]);
    }
    return;
  }
  {
    const segment_view segments(c, v[1]);
    with_type(s.type, [&]<class T>(T) {
      const T* const values = elements<T>(c, v[0]);
      result_vector made(c, s.type, total);
      fill_segments(c, segments, made.data<T>(), repeated(values));
      c.memory.release(v[0]);
      v[0] = made.finish();
    });
    const auto count = static_cast<std::size_t>(total);
    count_pass(c, count, count * size_of(s.type));
  }
  c.memory.release(v[1]);
}

void run_index(context& c, const step&, value* v) {
  const int32_t total = v[2].elements();
  const int32_t segment_count = v[2].length();
  require_same_length("the vector of starts", v[0].length(), "the segment descriptor",
                      segment_count);
  require_same_length("the vector of strides", v[1].length(), "the segment descriptor",
                      segment_count);
  // The result is the start itself.
  if (v[0].is_scalar() && total == 1) return;
  ++c.statistics.vector_instructions;
  if (v[0].is_scalar() && is_deferred(c, total)) {
    v[0] = defer_progression(c, v[0].integer(), v[1].integer(), total);
    return;
  }
  if (is_ones(v[2])) {
    c.memory.release(v[1]);
    c.memory.release(v[2]);
    return;
  }
  if (is_deferred(c, total)) {
    v[0] = defer_progressions(c, v[0], v[1], v[2]);
    return;
  }
  {
    const segment_view segments(c, v[2]);
    const auto* const start = elements<int32_t>(c, v[0]);
    const auto* const stride = elements<int32_t>(c, v[1]);
    result_vector made(c, kind::integer, total);
    fill_segments(c, segments, made.data<int32_t>(),
                  counted(start, [stride](int32_t j) { return stride[j]; }));
    const auto count = static_cast<std::size_t>(total);
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
  const auto count = static_cast<std::size_t>(lengths.length());
  if (block* const known = lengths.vector(); known->offsets != nullptr) {
    ++known->offsets->references;
    block* const made = c.memory.make_segdes(known, known->offsets, known->total);
    made->is_ones = known->is_ones;
    made->bound = known->bound - 1;
    return value(made);
  }
  // There is one offset more than there are segments.
  if (lengths.length() == std::numeric_limits<int32_t>::max()) {
    fail(fmt::format("a descriptor has at most {} segments", lengths.length() - 1));
  }
  if (const value* const constant = constant_of(lengths)) {
    // For equal lengths, no array is written until one is needed.
    const int32_t each = constant->integer();
    const std::int64_t total = static_cast<std::int64_t>(each) * lengths.length();
    if (each < 0 || total > std::numeric_limits<int32_t>::max()) {
      fail_length(elements<int32_t>(c, lengths), count);
    }
    const value offsets = defer_progression(c, 0, each, lengths.length() + 1);
    block* const made =
        c.memory.make_segdes(lengths.vector(), offsets.vector(), static_cast<int32_t>(total));
    made->is_ones = each == 1;
    made->bound = each;
    return value(made);
  }
  const auto* const data = elements<int32_t>(c, lengths);
  const unsigned parts = c.workers.parts(count);
  const scratch_array<lengths_summary> sums(c.memory, parts);
  const bool fits = c.workers.all(parts, [&](unsigned part) {
    const range mine = part_of(count, part, parts);
    sums[part] = summarize_lengths(data + mine.begin, mine.size());
    return sums[part].signs >= 0;
  });
  std::int64_t total = 0;
  int32_t longest = 0;
  bool is_ones = true;
  for (unsigned part = 0; part < parts; ++part) {
    total += sums[part].total;
    longest = std::max(longest, sums[part].longest);
    const bool is_empty = part_of(count, part, parts).size() == 0;
    is_ones = is_ones && (is_empty || (sums[part].longest == 1 && sums[part].shortest == 1));
  }
  if (!fits || total > std::numeric_limits<int32_t>::max()) fail_length(data, count);
  block* offsets = nullptr;
  if (is_ones && is_deferred(c, lengths.length())) {
    offsets = defer_progression(c, 0, 1, lengths.length() + 1).vector();
    count_pass(c, count, count * 4);
  } else {
    offsets = c.memory.make(kind::integer, static_cast<int32_t>(count + 1));
    auto* const to = offsets->as<int32_t>();
    c.workers.each(parts, [&](unsigned part) {
      const range mine = part_of(count, part, parts);
      std::int64_t before = 0;
      for (unsigned p = 0; p < part; ++p) before += sums[p].total;
      const int32_t at = write_offsets(data + mine.begin, mine.size(), static_cast<int32_t>(before),
                                       to + mine.begin);
      if (part + 1 == parts) to[count] = at;
    });
    count_pass(c, count, 3 * count * 4);
  }
  block* const made = c.memory.make_segdes(lengths.vector(), offsets, static_cast<int32_t>(total));
  made->is_ones = is_ones;
  made->bound = longest;
  // A loop makes the same descriptor again and again.
  block* const known = lengths.vector();
  if (longest < std::numeric_limits<int32_t>::max()) {
    ++offsets->references;
    known->offsets = offsets;
    known->total = made->total;
    known->is_ones = is_ones;
    known->bound = longest + 1;
  }
  return value(made);
}

}  // namespace tutti::vcode
