// SPDX-License-Identifier: Apache-2.0
// The templates of member: the collective operations of ranks, on threads of their own or as
// fibers.
// Hosted only: it needs threads and the compiled library.
#pragma once

#include <algorithm>
#include <exception>

#include "tutti/reduce/fold.hpp"
#include "tutti/team/team_class.hpp"

namespace tutti {

namespace detail {

// The arrays that basic_member<Memory>::reduce combines.
template <class T>
struct arrays_of_ranks {
  static constexpr std::size_t few = 32;

  // The array of each rank.
  std::vector<T*> data;
  // False also if they could not be combined.
  bool same_length = true;
  // Why they could not.
  std::exception_ptr failure;
  // The result, if the arrays have at most `few` elements.
  std::array<T, few> sum;
};

// Returns data[0][i], data[1][i], ... combined, for `count` <= Chunk indices i from `first` on.
template <std::size_t Chunk, class Op, class T>
std::array<T, Chunk> sum_across(const Op& op, const std::vector<T*>& data, std::size_t first,
                                std::size_t count) {
  using chunk = std::array<T, Chunk>;
  return schedule::fold(
      0, static_cast<rank_t>(data.size()),
      [&](rank_t r) {
        chunk values;
        // If count is 0, data[r] may be null.
        std::copy_n(data[r] + first, count, values.data());
        return values;
      },
      [&](chunk a, const chunk& b) {
        for (std::size_t i = 0; i < count; ++i) a[i] = op(a[i], b[i]);
        return a;
      });
}

}  // namespace detail

// ---- inside a region

template <class Memory>
void basic_member<Memory>::barrier() {
  if (team_ == nullptr) return;
  const bool met = team_->is_virtual() ? team_->virtual_->meet(*this) : sync_->meet(rank_);
  if (!met) throw region_cancelled();
}

template <class Memory>
template <class Op, class T>
T basic_member<Memory>::reduce(Op given, const T& value) {
  auto&& op = detail::usable<T>(given);
  if (team_ == nullptr) return canonical(value);
  T result{};
  if constexpr (!basic_team<Memory>::slot::template fits<T>) {
    // The value is too large for a cache line: all ranks read the values in place, and no rank
    // leaves before all have read.
    const auto combine = [&](const auto& get) {
      return schedule::fold(
          0, size_, [&](rank_t r) -> const T& { return *get(r); },
          [&](const T& a, const T& b) { return op(a, b); });
    };
    T of_all{};
    if (team_->is_virtual())
      result = team_->virtual_->combine(*this, value, combine, of_all);
    else
      gather(&value, [&](const auto& get) { result = combine(get); });
    barrier();
  } else if (team_->is_virtual()) {
    result = team_->virtual_->reduce(*this, op, value);
  } else if (!sync_->all(rank_, value, op, result)) {
    throw region_cancelled();
  }
  return canonical(result);
}

template <class Memory>
template <class T, class Read>
void basic_member<Memory>::gather(const T& value, Read&& read) {
  static_assert(basic_team<Memory>::slot::template fits<T>,
                "gathered values are trivially copyable, of 56 bytes at most");
  if (team_ == nullptr) return read([&](rank_t) { return value; });
  if (!team_->is_virtual()) {
    if (!sync_->gather(rank_, value, read)) throw region_cancelled();
    return;
  }
  const detail::compact_values& values = team_->virtual_->post(*this, value);
  if (!team_->virtual_->meet(*this)) throw region_cancelled();
  read(values.get<T>());
}

template <class Memory>
template <class Op, class T>
T basic_member<Memory>::exclusive_scan(Op given, const T& value, const T& first) {
  auto&& op = detail::usable<T>(given);
  T result = first;
  gather(value, [&](auto get) {
    if (rank_ > 0) result = schedule::fold(0, rank_, get, op);
  });
  return canonical(result);
}

template <class Memory>
template <class Op, class T>
T basic_member<Memory>::inclusive_scan(Op given, const T& value) {
  auto&& op = detail::usable<T>(given);
  T result = value;
  gather(value, [&](auto get) { result = schedule::fold(0, rank_ + 1, get, op); });
  return canonical(result);
}

template <class Memory>
template <class Op, class T, std::size_t Extent>
void basic_member<Memory>::reduce(Op given, std::span<T, Extent> values) {
  static_assert(std::is_trivially_copyable_v<T>,
                "a reduction of arrays takes trivially copyable values");
  auto&& op = detail::usable<T>(given);
  const std::span<T> mine = values;
  using arrays = detail::arrays_of_ranks<T>;
  const auto collect = [&](const auto& span_of) {
    arrays found;
    try {
      found.data.resize(size_);
      for (rank_t r = 0; r < size_; ++r) {
        found.data[r] = span_of(r).data();
        found.same_length = found.same_length && span_of(r).size() == mine.size();
      }
      if (found.same_length && mine.size() <= arrays::few)
        found.sum = detail::sum_across<arrays::few>(op, found.data, 0, mine.size());
    } catch (...) {
      // This rank may not leave yet: others use its array.
      found.same_length = false;
      found.failure = std::current_exception();
    }
    return found;
  };
  arrays here;
  const arrays* all = &here;
  if (team_ != nullptr && team_->is_virtual()) {
    all = &team_->virtual_->combine(
        *this, mine, [&](const auto& get) { return collect([&](rank_t r) { return *get(r); }); },
        here);
  } else {
    gather(mine, [&](const auto& get) { here = collect(get); });
  }
  if (!all->same_length) {
    const std::exception_ptr failure = all->failure;
    // The other ranks may still read this rank's values.
    barrier();
    if (failure != nullptr) std::rethrow_exception(failure);
    refuse("basic_member<Memory>::reduce over spans: all ranks need the same length");
  }
  const auto put = [](T* to, const auto& sum, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) to[i] = canonical(sum[i]);
  };
  if (mine.size() <= arrays::few) {
    const auto sum = all->sum;
    // No rank may write while others read.
    barrier();
    return put(mine.data(), sum, mine.size());
  }
  // Until the barrier below only this rank accesses its block of each array.
  constexpr std::size_t chunk = 256, short_chunk = 16;
  const range part = block(mine.size());
  for (std::size_t i = part.first; i < part.last; i += chunk) {
    const std::size_t count = (std::min)(chunk, part.last - i);
    // The levels of the fold pass chunks by value. With many ranks the blocks are short, and so the
    // chunks are short too.
    const auto combine = [&]<std::size_t Chunk>() {
      const auto sum = detail::sum_across<Chunk>(op, all->data, i, count);
      for (T* const array : all->data) put(array + i, sum, count);
    };
    try {
      if (count <= short_chunk)
        combine.template operator()<short_chunk>();
      else
        combine.template operator()<chunk>();
    } catch (...) {
      // The other ranks still use this rank's array.
      barrier();
      throw;
    }
  }
  barrier();
}

}  // namespace tutti
