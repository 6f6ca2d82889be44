// SPDX-License-Identifier: Apache-2.0
// PERMUTE, DPERMUTE, FPERMUTE, DFPERMUTE: move elements to the places that indices name. Of several
// elements with the same index the last one wins, on any number of threads.
//
// To guarantee that, each thread owns a part of the places and looks at every index that may lead
// there, which is all indices of a segment that is cut. But most programs join vectors by ascending
// indices. Where the parts of the indices turn out to lead to disjoint places, each thread moves a
// part of the elements and looks at no others.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "vcode/kernels/moves.hpp"
#include "vcode/machine/deferred.hpp"
#include "vcode/machine/moves.hpp"
#include "vcode/machine/operations.hpp"

namespace tutti::vcode {
namespace {

using std::int32_t;

// Moves elements to all places. Returns false if an index is out of range.
template <class T>
bool scatter(const T* from, const indices& all, T* to) {
  return all_strips(0, all.count, index_strip, [&](int32_t begin, int32_t count) {
    const indices i{all.index + begin, nullptr, count, all.limit};
    if (!are_below(i)) return false;
    if (count < least_for_a_kernel) {
      for (int32_t k = 0; k < count; ++k) to[i.index[k]] = from[begin + k];
    } else {
      scatter_elements(sizeof(T), from + begin, i.index, to, static_cast<std::size_t>(count));
    }
    return true;
  });
}

// Moves elements only to places begin .. end-1 of the segment `to`. The thread that owns these
// places writes everything that goes there, in order.
template <class T>
bool scatter_between(const T* from, const indices& i, T* to, int32_t begin, int32_t end) {
  const int32_t size = end - begin;
  if (size == i.limit && i.flags == nullptr) return scatter(from, i, to);
  T nowhere;
  for (int32_t k = 0; k < i.count; ++k) {
    if (i.flags != nullptr && i.flags[k] == 0) continue;
    if (!is_below(i.index[k], i.limit)) return false;
    // Ownership cannot be predicted, so elements for another part's places go to a dummy, without a
    // branch.
    T* const place = is_below(i.index[k] - begin, size) ? to + i.index[k] : &nowhere;
    *place = from[k];
  }
  return true;
}

// Writes the same element to all places, so that the order of the threads does not matter.
template <class T>
bool scatter_equal(T element, const indices& i, T* to) {
  if (!are_below(i)) return false;
  for (int32_t k = 0; k < i.count; ++k) {
    // relaxed: two threads may have the same index, and then write the same value; the end of the
    // region publishes it.
    std::atomic_ref<T>(to[i.index[k]]).store(element, std::memory_order_relaxed);
  }
  return true;
}

// The range of places to which the indices of a piece of a cut segment lead.
struct reach {
  // -1 if there is none.
  int32_t segment = -1;
  int32_t lowest = 0;
  int32_t highest = 0;
};
struct reaches {
  reach head;
  reach tail;
};

reach reach_of(const piece& p, const int32_t* index) {
  static const fold_kernels lowest = find_fold(opcode::min_reduce, kind::integer);
  static const fold_kernels highest = find_fold(opcode::max_reduce, kind::integer);
  if (p.empty()) return {};
  reach made{p.segment, index[p.begin], index[p.begin]};
  const auto count = static_cast<std::size_t>(p.size());
  lowest.reduce(index + p.begin, count, &made.lowest, false);
  highest.reduce(index + p.begin, count, &made.highest, false);
  return made;
}

// Returns true if each piece of a segment leads to places above those of the pieces before it.
bool go_up(const scratch_array<reaches>& all, unsigned parts) {
  reach last;
  for (unsigned part = 0; part < parts; ++part) {
    for (const reach& each : {all[part].head, all[part].tail}) {
      if (each.segment < 0) continue;
      if (each.segment == last.segment && each.lowest <= last.highest) return false;
      last = each;
    }
  }
  return true;
}

// A permutation reaches every place; with as many indices as places, that means that no index
// occurs twice.
void require_permutation(context& c, const int32_t* index, const segment_view& s) {
  const scratch_array<std::uint8_t> seen(
      c.memory, std::max<std::size_t>(1, static_cast<std::size_t>(s.total)));
  // One thread checks: users ask for this check to find a mistake, not for speed.
  const int32_t twice = c.workers.agree([&]() -> int32_t {
    std::memset(seen.data(), 0, static_cast<std::size_t>(s.total));
    for (int32_t j = 0; j < s.count; ++j) {
      for (int32_t k = s.offsets[j]; k < s.offsets[j + 1]; ++k) {
        // The move itself reports this error better.
        if (!is_below(index[k], s.lengths[j])) return -1;
        std::uint8_t& place = seen[static_cast<std::size_t>(s.offsets[j] + index[k])];
        if (place != 0) return k;
        place = 1;
      }
    }
    return -1;
  });
  if (twice >= 0) {
    fail(fmt::format("not a permutation: index {} (element {}) is there twice", index[twice],
                     twice));
  }
}

// One permute of elements in memory.
template <class T>
class permuting {
 public:
  permuting(context& c, const segment_view& source, const segment_view& target, const T* from,
            const int32_t* index, const std::uint8_t* flags, T* to)
      : context_(c),
        source_(source),
        target_(target),
        from_(from),
        index_(index),
        flags_(flags),
        to_(to),
        parts_(c.workers.parts(target.work() + static_cast<std::size_t>(source.total))) {}

  // write(share) writes the elements of places where no index leads. Returns false if an index is
  // out of range.
  template <class Write>
  bool run(Write&& write) {
    if (parts_ == 1 || flags_ != nullptr) return by_places(write);
    const scratch_array<reaches> found(context_.memory, parts_);
    context_.workers.each(parts_, [&](unsigned part) {
      write(segment_part_of(target_, part, parts_));
      const segment_part mine = segment_part_of(source_, part, parts_);
      found[part] = {reach_of(mine.head, index_), reach_of(mine.tail, index_)};
    });
    return go_up(found, parts_) ? by_elements() : by_places([](const segment_part&) {});
  }

 private:
  bool by_elements() {
    return context_.workers.all(parts_, [&](unsigned part) {
      bool fit = true;
      segment_part_of(source_, part, parts_).each(source_, [&](int32_t j, int32_t b, int32_t e) {
        fit = fit && scatter(from_ + b, {index_ + b, nullptr, e - b, target_.lengths[j]},
                             to_ + target_.offsets[j]);
      });
      return fit;
    });
  }

  template <class Write>
  bool by_places(Write&& write) {
    return context_.workers.all(parts_, [&](unsigned part) {
      const segment_part mine = segment_part_of(target_, part, parts_);
      write(mine);
      bool fit = true;
      mine.each(target_, [&](int32_t j, int32_t b, int32_t e) {
        const int32_t first = source_.offsets[j];
        const indices all{index_ + first, flags_ == nullptr ? nullptr : flags_ + first,
                          source_.lengths[j], target_.lengths[j]};
        fit = fit && scatter_between(from_ + first, all, to_ + target_.offsets[j],
                                     b - target_.offsets[j], e - target_.offsets[j]);
      });
      return fit;
    });
  }

  context& context_;
  const segment_view& source_;
  const segment_view& target_;
  const T* from_;
  const int32_t* index_;
  const std::uint8_t* flags_;
  T* to_;
  unsigned parts_;
};

}  // namespace

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
    const auto count = static_cast<std::size_t>(target.total);
    with_size(s.type, [&]<class T>(T) {
      const defaults<T> rest(c, has_default ? v[at_default] : value::of(0.0));
      const bool reuses = has_default && is_reusable(v[at_default], s.type);
      result_vector made =
          reuses ? result_vector(c, s.type, v[at_default]) : result_vector(c, s.type, target.total);
      T* const to = made.data<T>();
      const auto write_rest = [&](const segment_part& mine) {
        if (!reuses) rest.write(to, mine.begin, mine.end);
      };
      const auto* const flags = flagged ? elements<std::uint8_t>(c, v[2]) : nullptr;
      bool fits = false;
      if (const value* const element = flagged ? nullptr : constant_of(v[0])) {
        T same{};
        std::memcpy(&same, element->address(), sizeof same);
        const unsigned parts =
            c.workers.parts(target.work() + static_cast<std::size_t>(source.total));
        c.workers.each(parts,
                       [&](unsigned part) { write_rest(segment_part_of(target, part, parts)); });
        fits = for_each_index(c, v[1], source,
                              [&](int32_t j, int32_t, const int32_t* index, int32_t n) {
                                return scatter_equal(same, {index, nullptr, n, target.lengths[j]},
                                                     to + target.offsets[j]);
                              });
      } else {
        const T* const from = elements<T>(c, v[0]);
        const auto* const index = elements<int32_t>(c, v[1]);
        fits = permuting<T>(c, source, target, from, index, flags, to).run(write_rest);
      }
      if (!fits) fail_index(elements<int32_t>(c, v[1]), flags, source, target);
      c.memory.release(v[0]);
      v[0] = made.finish();
      if (!reuses) c.statistics.bytes += count * rest.bytes();
    });
    count_pass(c, count, static_cast<std::size_t>(source.total) * (2 * size_of(s.type) + 4));
  }
  release_all(c, v + 1, s.operands - 1U);
}

}  // namespace tutti::vcode
