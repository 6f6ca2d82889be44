// SPDX-License-Identifier: Apache-2.0
// Defines what a unit of the desk is in a loop that threads share: which positions, or blocks, the
// parts that they take cover. team/on_platform.hpp says who includes it.
// Hosted only: it needs exceptions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>

#include "tutti/team/define_measured_loop.hpp"
#include "tutti/team/define_team.hpp"
#include "tutti/team/team.hpp"

namespace tutti {

// A loop in which other threads take part. The desk publishes it. It is on the caller's stack until
// all parts that were begun have ended.
template <class Memory>
struct basic_team<Memory>::shared_loop {
  enum class form {
    // Each slot has a share of the positions, in `units` parts.
    divided,
    // Each slot has consecutive blocks of the work.
    blocks,
    // Slot 0 has all chunks.
    queue,
    // The slots have chunks in turn.
    dealt
  };

  detail::loop_work& work;
  form is;
  std::size_t count, blocks, chunk;
  // The caller has done the positions before it alone.
  std::size_t at;
  rank_t slots;
  std::uint32_t units;

  atomic<bool> has_failed{false};
  typename Memory::mutex lock{};
  std::size_t failed_at = 0;
  std::exception_ptr failure{};

  struct stretch {
    std::size_t first, last;
  };
  stretch share_of(rank_t slot) const noexcept {
    const detail::even_bounds shares(0, is == form::blocks ? blocks : count, slots);
    return {(std::max)(at, shares(slot)), (std::max)(at, shares(slot + 1))};
  }
  // Returns how many chunks so many positions make. There must be chunks.
  std::size_t chunks_in(std::size_t positions) const noexcept {
    return positions / chunk + (positions % chunk != 0 ? 1 : 0);
  }
  // Returns the number of units of a share.
  std::uint32_t units_of(stretch share) const noexcept {
    const std::size_t length = share.last - share.first;
    const std::size_t most = chunk > 1 ? chunks_in(length) : length;
    return static_cast<std::uint32_t>(std::min<std::size_t>(most, units));
  }
  // Returns how many of the first `chunks` chunks belong to a slot.
  std::size_t dealt_before(std::size_t chunks, rank_t slot) const noexcept {
    return chunks > slot ? (chunks - slot + slots - 1) / slots : 0;
  }
  // Returns the units to put into a slot.
  loop_part contents(rank_t slot) const noexcept {
    const auto short_of = [](std::size_t n) { return static_cast<std::uint32_t>(n); };
    const std::size_t chunks = chunk == 0 ? 0 : chunks_in(count - (is == form::queue ? at : 0));
    switch (is) {
      case form::divided: return {slot, 0, units_of(share_of(slot))};
      case form::blocks: {
        const detail::even_bounds shares(0, blocks, slots);
        const stretch mine = share_of(slot);
        const std::size_t begin = (std::min)(shares(slot), mine.first);
        return {slot, short_of(mine.first - begin), short_of(mine.last - begin)};
      }
      case form::queue: return {slot, 0, slot == 0 ? short_of(chunks) : 0};
      case form::dealt:
        // The caller has done the chunk that `at` lies in, also if it is the last, shorter one.
        return {slot, short_of(dealt_before(at == 0 ? 0 : chunks_in(at), slot)),
                short_of(dealt_before(chunks, slot))};
    }
    return {};
  }

  // Calls visit(first, last) for the positions, or blocks, of a part.
  template <class Visit>
  void for_each_stretch(const loop_part& part, Visit visit) const {
    switch (is) {
      case form::divided: {
        const stretch share = share_of(part.slot);
        const std::uint32_t all = units_of(share);
        const detail::even_bounds bounds(share.first, share.last - share.first, all);
        const bool is_fine = chunk <= 1 && (share.last - share.first) / all >=
                                               2 * detail::loop_rules::aligned_positions;
        const auto limit = [&](std::uint32_t unit) {
          const std::size_t position = bounds(unit);
          const bool is_inner = unit > 0 && unit < all;
          return position -
                 (is_fine && is_inner ? position % detail::loop_rules::aligned_positions : 0);
        };
        return visit(limit(part.first), limit(part.last));
      }
      case form::blocks: {
        const detail::even_bounds shares(0, blocks, slots);
        const std::size_t begin = (std::min)(shares(part.slot), share_of(part.slot).first);
        return visit(begin + part.first, begin + part.last);
      }
      case form::queue: {
        // The end of the last chunk may lie beyond all numbers.
        const bool is_whole = part.last <= (count - at) / chunk;
        return visit(at + part.first * chunk, is_whole ? at + part.last * chunk : count);
      }
      case form::dealt:
        for (std::uint32_t unit = part.first; unit < part.last; ++unit) {
          const std::size_t first = (part.slot + std::size_t{unit} * slots) * chunk;
          visit(first, first + (std::min)(chunk, count - first));
        }
        return;
    }
  }

  // Calls step() and keeps the exception that it throws, unless an earlier position than `position`
  // has failed. Does nothing once a position has failed.
  template <class Step>
  void guard(std::size_t position, Step step) noexcept {
    // relaxed: a thread that does not see it yet only does unnecessary work.
    if (has_failed.load(relaxed)) return;
    try {
      step();
    } catch (...) {
      const std::lock_guard<typename Memory::mutex> here(lock);
      // relaxed: the lock and the end of the loop order the accesses.
      if (has_failed.load(relaxed) && failed_at <= position) return;
      failed_at = position;
      failure = std::current_exception();
      if (failure == nullptr)
        detail::refuse_end_of_thread("iteration " + std::to_string(position) + " of a loop");
      has_failed.store(true, relaxed);
    }
  }
};

}  // namespace tutti
