// SPDX-License-Identifier: Apache-2.0
// Builds chains of deferred instructions and computes them strip by strip.
#include "vcode/machine/deferred.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "vcode/kernels/moves.hpp"
#include "vcode/kernels/pairs.hpp"
#include "vcode/machine/segment_fill.hpp"

namespace tutti::vcode {
namespace {

// A longer chain would keep too many operands alive, and its strips would not fit in the cache.
constexpr std::uint16_t longest_chain = 48;
constexpr std::uint16_t long_operand = 8;

constexpr std::size_t strip = block_elements;
// Strip buffers begin at different offsets within a page. Otherwise the processor would mistake
// loads of one buffer for loads of what it just stored to another (4 KiB aliasing).
constexpr std::size_t buffer_bytes = strip * 8 + 5 * 64;

// The location of one operand or result of a planned instruction: memory, or one of the part's
// buffers.
struct location {
  std::byte* memory = nullptr;
  // The buffer, if `memory` is null.
  std::size_t buffer = 0;
  // Bytes of an element.
  std::size_t size = 0;

  std::byte* at(std::size_t element, std::byte* buffers) const {
    return memory != nullptr ? memory + element * size : buffers + buffer * buffer_bytes;
  }
};

// A vector that is read from beginning to end, and the bytes of an element.
struct stream {
  const std::byte* memory;
  std::size_t size;
};

struct planned {
  block* result;
  // The number of uses by later instructions of the plan.
  std::uint32_t uses = 0;
  bool is_stored = false;
  // A later instruction computes it on the way.
  bool is_merged = false;
  // For a chain.
  elementwise_kernel kernel = nullptr;
  location to;
  location from[3];
};

template <class T>
void fill(std::byte* to, std::size_t count, T element) {
  T* const out = reinterpret_cast<T*>(to);
  for (std::size_t i = 0; i < count; ++i) out[i] = element;
}

void fill_constant(const fusable& f, std::byte* to, std::size_t count) {
  switch (f.operand[0].type()) {
    case kind::real: return fill(to, count, f.operand[0].real());
    case kind::boolean: return fill<std::uint8_t>(to, count, f.operand[0].boolean() ? 1 : 0);
    default: return fill(to, count, f.operand[0].integer());
  }
}

void fill_progression(const fusable& f, std::byte* to, std::size_t from, std::size_t count) {
  const progression elements(f.operand[0].integer(), f.operand[1].integer());
  elements.write(reinterpret_cast<std::int32_t*>(to), static_cast<std::int32_t>(from),
                 static_cast<std::int32_t>(count));
}

void fill_distribution(const fusable& f, std::byte* to, std::int32_t from, std::int32_t count) {
  const segment_view segments(f.operand[1]);
  const segment_part mine = segment_part_between(segments, from, from + count);
  const block& values = *f.operand[0].vector();
  const auto fill_with = [&]<class T>(T) {
    fill_pieces(mine, segments, reinterpret_cast<T*>(to), from, repeated(values.as<T>()));
  };
  switch (values.type) {
    case kind::real: return fill_with(double{});
    case kind::boolean: return fill_with(std::uint8_t{});
    default: return fill_with(std::int32_t{});
  }
}

void fill_progressions(const fusable& f, std::byte* to, std::int32_t from, std::int32_t count) {
  const segment_view segments(f.operand[2]);
  const segment_part mine = segment_part_between(segments, from, from + count);
  auto* const out = reinterpret_cast<std::int32_t*>(to);
  const auto* const starts = f.operand[0].vector()->as<std::int32_t>();
  if (f.operand[1].is_scalar()) {
    const std::int32_t stride = f.operand[1].integer();
    fill_pieces(mine, segments, out, from,
                counted(starts, [stride](std::int32_t) { return stride; }));
  } else {
    const auto* const strides = f.operand[1].vector()->as<std::int32_t>();
    fill_pieces(mine, segments, out, from,
                counted(starts, [strides](std::int32_t j) { return strides[j]; }));
  }
}

// Everything that must be computed for one vector, in order.
class plan {
 public:
  // If `stores`, writes the elements of `root` to memory; otherwise each strip is used once and
  // dropped.
  plan(context& c, block* root, bool stores) : context_(c) {
    visit(root);
    for (planned& each : steps_) {
      // Another value refers to this result, so its elements will be needed too.
      each.is_stored = each.result == root ? stores : each.result->references > each.uses;
    }
    if (stores) reuse_operand();
    for (planned& each : steps_) place(each);
    for (planned& each : steps_) merge_operand(each);
    for (const planned& each : steps_) note_streams(each);
    touch_fresh(c, static_cast<std::size_t>(root->length));
  }

  // Calls each_strip(index, elements of the root, count) after each strip; returns true if all
  // calls returned true.
  template <class EachStrip>
  bool run(EachStrip&& each_strip) {
    const auto count = static_cast<std::size_t>(steps_.back().result->length);
    const std::size_t strips = (count + strip - 1) / strip;
    const unsigned parts = context_.workers.parts(count, steps_.size());
    const scratch_array<std::byte> buffers(context_.memory, parts * (buffers_ + 1) * buffer_bytes);
    const bool result = context_.workers.all(parts, [&](unsigned part) {
      std::byte* const mine = buffers.data() + part * (buffers_ + 1) * buffer_bytes;
      const std::size_t first = strips * part / parts;
      const std::size_t last = strips * (part + 1) / parts;
      fill_constants(mine);
      for (std::size_t s = first; s < last; ++s) {
        const std::size_t begin = s * strip;
        const std::size_t size = std::min(strip, count - begin);
        fetch(begin + size, std::min(count, begin + 2 * size));
        for (const planned& each : steps_) compute(each, begin, size, mine);
        if (!each_strip(s, steps_.back().to.at(begin, mine), size)) return false;
      }
      return true;
    });
    count_work(count);
    return result;
  }

  // Does the same in strips of whole segments; each_strip(first segment, last, elements).
  template <class EachStrip>
  void run_segments(const segment_view& segments, EachStrip&& each_strip) {
    const auto count = static_cast<std::size_t>(segments.total);
    const unsigned parts = context_.workers.parts(count, steps_.size());
    const scratch_array<std::byte> buffers(context_.memory, parts * (buffers_ + 1) * buffer_bytes);
    context_.workers.each(parts, [&](unsigned part) {
      std::byte* const mine = buffers.data() + part * (buffers_ + 1) * buffer_bytes;
      const segment_part whole = segment_part_of(segments, part, parts, INT32_MAX);
      fill_constants(mine);
      std::int32_t first = whole.first;
      while (first < whole.last) {
        const std::int32_t begin = segments.offsets[first];
        // At most `strip` segments are looked at, as empty ones take no room.
        constexpr auto most = static_cast<std::int32_t>(strip);
        const std::int32_t* const ends = segments.offsets;
        const auto last = static_cast<std::int32_t>(
            std::partition_point(ends + first + 2,
                                 ends + std::min(whole.last - first, most) + first + 1,
                                 [&](std::int32_t end) { return end - begin <= most; }) -
            ends - 1);
        const auto from = static_cast<std::size_t>(begin);
        const auto size = static_cast<std::size_t>(segments.offsets[last] - begin);
        if (size > 0) {
          fetch(from + size, std::min(count, from + 2 * size));
          for (const planned& each : steps_) compute(each, from, size, mine);
        }
        each_strip(first, last, steps_.back().to.at(from, mine));
        first = last;
      }
    });
    count_work(count);
  }

  // Attaches the elements to their blocks and releases the operands.
  void finish() {
    std::vector<block*> stored;
    for (const planned& each : steps_) {
      if (each.is_stored) stored.push_back(each.result);
    }
    for (block* const each : stored) context_.memory.drop_deferred(each);
  }

 private:
  planned& visit(block* b) {
    for (planned& each : steps_) {
      if (each.result == b) return each;
    }
    const fusable& f = *b->deferred;
    if (f.source == source_kind::chain) {
      for (unsigned i = 0; i < f.operands; ++i) {
        block* const operand = f.operand[i].vector();
        if (operand->deferred != nullptr) ++visit(operand).uses;
      }
    }
    steps_.push_back({b, 0, false, false, f.kernel, {}, {}});
    return steps_.back();
  }

  // Lets the result overwrite an operand that only the plan refers to; in each strip the result is
  // written last.
  void reuse_operand() {
    block* const root = steps_.back().result;
    for (const planned& each : steps_) {
      const fusable& f = *each.result->deferred;
      if (f.source != source_kind::chain) continue;
      for (unsigned i = 0; i < f.operands; ++i) {
        block* const operand = f.operand[i].vector();
        if (operand->deferred != nullptr || operand->references != 1 || !operand->owns_data ||
            size_of(operand->type) != size_of(root->type)) {
          continue;
        }
        root->data = operand->data;
        root->units = operand->units;
        root->owns_data = true;
        operand->owns_data = false;
        return;
      }
    }
  }

  void place(planned& p) {
    const fusable& f = *p.result->deferred;
    p.to.size = size_of(p.result->type);
    if (p.is_stored) {
      if (p.result->data == nullptr) context_.memory.give_data(p.result);
      p.to.memory = p.result->as<std::byte>();
    } else {
      p.to.buffer = buffers_++;
    }
    if (f.source != source_kind::chain) return;
    for (unsigned i = 0; i < f.operands; ++i) {
      block* const operand = f.operand[i].vector();
      if (operand->deferred == nullptr) {
        p.from[i] = {operand->as<std::byte>(), 0, size_of(operand->type)};
      } else {
        p.from[i] = visit(operand).to;
        if (i == 1 && f.by_constant != nullptr &&
            operand->deferred->source == source_kind::constant) {
          p.kernel = f.by_constant;
        }
      }
    }
  }

  // Lets a kernel of two instructions compute one operand of `outer` too, if nothing else needs it.
  void merge_operand(planned& outer) {
    const fusable& f = *outer.result->deferred;
    if (f.source != source_kind::chain || f.operands != 2 || outer.kernel != f.kernel) return;
    for (unsigned i = 0; i < 2; ++i) {
      block* const operand = f.operand[i].vector();
      if (operand->deferred == nullptr || operand->deferred->source != source_kind::chain) continue;
      planned& inner = visit(operand);
      const fusable& g = *operand->deferred;
      if (inner.uses != 1 || inner.is_stored || inner.kernel != g.kernel) continue;
      const elementwise_kernel both = find_pair(f.code, f.type, g.code, g.type, i == 0);
      if (both == nullptr) continue;
      location from[4];
      unsigned count = 0;
      if (i == 1) from[count++] = outer.from[0];
      for (unsigned k = 0; k < g.operands; ++k) from[count++] = inner.from[k];
      if (i == 0) from[count++] = outer.from[1];
      std::copy_n(from, 3, outer.from);
      outer.kernel = both;
      inner.is_merged = true;
      return;
    }
  }

  // Notes the long vectors that the plan reads from beginning to end.
  void note_streams(const planned& p) {
    constexpr std::size_t beyond_cache = std::size_t{1} << 19;
    const auto note = [&](const std::byte* memory, std::size_t size) {
      const auto bytes = static_cast<std::size_t>(p.result->length) * size;
      if (memory != nullptr && bytes >= beyond_cache) streams_.push_back({memory, size});
    };
    const fusable& f = *p.result->deferred;
    if (f.source == source_kind::gather) note(f.operand[1].vector()->as<std::byte>(), 4);
    if (f.source != source_kind::chain) return;
    for (unsigned i = 0; i < f.operands; ++i) {
      const block& operand = *f.operand[i].vector();
      if (operand.deferred == nullptr) note(operand.as<std::byte>(), size_of(operand.type));
    }
  }

  // The processor's prefetcher begins anew with every strip of every vector, so the next strip is
  // fetched meanwhile.
  void fetch(std::size_t begin, std::size_t end) const {
    constexpr std::size_t line = 64;
    for (const stream& each : streams_) {
      const std::byte* const last = each.memory + end * each.size;
      for (const std::byte* at = each.memory + begin * each.size; at < last; at += line) {
        __builtin_prefetch(at, 0, 2);
      }
    }
  }

  void fill_constants(std::byte* buffers) const {
    for (const planned& each : steps_) {
      if (each.result->deferred->source == source_kind::constant && each.to.memory == nullptr) {
        fill_constant(*each.result->deferred, each.to.at(0, buffers), strip);
      }
    }
  }

  static void compute(const planned& p, std::size_t begin, std::size_t size, std::byte* buffers) {
    if (p.is_merged) return;
    const fusable& f = *p.result->deferred;
    std::byte* const to = p.to.at(begin, buffers);
    switch (f.source) {
      case source_kind::chain:
        p.kernel(p.from[0].at(begin, buffers), p.from[1].at(begin, buffers),
                 p.from[2].at(begin, buffers), to, size);
        break;
      case source_kind::gather: {
        const block& source = *f.operand[0].vector();
        const block& index = *f.operand[1].vector();
        gather_elements(p.to.size, source.data, index.as<std::int32_t>() + begin, to, size);
        break;
      }
      case source_kind::constant:
        if (p.to.memory != nullptr) fill_constant(f, to, size);
        break;
      case source_kind::progression: fill_progression(f, to, begin, size); break;
      case source_kind::distribution:
        fill_distribution(f, to, static_cast<std::int32_t>(begin), static_cast<std::int32_t>(size));
        break;
      case source_kind::progressions:
        fill_progressions(f, to, static_cast<std::int32_t>(begin), static_cast<std::int32_t>(size));
        break;
    }
  }

  void count_work(std::size_t count) const {
    std::size_t bytes = 0;
    // A strip that is read twice comes from the cache the second time.
    std::vector<const std::byte*> read;
    for (const planned& each : steps_) {
      if (each.is_stored) bytes += each.to.size;
      if (each.result->deferred->source == source_kind::gather) bytes += 4 + each.to.size;
      for (const location& from : each.from) {
        if (from.memory == nullptr || is_result(from.memory) ||
            std::find(read.begin(), read.end(), from.memory) != read.end()) {
          continue;
        }
        read.push_back(from.memory);
        bytes += from.size;
      }
    }
    count_pass(context_, count, count * bytes);
    context_.statistics.elements += count * (steps_.size() - 1);
    context_.statistics.fused += steps_.size() - 1;
  }

  bool is_result(const std::byte* memory) const {
    return std::any_of(steps_.begin(), steps_.end(),
                       [&](const planned& p) { return p.to.memory == memory; });
  }

  context& context_;
  std::vector<planned> steps_;
  std::size_t buffers_ = 0;
  std::vector<stream> streams_;
};

value deferred_vector(context& c, kind type, std::int32_t length, source_kind source,
                      fusable*& made) {
  block* const b = c.memory.make_deferred(type, length);
  made = b->deferred;
  made->source = source;
  return value(b);
}

// Returns the stride that all segments have in common, if there is one.
std::optional<std::int32_t> common_stride(context& c, const value& strides) {
  if (const value* const constant = constant_of(strides)) return constant->integer();
  const auto* const each = elements<std::int32_t>(c, strides);
  const std::int32_t first = each[0];
  for (std::int32_t j = 1; j < strides.length(); ++j) {
    if (each[j] != first) return std::nullopt;
  }
  return first;
}

}  // namespace

value defer_elementwise(context& c, const step& s, value* operands) {
  std::size_t size = 1;
  for (unsigned i = 0; i < s.operands; ++i) {
    const block* const b = operands[i].vector();
    if (b->deferred != nullptr) size += b->deferred->size;
  }
  if (size > longest_chain) {
    size = 1;
    for (unsigned i = 0; i < s.operands; ++i) {
      block* const b = operands[i].vector();
      if (b->deferred != nullptr && b->deferred->size >= long_operand) force(c, b);
      if (b->deferred != nullptr) size += b->deferred->size;
    }
  }
  fusable* made = nullptr;
  const value result = deferred_vector(c, s.result, operands[0].length(), source_kind::chain, made);
  made->operands = s.operands;
  made->size = static_cast<std::uint16_t>(size);
  made->kernel = s.vector;
  made->by_constant = s.by_constant;
  made->code = s.code;
  made->type = s.type;
  for (unsigned i = 0; i < s.operands; ++i) made->operand[i] = operands[i];
  return result;
}

value defer_gather(context& c, value source, value index) {
  fusable* made = nullptr;
  const value result = deferred_vector(c, source.type(), index.length(), source_kind::gather, made);
  made->operands = 2;
  made->operand[0] = source;
  made->operand[1] = index;
  return result;
}

value defer_constant(context& c, value element, std::int32_t length) {
  fusable* made = nullptr;
  const value result = deferred_vector(c, element.type(), length, source_kind::constant, made);
  made->operand[0] = element;
  return result;
}

value defer_progression(context& c, std::int32_t start, std::int32_t stride, std::int32_t length) {
  fusable* made = nullptr;
  const value result = deferred_vector(c, kind::integer, length, source_kind::progression, made);
  made->operand[0] = value::of(start);
  made->operand[1] = value::of(stride);
  return result;
}

value defer_distribution(context& c, value values, value descriptor) {
  force(c, values);
  const segment_view segments(c, descriptor);
  fusable* made = nullptr;
  const value result =
      deferred_vector(c, values.type(), segments.total, source_kind::distribution, made);
  made->operands = 2;
  made->operand[0] = values;
  made->operand[1] = descriptor;
  return result;
}

value defer_progressions(context& c, value starts, value strides, value descriptor) {
  force(c, starts);
  const segment_view segments(c, descriptor);
  if (const auto stride = common_stride(c, strides)) {
    c.memory.release(strides);
    strides = value::of(*stride);
  }
  fusable* made = nullptr;
  const value result =
      deferred_vector(c, kind::integer, segments.total, source_kind::progressions, made);
  made->operands = 3;
  made->operand[0] = starts;
  made->operand[1] = strides;
  made->operand[2] = descriptor;
  return result;
}

const value* constant_of(const value& v) {
  if (v.is_scalar()) return nullptr;
  const fusable* const f = v.vector()->deferred;
  return f != nullptr && f->source == source_kind::constant ? &f->operand[0] : nullptr;
}

void force(context& c, block* b) {
  plan work(c, b, true);
  work.run([](std::size_t, const std::byte*, std::size_t) { return true; });
  work.finish();
}

bool for_each_strip(
    context& c, block* b,
    const std::function<bool(std::int32_t begin, const void* elements, std::int32_t count)>& act) {
  plan work(c, b, false);
  const bool result = work.run([&](std::size_t s, const std::byte* elements, std::size_t count) {
    return act(static_cast<std::int32_t>(s * strip), elements, static_cast<std::int32_t>(count));
  });
  work.finish();
  return result;
}

void fold_deferred(context& c, block* b, const fold_kernels& fold, void* result) {
  const std::size_t strips = (static_cast<std::size_t>(b->length) + strip - 1) / strip;
  const scratch_array<std::byte> values(c.memory, strips * 8);
  // The order of a short segment begins with the identity once, but a block begins with it as well.
  // With NaN a second identity can change the result.
  const bool is_short = static_cast<std::size_t>(b->length) < lanes;
  plan work(c, b, false);
  work.run([&](std::size_t s, const std::byte* elements, std::size_t count) {
    if (is_short) {
      fold.reduce(elements, count, result, false);
    } else {
      fold.block(elements, count, &values[s * 8]);
    }
    return true;
  });
  for (std::size_t s = 0; s < strips && !is_short; ++s) {
    fold.reduce(&values[s * 8], 1, result, true);
  }
  work.finish();
}

void fold_deferred_segments(context& c, block* b, const fold_kernels& fold,
                            const segment_view& segments, std::byte* out, std::size_t size) {
  plan work(c, b, false);
  work.run_segments(segments, [&](std::int32_t first, std::int32_t last,
                                  const std::byte* elements) {
    fold.reduce_segments(elements, segments.lengths + first, static_cast<std::size_t>(last - first),
                         out + static_cast<std::size_t>(first) * size, c.options.strict);
  });
  work.finish();
}

}  // namespace tutti::vcode
