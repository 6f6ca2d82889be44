// SPDX-License-Identifier: Apache-2.0
// Permutes, EXTRACT and REPLACE. Indices count from the beginning of a segment and are all checked.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "machine/deferred.hpp"
#include "machine/moves.hpp"
#include "machine/operations.hpp"

namespace tutti::vcode {
namespace {

using std::int32_t;

// Indices of consecutive elements of one segment, and where they lead: to elements 0 .. limit-1.
struct indices {
  const int32_t* index;
  const std::uint8_t* flags;  // null: all
  int32_t count;
  int32_t limit;
};

bool are_below(const indices& i) {
  constexpr int32_t few = 16;
  if (i.count >= few) {
    return all_below(i.index, static_cast<std::size_t>(i.count),
                     static_cast<std::uint32_t>(i.limit));
  }
  for (int32_t k = 0; k < i.count; ++k) {
    if (!is_below(i.index[k], i.limit)) return false;
  }
  return true;
}

template <class T>
bool gather(const T* from, const indices& all, T* to) {
  if (all.flags != nullptr) {
    for (int32_t k = 0; k < all.count; ++k) {
      if (all.flags[k] != 0 && !is_below(all.index[k], all.limit)) return false;
      to[k] = all.flags[k] != 0 ? from[all.index[k]] : T{};
    }
    return true;
  }
  // First all are checked, by vector instructions, while they are in the cache.
  constexpr int32_t strip = 2048;
  for (int32_t begin = 0; begin < all.count; begin += strip) {
    const indices i{all.index + begin, nullptr, std::min(strip, all.count - begin), all.limit};
    if (!are_below(i)) return false;
    for (int32_t k = 0; k < i.count; ++k) to[begin + k] = from[i.index[k]];
  }
  return true;
}

// Writes those elements whose places are begin .. end-1 of the segment `to`. Whoever has those places writes all that
// goes there, in order: the last of two with the same index wins.
template <class T>
bool scatter(const T* from, const indices& i, T* to, int32_t begin, int32_t end) {
  const int32_t size = end - begin;
  if (size == i.limit && i.flags == nullptr) {
    for (int32_t k = 0; k < i.count; ++k) {
      if (!is_below(i.index[k], i.limit)) return false;
      to[i.index[k]] = from[k];
    }
    return true;
  }
  T nowhere;
  for (int32_t k = 0; k < i.count; ++k) {
    if (i.flags != nullptr && i.flags[k] == 0) continue;
    if (!is_below(i.index[k], i.limit)) return false;
    // Whose it is cannot be foreseen: what is another part's goes nowhere, without a branch.
    T* const place = is_below(i.index[k] - begin, size) ? to + i.index[k] : &nowhere;
    *place = from[k];
  }
  return true;
}

// Writes the same element everywhere: it does not matter who comes last.
template <class T>
bool scatter_equal(T element, const indices& i, T* to) {
  if (!are_below(i)) return false;
  for (int32_t k = 0; k < i.count; ++k) {
    // relaxed: two threads may have the same index, and write the same; the end of the region publishes it.
    std::atomic_ref<T>(to[i.index[k]]).store(element, std::memory_order_relaxed);
  }
  return true;
}

bool is_nobody_elses(const value& v) {
  return !v.is_scalar() && v.vector()->deferred != nullptr && v.vector()->references == 1;
}

// Calls visit(segment, begin, indices begin .. of one segment, how many) for all indices, by all threads. Those that
// nobody else wants are computed on the way and not stored. True if all calls returned true.
template <class Visit>
bool for_each_index(context& c, const value& index, const segment_view& segments, Visit&& visit) {
  const auto pieces = [&](const share& mine, const int32_t* first, int32_t origin) {
    bool result = true;
    mine.each(segments, [&](int32_t j, int32_t b, int32_t e) {
      result = result && visit(j, b, first + (b - origin), e - b);
    });
    return result;
  };
  if (is_nobody_elses(index)) {
    return for_each_strip(c, index.vector(), [&](int32_t begin, const void* strip, int32_t count) {
      return pieces(share_between(segments, begin, begin + count),
                    static_cast<const int32_t*>(strip), begin);
    });
  }
  const auto* const all = elements<int32_t>(c, index);
  const unsigned parts = c.workers.parts(segments.work());
  return c.workers.all(
      parts, [&](unsigned part) { return pieces(share_of(segments, part, parts), all, 0); });
}

void release_all(context& c, value* v, unsigned count) {
  for (unsigned i = 0; i < count; ++i) c.memory.release(v[i]);
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

void fail_index(const int32_t* index, const std::uint8_t* flags, const segment_view& of_index,
                const segment_view& target) {
  for (int32_t j = 0; j < of_index.count; ++j) {
    for (int32_t k = of_index.offsets[j]; k < of_index.offsets[j + 1]; ++k) {
      if ((flags != nullptr && flags[k] == 0) || is_below(index[k], target.lengths[j])) continue;
      fail(fmt::format("index {} (element {}) is outside of segment {}, whose length is {}",
                       index[k], k, j, target.lengths[j]));
    }
  }
  fail("an index is outside of its segment");
}

void run_bpermute(context& c, const step& s, value* v) {
  const bool flagged = s.code == opcode::bfpermute;
  const value* const descriptors = v + (flagged ? 3 : 2);
  ++c.statistics.vector_instructions;
  {
    const segment_view source(c, descriptors[0]);
    const segment_view target(c, descriptors[1]);
    require_elements(v[0], source, "the source");
    require_elements(v[1], target, "the index");
    if (flagged) require_elements(v[2], target, "the flags");
    require_same_count(source, target);
    if (!flagged && gather_slices(c, s, v, source, target)) {
      release_all(c, v + 1, s.operands - 1U);
      return;
    }
    const auto count = static_cast<std::size_t>(target.total);
    const auto* const flags = flagged ? elements<std::uint8_t>(c, v[2]) : nullptr;
    with_size(s.type, [&]<class T>(T) {
      const T* const from = elements<T>(c, v[0]);
      result_vector made(c, s.type, target.total);
      T* const to = made.data<T>();
      const bool fits = for_each_index(
          c, v[1], target, [&](int32_t j, int32_t begin, const int32_t* index, int32_t n) {
            return gather(from + source.offsets[j],
                          {index, flags == nullptr ? nullptr : flags + begin, n, source.lengths[j]},
                          to + begin);
          });
      if (!fits) fail_index(elements<int32_t>(c, v[1]), flags, target, source);
      c.memory.release(v[0]);
      v[0] = made.finish();
    });
    count_pass(c, count, count * (2 * size_of(s.type) + 4 + (flagged ? 1 : 0)));
  }
  release_all(c, v + 1, s.operands - 1U);
}

void run_permute(context& c, const step& s, value* v) {
  const bool flagged = s.code == opcode::fpermute || s.code == opcode::dfpermute;
  const bool has_default = s.code == opcode::dpermute || s.code == opcode::dfpermute;
  const unsigned at_default = flagged ? 3 : 2;
  const value* const descriptors = v + at_default + (has_default ? 1 : 0);
  ++c.statistics.vector_instructions;
  {
    const segment_view source(c, descriptors[0]);
    const segment_view target(c, descriptors[s.code == opcode::permute ? 0 : 1]);
    require_elements(v[0], source, "the source");
    require_elements(v[1], source, "the index");
    if (flagged) require_elements(v[2], source, "the flags");
    if (has_default) require_elements(v[at_default], target, "the default");
    require_same_count(source, target);
    if (!flagged && scatter_slices(c, s, v, source, target)) {
      release_all(c, v + 1, s.operands - 1U);
      return;
    }
    if (s.code == opcode::permute && c.options.check) {
      require_permutation(c, elements<int32_t>(c, v[1]), source);
    }
    if (s.code == opcode::dfpermute && c.options.check) {
      require_elements(v[1], target, "the index");
    }
    with_size(s.type, [&]<class T>(T) {
      const value before = has_default ? v[at_default] : value();
      const bool reuses = has_default && is_reusable(before, s.type);
      const T* const defaults = has_default ? elements<T>(c, before) : nullptr;
      result_vector made =
          reuses ? result_vector(c, s.type, v[at_default]) : result_vector(c, s.type, target.total);
      T* const to = made.data<T>();
      const auto write_defaults = [&](const share& mine) {
        const auto begin = static_cast<std::size_t>(mine.begin);
        const std::size_t bytes = static_cast<std::size_t>(mine.end - mine.begin) * sizeof(T);
        if (bytes == 0 || reuses) return;
        if (defaults != nullptr) {
          std::memcpy(to + begin, defaults + begin, bytes);
        } else {  // Places that no index names are 0.
          std::memset(to + begin, 0, bytes);
        }
      };
      const unsigned parts =
          c.workers.parts(target.work() + static_cast<std::size_t>(source.total));
      const auto* const flags = flagged ? elements<std::uint8_t>(c, v[2]) : nullptr;
      bool fits = false;
      if (const value* const element = flagged ? nullptr : constant_of(v[0])) {
        T same{};
        std::memcpy(&same, element->address(), sizeof same);
        c.workers.each(parts,
                       [&](unsigned part) { write_defaults(share_of(target, part, parts)); });
        fits = for_each_index(c, v[1], source,
                              [&](int32_t j, int32_t, const int32_t* index, int32_t n) {
                                return scatter_equal(same, {index, nullptr, n, target.lengths[j]},
                                                     to + target.offsets[j]);
                              });
      } else {
        const T* const from = elements<T>(c, v[0]);
        const auto* const index = elements<int32_t>(c, v[1]);
        fits = c.workers.all(parts, [&](unsigned part) {
          const share mine = share_of(target, part, parts);
          write_defaults(mine);
          bool mine_fit = true;
          mine.each(target, [&](int32_t j, int32_t b, int32_t e) {
            const int32_t first = source.offsets[j];
            const indices all{index + first, flags == nullptr ? nullptr : flags + first,
                              source.lengths[j], target.lengths[j]};
            mine_fit = mine_fit && scatter(from + first, all, to + target.offsets[j],
                                           b - target.offsets[j], e - target.offsets[j]);
          });
          return mine_fit;
        });
      }
      if (!fits) fail_index(elements<int32_t>(c, v[1]), flags, source, target);
      c.memory.release(v[0]);
      v[0] = made.finish();
    });
    count_pass(c, static_cast<std::size_t>(target.total),
               static_cast<std::size_t>(source.total) * (2 * size_of(s.type) + 4));
  }
  release_all(c, v + 1, s.operands - 1U);
}

void run_extract(context& c, const step& s, value* v) {
  {
    const segment_view source(c, v[2]);
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
    const segment_view source(c, v[3]);
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
  release_all(c, v + 1, 3);
}

}  // namespace tutti::vcode
