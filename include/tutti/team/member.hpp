// SPDX-License-Identifier: Apache-2.0
// tutti::member: a rank inside a region. It tells the rank's number and provides the collective
// operations of the region.
//
//   team.run([&](tutti::member& me) {
//     const auto [first, last] = me.block(n);
//     ... partial ...
//     const double total = me.reduce(tutti::plus{}, partial);  // barrier and reduction in one
//   });
//
// Memory ordering: what any rank does before it calls barrier, reduce or a scan happens before what
// any rank does after the call returns.
// Errors: if a rank leaves the region by an exception, the waits of the other ranks throw
// region_cancelled. team::run then throws the exception of the lowest rank that failed by itself.
// Thread-safety: only the rank itself may use its member.
// Hosted only: it needs exceptions and std::span.
#pragma once

#include <array>
#include <exception>
#include <span>
#include <utility>

#include "tutti/export.h"
#include "tutti/platform/array.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/reduce/operations.hpp"
#include "tutti/reduce/raw_value.hpp"
#include "tutti/schedule/tournament.hpp"
#include "tutti/team/forward.hpp"

namespace tutti {

namespace detail {
template <class Memory>
class group_sync;
template <class Memory>
class virtual_ranks;
}  // namespace detail

// Another rank of the region has failed, so a wait for all ranks cannot end. Do not catch it, so
// that it ends the rank's part of the region.
class TUTTI_API region_cancelled : public std::exception {
 public:
  const char* what() const noexcept override;
};

// A rank of a region on any platform; tutti::member is the one of the native platform.
template <class Memory>
class basic_member {
 public:
  rank_t rank() const noexcept { return rank_; }
  // Returns the number of ranks in the region.
  rank_t size() const noexcept { return size_; }
  // Returns the thread that runs this rank, 0 .. team.threads()-1. It is 0 in a region or a loop
  // that runs alone, whichever thread runs it. So if several threads open regions of one team at
  // once, do not use this number to find memory for each thread.
  rank_t thread() const noexcept { return thread_; }

  // A block from first up to, not including, last.
  struct range {
    std::size_t first = 0, last = 0;
  };
  // Returns this rank's block of 0 .. count-1. The sizes of the blocks differ by at most one.
  range block(std::size_t count) const noexcept { return block_of(rank_, count); }

  // ---- collective operations. Every rank of the region must make the same calls in the same
  // order. Each may throw region_cancelled.

  // Returns when all ranks have called it.
  void barrier();

  // Returns the values of all ranks, combined by `op`, with the same bits on all ranks. T must be
  // trivially copyable. `op` must be associative up to rounding and must not throw. It is applied
  // in the order of the tournament, ((0 + 1) + (2 + 3)) + ..., which depends only on size(). It
  // combines a std::array element by element.
  template <class Op, class T>
  T reduce(Op op, const T& value);

  // Combines spans of the same length element by element and in place, so that all ranks get the
  // result. Throws std::invalid_argument if the lengths differ. It is faster than reduce() on each
  // element, by the factor by which a line transfer is slower than an addition.
  template <class Op, class T, std::size_t Extent>
  void reduce(Op op, std::span<T, Extent> values);

  // exclusive_scan returns the combined values of ranks 0 .. rank()-1, or `first` at rank 0.
  // inclusive_scan returns those of ranks 0 .. rank(). Both combine in the order of the tournament.
  template <class Op, class T>
  T exclusive_scan(Op op, const T& value, const T& first);
  template <class Op, class T>
  T inclusive_scan(Op op, const T& value);

  // Calls read(get) once, where get(rank) returns the value of that rank. `get` is valid during the
  // call. T must be trivially copyable, with at most 56 bytes.
  template <class T, class Read>
  void gather(const T& value, Read&& read);

  basic_member(const basic_member&) = delete;
  basic_member& operator=(const basic_member&) = delete;

 private:
  friend class basic_team<Memory>;
  friend class detail::virtual_ranks<Memory>;
  friend class array<basic_member>;
  // Makes the member of a region of one rank. Nested regions use it.
  basic_member() = default;

  range block_of(rank_t rank, std::size_t count) const noexcept {
    const std::size_t share = count / size_, rest = count % size_;
    const std::size_t first = rank * share + (rank < rest ? rank : rest);
    return {first, first + share + (rank < rest ? 1 : 0)};
  }

  basic_team<Memory>* team_ = nullptr;
  detail::group_sync<Memory>* sync_ = nullptr;
  rank_t rank_ = 0;
  rank_t size_ = 1;
  rank_t thread_ = 0;
  // Which of the two sets of virtual ranks' values is in use.
  std::uint32_t turn_ = 0;
};

}  // namespace tutti
