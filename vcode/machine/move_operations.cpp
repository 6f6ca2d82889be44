// SPDX-License-Identifier: Apache-2.0
// BPERMUTE, BFPERMUTE, EXTRACT and REPLACE. Indices count from the beginning of a segment, and all
// are checked.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "vcode/kernels/moves.hpp"
#include "vcode/machine/deferred.hpp"
#include "vcode/machine/moves.hpp"
#include "vcode/machine/operations.hpp"

namespace tutti::vcode {
namespace {

using std::int32_t;

template <class T>
bool gather(const T* from, const indices& all, T* to) {
  if (all.flags != nullptr) {
    for (int32_t k = 0; k < all.count; ++k) {
      if (all.flags[k] != 0 && !is_below(all.index[k], all.limit)) return false;
      to[k] = all.flags[k] != 0 ? from[all.index[k]] : T{};
    }
    return true;
  }
  return all_strips(0, all.count, index_strip, [&](int32_t begin, int32_t count) {
    const indices i{all.index + begin, nullptr, count, all.limit};
    if (!are_below(i)) return false;
    if (count < least_for_a_kernel) {
      for (int32_t k = 0; k < count; ++k) to[begin + k] = from[i.index[k]];
    } else {
      gather_elements(sizeof(T), from, i.index, to + begin, static_cast<std::size_t>(count));
    }
    return true;
  });
}

// Indices that the gather can compute on the way need not be stored: it is then done at once.
bool defers_gather(const context& c, const value* v, const segment_view& source,
                   const segment_view& target) {
  return c.defer_from != 0 && static_cast<std::size_t>(target.total) >= c.defer_from &&
         source.count == 1 && !v[0].is_scalar() && !v[1].is_scalar() && !is_nobody_elses(v[1]);
}

// Checks all indices, unless they are known to be in range.
void require_indices(context& c, const value& index, const segment_view& source,
                     const segment_view& target) {
  const auto* const all = elements<int32_t>(c, index);
  block* const known = index.vector();
  if (known->bound > 0 && known->bound <= source.total) return;
  const auto count = static_cast<std::size_t>(target.total);
  const unsigned parts = c.workers.parts(count);
  if (!c.workers.all(parts, [&](unsigned part) {
        const range mine = part_of(count, part, parts);
        return all_below(all + mine.begin, mine.size(), static_cast<std::uint32_t>(source.total));
      })) {
    fail_index(all, nullptr, target, source);
  }
  if (known->bound == 0 || known->bound > source.total) known->bound = source.total;
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
    if (!flagged && defers_gather(c, v, source, target)) {
      require_indices(c, v[1], source, target);
      force(c, v[0]);
      v[0] = defer_gather(c, v[0], v[1]);
      release_all(c, v + 2, 2);
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
    // Every thread reads the element itself.
    if (source.count == 1) {
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
