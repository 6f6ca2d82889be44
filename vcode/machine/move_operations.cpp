// SPDX-License-Identifier: Apache-2.0
// Permutes, EXTRACT and REPLACE. Indices count from the beginning of a segment and are all checked.
#include <fmt/format.h>

#include <cstring>

#include "machine/operations.hpp"

namespace tutti::vcode {
namespace {

using std::int32_t;

// Moving does not look at elements: three sizes are enough. Doubles may live in these integers' places.
template <class Visit>
void with_size(kind type, Visit&& visit) {
  switch (size_of(type)) {
    case 8: return visit(std::uint64_t{});
    case 4: return visit(std::uint32_t{});
    default: return visit(std::uint8_t{});
  }
}

bool is_below(int32_t index, int32_t limit) {
  return static_cast<std::uint32_t>(index) < static_cast<std::uint32_t>(limit);
}

// Says which index was the first that is wrong; there is one.
[[noreturn]] void fail_index(const int32_t* index, const std::uint8_t* flags,
                             const segment_view& of_index, const segment_view& target) {
  for (int32_t j = 0; j < of_index.count; ++j) {
    for (int32_t k = of_index.offsets[j]; k < of_index.offsets[j + 1]; ++k) {
      if ((flags != nullptr && flags[k] == 0) || is_below(index[k], target.lengths[j])) continue;
      fail(fmt::format("index {} (element {}) is outside of segment {}, whose length is {}",
                       index[k], k, j, target.lengths[j]));
    }
  }
  fail("an index is outside of its segment");
}

struct moves {
  const int32_t* index;
  const std::uint8_t* flags;  // null: all
  const segment_view& source;
  const segment_view& target;
};

// Elements begin .. end-1 of the result, in one segment.
template <class T>
bool gather(const T* from, T* to, const moves& m, int32_t segment, int32_t begin, int32_t end) {
  from += m.source.offsets[segment];
  const int32_t limit = m.source.lengths[segment];
  if (m.flags == nullptr) {
    // First all are checked, by vector instructions, while they are in the cache.
    constexpr int32_t strip = 2048;
    for (int32_t b = begin; b < end; b += strip) {
      const int32_t e = std::min(end, b + strip);
      const auto count = static_cast<std::size_t>(e - b);
      if (count < 16) {
        for (int32_t k = b; k < e; ++k) {
          if (!is_below(m.index[k], limit)) return false;
        }
      } else if (!all_below(m.index + b, count, static_cast<std::uint32_t>(limit))) {
        return false;
      }
      for (int32_t k = b; k < e; ++k) to[k] = from[m.index[k]];
    }
    return true;
  }
  for (int32_t k = begin; k < end; ++k) {
    if (m.flags[k] != 0 && !is_below(m.index[k], limit)) return false;
    to[k] = m.flags[k] != 0 ? from[m.index[k]] : T{};
  }
  return true;
}

// Writes those elements of a segment of the source whose places in the result are begin .. end-1. Whoever has
// those places writes all that goes there, in order: the last of two with the same index wins.
template <class T>
bool scatter(const T* from, T* to, const moves& m, int32_t segment, int32_t begin, int32_t end) {
  const int32_t base = m.target.offsets[segment];
  const int32_t limit = m.target.lengths[segment];
  const int32_t low = begin - base;
  const int32_t size = end - begin;
  const int32_t last = m.source.offsets[segment + 1];
  if (size == limit && m.flags == nullptr) {
    for (int32_t k = m.source.offsets[segment]; k < last; ++k) {
      if (!is_below(m.index[k], limit)) return false;
      to[base + m.index[k]] = from[k];
    }
    return true;
  }
  for (int32_t k = m.source.offsets[segment]; k < last; ++k) {
    if (m.flags != nullptr && m.flags[k] == 0) continue;
    if (!is_below(m.index[k], limit)) return false;
    if (is_below(m.index[k] - low, size)) to[base + m.index[k]] = from[k];
  }
  return true;
}

void require_same_count(const segment_view& a, const segment_view& b) {
  if (a.count == b.count) return;
  fail(fmt::format("the first descriptor has {} segments, the second {}", a.count, b.count));
}

// A permutation hits every place: with as many indices as places, that is, none twice.
void require_permutation(context& c, const int32_t* index, const segment_view& s) {
  const scratch_array<std::uint8_t> seen(
      c.memory, std::max<std::size_t>(1, static_cast<std::size_t>(s.total)));
  int32_t twice = -1;
  // By one thread: this check is asked for by those who look for a mistake.
  const auto find = [&]() -> int32_t {
    std::memset(seen.data(), 0, static_cast<std::size_t>(s.total));
    for (int32_t j = 0; j < s.count; ++j) {
      for (int32_t k = s.offsets[j]; k < s.offsets[j + 1]; ++k) {
        if (!is_below(index[k], s.lengths[j])) return -1;  // Told better by the move itself.
        std::uint8_t& place = seen[static_cast<std::size_t>(s.offsets[j] + index[k])];
        if (place != 0) return k;
        place = 1;
      }
    }
    return -1;
  };
  twice = c.workers.agree(find);
  if (twice >= 0) {
    fail(fmt::format("not a permutation: index {} (element {}) is there twice", index[twice],
                     twice));
  }
}

}  // namespace

void run_bpermute(context& c, const step& s, value* v) {
  const bool flagged = s.code == opcode::bfpermute;
  const value* const descriptors = v + (flagged ? 3 : 2);
  ++c.statistics.vector_instructions;
  {
    const segment_view source(descriptors[0]);
    const segment_view target(descriptors[1]);
    require_elements(v[0], source, "the source");
    require_elements(v[1], target, "the index");
    if (flagged) require_elements(v[2], target, "the flags");
    require_same_count(source, target);
    const moves m{elements<int32_t>(c, v[1]), flagged ? elements<std::uint8_t>(c, v[2]) : nullptr,
                  source, target};
    const auto count = static_cast<std::size_t>(target.total);
    with_size(s.type, [&]<class T>(T) {
      const T* const from = elements<T>(c, v[0]);
      result_vector made(c, s.type, target.total);
      T* const to = made.data<T>();
      const unsigned parts = c.workers.parts(count);
      const bool fits = c.workers.all(parts, [&](unsigned part) {
        bool mine = true;
        share_of(target, part, parts).each(target, [&](int32_t j, int32_t b, int32_t e) {
          mine = mine && gather(from, to, m, j, b, e);
        });
        return mine;
      });
      if (!fits) fail_index(m.index, m.flags, target, source);
      c.memory.release(v[0]);
      v[0] = made.finish();
    });
    count_pass(c, count, count * (2 * size_of(s.type) + 4 + (flagged ? 1 : 0)));
  }
  for (unsigned i = 1; i < s.operands; ++i) c.memory.release(v[i]);
}

void run_permute(context& c, const step& s, value* v) {
  const bool flagged = s.code == opcode::fpermute || s.code == opcode::dfpermute;
  const bool has_default = s.code == opcode::dpermute || s.code == opcode::dfpermute;
  const unsigned at_default = flagged ? 3 : 2;
  const value* const descriptors = v + at_default + (has_default ? 1 : 0);
  ++c.statistics.vector_instructions;
  {
    const segment_view source(descriptors[0]);
    const segment_view target(descriptors[s.code == opcode::permute ? 0 : 1]);
    require_elements(v[0], source, "the source");
    require_elements(v[1], source, "the index");
    if (flagged) require_elements(v[2], source, "the flags");
    if (has_default) require_elements(v[at_default], target, "the default");
    require_same_count(source, target);
    const moves m{elements<int32_t>(c, v[1]), flagged ? elements<std::uint8_t>(c, v[2]) : nullptr,
                  source, target};
    if (s.code == opcode::permute && c.options.check) require_permutation(c, m.index, source);
    if (s.code == opcode::dfpermute && c.options.check) {
      require_elements(v[1], target, "the index");
    }
    const auto count = static_cast<std::size_t>(target.total);
    with_size(s.type, [&]<class T>(T) {
      const T* const from = elements<T>(c, v[0]);
      const T* const defaults = has_default ? elements<T>(c, v[at_default]) : nullptr;
      const bool reuses = has_default && is_reusable(v[at_default], s.type);
      result_vector made =
          reuses ? result_vector(c, s.type, v[at_default]) : result_vector(c, s.type, target.total);
      T* const to = made.data<T>();
      const unsigned parts = c.workers.parts(count + static_cast<std::size_t>(source.total));
      const bool fits = c.workers.all(parts, [&](unsigned part) {
        const share mine = share_of(target, part, parts);
        const auto begin = static_cast<std::size_t>(mine.begin);
        const std::size_t bytes = static_cast<std::size_t>(mine.end - mine.begin) * sizeof(T);
        if (defaults != nullptr && !reuses && bytes > 0) {
          std::memcpy(to + begin, defaults + begin, bytes);
        } else if (defaults == nullptr && bytes > 0) {  // Places that no index names are 0.
          std::memset(to + begin, 0, bytes);
        }
        bool mine_fit = true;
        mine.each(target, [&](int32_t j, int32_t b, int32_t e) {
          mine_fit = mine_fit && scatter(from, to, m, j, b, e);
        });
        return mine_fit;
      });
      if (!fits) fail_index(m.index, m.flags, source, target);
      c.memory.release(v[0]);
      v[0] = made.finish();
    });
    count_pass(c, count, static_cast<std::size_t>(source.total) * (2 * size_of(s.type) + 4));
  }
  for (unsigned i = 1; i < s.operands; ++i) c.memory.release(v[i]);
}

void run_extract(context& c, const step& s, value* v) {
  {
    const segment_view source(v[2]);
    require_elements(v[0], source, "the source");
    require_segments(v[1], source, "the index");
    const auto* const index = elements<int32_t>(c, v[1]);
    const auto outside = [&](int32_t j) {
      fail(fmt::format("index {} is outside of segment {}, whose length is {}", index[j], j,
                       source.lengths[j]));
    };
    if (source.count == 1) {  // Every thread reads it for itself.
      if (!is_below(index[0], source.total)) outside(0);
      const auto* const from = elements<std::byte>(c, v[0]);
      const value found =
          value::from(s.type, from + static_cast<std::size_t>(index[0]) * size_of(s.type));
      c.memory.release(v[0]);
      v[0] = found;
      return;
    }
    ++c.statistics.vector_instructions;
    const auto count = static_cast<std::size_t>(source.count);
    with_size(s.type, [&]<class T>(T) {
      const T* const from = elements<T>(c, v[0]);
      result_vector made(c, s.type, source.count);
      T* const to = made.data<T>();
      const unsigned parts = c.workers.parts(count);
      const bool fits = c.workers.all(parts, [&](unsigned part) {
        const range mine = part_of(count, part, parts);
        for (std::size_t j = mine.begin; j < mine.end; ++j) {
          if (!is_below(index[j], source.lengths[j])) return false;
          to[j] = from[source.offsets[j] + index[j]];
        }
        return true;
      });
      for (int32_t j = 0; !fits && j < source.count; ++j) {
        if (!is_below(index[j], source.lengths[j])) outside(j);
      }
      c.memory.release(v[0]);
      v[0] = made.finish();
    });
    count_pass(c, count, count * (2 * size_of(s.type) + 12));
  }
  c.memory.release(v[1]);
  c.memory.release(v[2]);
}

void run_replace(context& c, const step& s, value* v) {
  ++c.statistics.vector_instructions;
  {
    const segment_view source(v[3]);
    require_elements(v[0], source, "the source");
    require_segments(v[1], source, "the index");
    require_segments(v[2], source, "the vector of values");
    const auto* const index = elements<int32_t>(c, v[1]);
    const auto count = static_cast<std::size_t>(source.count);
    for (int32_t j = 0; j < source.count; ++j) {
      if (is_below(index[j], source.lengths[j])) continue;
      fail(fmt::format("index {} is outside of segment {}, whose length is {}", index[j], j,
                       source.lengths[j]));
    }
    with_size(s.type, [&]<class T>(T) {
      const T* const from = elements<T>(c, v[0]);
      const T* const values = elements<T>(c, v[2]);
      const bool reuses = is_reusable(v[0], s.type);
      result_vector made =
          reuses ? result_vector(c, s.type, v[0]) : result_vector(c, s.type, source.total);
      T* const to = made.data<T>();
      const auto total = static_cast<std::size_t>(source.total);
      if (!reuses) {
        const unsigned parts = c.workers.parts(total);
        c.workers.each(parts, [&](unsigned part) {
          const range mine = part_of(total, part, parts);
          if (mine.size() > 0)
            std::memcpy(to + mine.begin, from + mine.begin, mine.size() * sizeof(T));
        });
        count_pass(c, total, 2 * total * sizeof(T));
      }
      const unsigned parts = c.workers.parts(count);
      c.workers.each(parts, [&](unsigned part) {
        const range mine = part_of(count, part, parts);
        for (std::size_t j = mine.begin; j < mine.end; ++j) {
          to[source.offsets[j] + index[j]] = values[j];
        }
      });
      c.memory.release(v[0]);
      v[0] = made.finish();
    });
  }
  for (unsigned i = 1; i < 4; ++i) c.memory.release(v[i]);
}

}  // namespace tutti::vcode
