// SPDX-License-Identifier: Apache-2.0
// What a rank has inside a region: who it is, and where it meets the others.
//
//   team.run([&](tutti::member& me) {
//     const auto [first, last] = me.block(n);
//     ... partial ...
//     const double total = me.reduce(tutti::plus{}, partial);     // barrier and reduction in one
//   });
//
// Memory ordering: what any rank does before it calls barrier, reduce or a scan happens before what any rank does after
// it returns.
// Errors: when a rank leaves the region by an exception, the waits of the others end by region_cancelled; team::run then
// throws the first rank's own exception.
// Hosted only: exceptions and std::span.
#pragma once

#include <array>
#include <exception>
#include <span>
#include <utility>

#include "tutti/export.h"
#include "tutti/platform/array.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/reduce/operations.hpp"
#include "tutti/reduce/raw_value.hpp"
#include "tutti/schedule/tournament.hpp"

namespace tutti {

class team;
namespace detail {
class meeting;
}

// Another rank of the region has failed: there is nobody to wait for. Let it pass through.
class TUTTI_API region_cancelled : public std::exception {
 public:
  const char* what() const noexcept override;
};

class member {
 public:
  rank_t rank() const noexcept { return rank_; }
  // Ranks of the region.
  rank_t size() const noexcept { return size_; }
  // The thread that runs this rank, 0 .. team.threads()-1.
  rank_t thread() const noexcept { return thread_; }

  // My part of 0 .. count-1: from first up to, not including, last. Parts differ by at most one.
  struct range {
    std::size_t first = 0, last = 0;
  };
  range block(std::size_t count) const noexcept { return block_of(rank_, count); }

  // ---- with all ranks of the region; every rank makes the same calls in the same order

  void barrier();

  // All ranks' values combined by `op`, the same bits for all. T is trivially copyable; `op` is associative up to
  // rounding and does not throw; it is applied in the order of the tournament, ((0 + 1) + (2 + 3)) + ..., which only
  // depends on size(). On std::array element by element.
  template <class Op, class T>
  T reduce(Op op, const T& value);

  // Element by element over spans of the same length, in place: all ranks get the result. As many times faster than
  // reduce() on each element as a line transfer is slower than an addition.
  template <class Op, class T, std::size_t Extent>
  void reduce(Op op, std::span<T, Extent> values);

  // Of ranks 0 .. rank()-1, or `first` at rank 0; and of ranks 0 .. rank(). Combined in the order of the tournament.
  template <class Op, class T>
  T exclusive_scan(Op op, const T& value, const T& first);
  template <class Op, class T>
  T inclusive_scan(Op op, const T& value);

  // Everybody's value, by rank: read(get) is called once, get(rank) is valid during the call.
  template <class T, class Read>
  void gather(const T& value, Read&& read);

  member(const member&) = delete;
  member& operator=(const member&) = delete;

 private:
  friend class team;
  friend class array<member>;
  // A region of its own: nested regions run so.
  member() = default;

  range block_of(rank_t rank, std::size_t count) const noexcept {
    const std::size_t share = count / size_, rest = count % size_;
    const std::size_t first = rank * share + (rank < rest ? rank : rest);
    return {first, first + share + (rank < rest ? 1 : 0)};
  }

  team* team_ = nullptr;
  detail::meeting* meeting_ = nullptr;
  rank_t rank_ = 0;
  rank_t size_ = 1;
  rank_t thread_ = 0;
  std::uint32_t turn_ = 0;  // of the slots of virtual ranks
};

}  // namespace tutti
