// SPDX-License-Identifier: Apache-2.0
// RANK_UP and RANK_DOWN: sort keys together with their positions, digit by digit from the lowest,
// which keeps the order of equal keys. A digit that all keys share costs no pass.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "vcode/machine/operations.hpp"

namespace tutti::vcode {
namespace {

using std::int32_t;

// All threads sort a segment of at least this length together; one thread sorts a shorter one.
constexpr int32_t together_from = 1 << 15;
constexpr std::size_t insertion_up_to = 24;
// Ranking an element takes at least as long as this many elementwise instructions.
constexpr std::size_t cost_of_ranking = 64;

struct integer_keys {
  using element = int32_t;
  using packed = std::uint64_t;
  static packed pack(element e, bool down, std::uint32_t position) {
    const std::uint32_t ordered = std::bit_cast<std::uint32_t>(e) ^ 0x80000000U;
    return static_cast<packed>(down ? ~ordered : ordered) << 32 | position;
  }
  static std::uint32_t position(packed p) { return static_cast<std::uint32_t>(p); }
  static std::uint32_t key(packed p) { return static_cast<std::uint32_t>(p >> 32); }
};

// Orders by the bits of IEEE 754: -0.0 comes before 0.0, and NaNs have places too.
struct real_keys {
  using element = double;
  struct packed {
    std::uint64_t key;
    std::uint64_t place;
  };
  static packed pack(element e, bool down, std::uint32_t position) {
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    const auto bits = std::bit_cast<std::uint64_t>(e);
    const std::uint64_t ordered = (bits & sign) != 0 ? ~bits : bits | sign;
    return {down ? ~ordered : ordered, position};
  }
  static std::uint32_t position(const packed& p) { return static_cast<std::uint32_t>(p.place); }
  static std::uint64_t key(const packed& p) { return p.key; }
};

bool is_less(std::uint64_t a, std::uint64_t b) { return a < b; }
bool is_less(const real_keys::packed& a, const real_keys::packed& b) {
  return a.key != b.key ? a.key < b.key : a.place < b.place;
}

template <class Packed>
void sort_few(Packed* data, std::size_t count) {
  for (std::size_t i = 1; i < count; ++i) {
    const Packed moved = data[i];
    std::size_t at = i;
    for (; at > 0 && is_less(moved, data[at - 1]); --at) data[at] = data[at - 1];
    data[at] = moved;
  }
}

// Sorts by digits of `bits` bits. Returns `data` or `spare`, whichever has the result.
template <class Keys, unsigned bits, class Packed>
Packed* sort_digits(Packed* data, std::size_t count, Packed* spare) {
  using key = decltype(Keys::key(*data));
  constexpr unsigned digits = (8 * sizeof(key) + bits - 1) / bits;
  constexpr std::size_t values = std::size_t{1} << bits;
  const auto digit = [](const Packed& p, unsigned d) {
    return static_cast<std::size_t>(Keys::key(p) >> (d * bits)) & (values - 1);
  };
  std::array<std::array<std::uint32_t, values>, digits> counts{};
  for (std::size_t k = 0; k < count; ++k) {
    for (unsigned d = 0; d < digits; ++d) ++counts[d][digit(data[k], d)];
  }
  for (unsigned d = 0; d < digits; ++d) {
    auto& at = counts[d];
    if (at[digit(data[0], d)] == count) continue;
    std::uint32_t sum = 0;
    for (auto& each : at) sum += std::exchange(each, sum);
    for (std::size_t k = 0; k < count; ++k) spare[at[digit(data[k], d)]++] = data[k];
    std::swap(data, spare);
  }
  return data;
}

// Sorts; returns `data` or `spare`, whichever has the result.
template <class Keys, class Packed>
Packed* sort_alone(Packed* data, std::size_t count, Packed* spare) {
  // For fewer keys, 2048 counters for each digit cost more than the additional passes.
  constexpr std::size_t wide_digits_from = 4096;
  if (count > insertion_up_to) {
    return count < wide_digits_from ? sort_digits<Keys, 8>(data, count, spare)
                                    : sort_digits<Keys, 11>(data, count, spare);
  }
  sort_few(data, count);
  return data;
}

template <class Keys>
class ranking {
 public:
  using element = typename Keys::element;
  using packed = typename Keys::packed;

  ranking(context& c, const segment_view& segments, const element* in, int32_t* out, bool down)
      : context_(c),
        segments_(segments),
        in_(in),
        out_(out),
        down_(down),
        parts_(c.workers.parts(static_cast<std::size_t>(segments.total), cost_of_ranking)),
        keys_(c.memory, static_cast<std::size_t>(segments.total)),
        merged_(c.memory, static_cast<std::size_t>(segments.total)) {}

  void run() {
    const int32_t long_from = parts_ > 1 ? together_from : INT32_MAX;
    for (int32_t j = 0; parts_ > 1 && j < segments_.count; ++j) {
      if (segments_.lengths[j] >= long_from) rank_together(j);
    }
    context_.workers.each(parts_, [&](unsigned part) {
      const segment_part mine = segment_part_of(segments_, part, parts_, INT32_MAX);
      mine.each(segments_, [&](int32_t j, int32_t, int32_t) {
        if (segments_.lengths[j] < long_from) rank_alone(j);
      });
    });
  }

 private:
  void fill(int32_t segment, range of) {
    const int32_t base = segments_.offsets[segment];
    for (std::size_t k = of.begin; k < of.end; ++k) {
      keys_[static_cast<std::size_t>(base) + k] =
          Keys::pack(in_[static_cast<std::size_t>(base) + k], down_, static_cast<std::uint32_t>(k));
    }
  }
  void write(int32_t segment, const packed* sorted, range of) {
    int32_t* const to = out_ + segments_.offsets[segment];
    for (std::size_t k = of.begin; k < of.end; ++k) {
      to[Keys::position(sorted[k])] = static_cast<int32_t>(k);
    }
  }

  void rank_alone(int32_t segment) {
    const range all{0, static_cast<std::size_t>(segments_.lengths[segment])};
    fill(segment, all);
    const int32_t base = segments_.offsets[segment];
    write(segment, sort_alone<Keys>(keys_.data() + base, all.end, merged_.data() + base), all);
  }

  // Each thread sorts a part, then merges the keys of its part of the result from all sorted parts.
  void rank_together(int32_t segment) {
    const auto count = static_cast<std::size_t>(segments_.lengths[segment]);
    packed* const keys = keys_.data() + segments_.offsets[segment];
    packed* const merged = merged_.data() + segments_.offsets[segment];
    context_.workers.each(parts_, [&](unsigned part) {
      const range mine = part_of(count, part, parts_);
      fill(segment, mine);
      packed* const sorted = sort_alone<Keys>(keys + mine.begin, mine.size(), merged + mine.begin);
      if (sorted != keys + mine.begin) std::copy_n(sorted, mine.size(), keys + mine.begin);
    });
    // A phase must not throw, so it gets its memory here.
    const scratch_array<packed> other(context_.memory, parts_ > 2 ? count : 0);
    constexpr std::size_t line = 8;
    const std::size_t stride = (4 * parts_ + line - 1) / line * line;
    const scratch_array<std::size_t> places(context_.memory, stride * parts_);
    context_.workers.each(parts_, [&](unsigned part) {
      const range mine = part_of(count, part, parts_);
      std::size_t* const from = places.data() + part * stride;
      std::size_t* const to = from + parts_;
      cut(keys, count, mine.begin, from, to + parts_);
      cut(keys, count, mine.end, to, to + parts_);
      merge(keys, from, to, merged + mine.begin, other.data() + mine.begin);
      write(segment, merged, mine);
    });
  }

  // Finds where the smallest `wanted` keys end in each sorted part, by bisection among the keys.
  // Writes a place for each part to `low`; `spare` has room for two more.
  void cut(const packed* keys, std::size_t count, std::size_t wanted, std::size_t* low,
           std::size_t* spare) const {
    std::size_t* const high = spare;
    std::size_t* const place = spare + parts_;
    for (unsigned p = 0; p < parts_; ++p) {
      low[p] = part_of(count, p, parts_).begin;
      high[p] = part_of(count, p, parts_).end;
    }
    while (true) {
      // The middle of the longest range that is still open splits all ranges.
      unsigned widest = 0;
      for (unsigned p = 1; p < parts_; ++p) {
        if (high[p] - low[p] > high[widest] - low[widest]) widest = p;
      }
      if (high[widest] == low[widest]) return;
      const packed& pivot = keys[low[widest] + (high[widest] - low[widest]) / 2];
      std::size_t below = 0;
      for (unsigned p = 0; p < parts_; ++p) {
        const range all = part_of(count, p, parts_);
        place[p] = static_cast<std::size_t>(
            std::lower_bound(keys + low[p], keys + high[p], pivot,
                             [](const packed& a, const packed& b) { return is_less(a, b); }) -
            keys);
        below += place[p] - all.begin;
      }
      // The pivot is among the smallest.
      if (below < wanted) {
        for (unsigned p = 0; p < parts_; ++p) low[p] = place[p];
        ++low[widest];
      } else {
        for (unsigned p = 0; p < parts_; ++p) high[p] = place[p];
      }
    }
  }

  // Merges pairs of adjacent runs in rounds, alternating between two arrays, `out` and `other`.
  // Overwrites `to` with the ends of the runs.
  void merge(const packed* keys, const std::size_t* from, std::size_t* to, packed* out,
             packed* other) const {
    const auto less = [](const packed& a, const packed& b) { return is_less(a, b); };
    if (parts_ == 2) {
      std::merge(keys + from[0], keys + to[0], keys + from[1], keys + to[1], out, less);
      return;
    }
    packed* source = out;
    packed* target = other;
    std::size_t end = 0;
    for (unsigned p = 0; p < parts_; ++p) {
      std::copy(keys + from[p], keys + to[p], source + end);
      end += to[p] - from[p];
      to[p] = end;
    }
    for (std::size_t runs = parts_; runs > 1; runs = (runs + 1) / 2) {
      std::size_t begin = 0;
      for (std::size_t r = 0; r < runs; r += 2) {
        const std::size_t middle = to[r];
        const std::size_t last = r + 1 < runs ? to[r + 1] : middle;
        std::merge(source + begin, source + middle, source + middle, source + last, target + begin,
                   less);
        to[r / 2] = last;
        begin = last;
      }
      std::swap(source, target);
    }
    if (source != out) std::copy(source, source + end, out);
  }

  context& context_;
  const segment_view& segments_;
  const element* in_;
  int32_t* out_;
  bool down_;
  unsigned parts_;
  scratch_array<packed> keys_;
  scratch_array<packed> merged_;
};

}  // namespace

void run_rank(context& c, const step& s, value* v) {
  ++c.statistics.vector_instructions;
  {
    const segment_view segments(c, v[1]);
    require_elements(v[0], segments, "the vector");
    const bool down = s.code == opcode::rank_down;
    result_vector made(c, kind::integer, segments.total);
    if (segments.total > 0) {
      if (s.type == kind::real) {
        ranking<real_keys>(c, segments, elements<double>(c, v[0]), made.data<int32_t>(), down)
            .run();
      } else {
        ranking<integer_keys>(c, segments, elements<int32_t>(c, v[0]), made.data<int32_t>(), down)
            .run();
      }
    }
    const auto count = static_cast<std::size_t>(segments.total);
    count_pass(c, count, count * (size_of(s.type) + 4));
    c.memory.release(v[0]);
    v[0] = made.finish();
  }
  c.memory.release(v[1]);
}

}  // namespace tutti::vcode
