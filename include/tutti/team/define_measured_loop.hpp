// SPDX-License-Identifier: Apache-2.0
// Defines how the caller of a loop measures what an iteration costs while it runs the loop alone,
// and decides by that whether to share the loop, and whether to wake workers for it.
// team/on_platform.hpp says who includes it.
// Hosted only: it needs exceptions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tutti/team/team.hpp"

namespace tutti {

namespace detail {

// When a loop is shared, and how. All times are in nanoseconds.
struct loop_rules {
  // A loop that is shorter ends before a worker that is awake could help.
  static constexpr double alone_ns = 300, worth_sharing_ns = 500;
  // The number of positions, or the time, after which the measured cost of a body counts. Before
  // that it may be too high, because the first iteration may have found nothing in a cache.
  static constexpr std::size_t trusted_positions = 32;
  static constexpr double trusted_ns = 1000;
  // A loop that took this long the last time is shared at once.
  static constexpr double surely_shared_ns = 1500;
  // A wake-up costs its caller 2 to 5 us, or 12 to 16 us on a virtual machine whose host has halted
  // the other core. It helps 15 to 35 us later, with cold caches. The caller wakes a worker only if
  // the rest of the loop, by what it has cost so far, takes several times as long, or after a time
  // of which the wake-up is a small part.
  static constexpr double before_waking_ns = 8'000, worth_waking_ns = 150'000;
  static constexpr double soon_waking_ns = 100'000, soon_worth_waking_ns = 45'000,
                          always_waking_ns = 1e6;
  static constexpr double between_wakings_ns = 10'000;
  // Loops that follow each other within soon_ns, and of which each is too short for a wake-up,
  // count together: a worker that is awake would stay awake between them (wait_lengths), so one
  // wake-up serves many loops.
  static constexpr double soon_ns = 280'000, missed_enough_ns = 100'000;
  // While a worker sleeps that could be woken, the caller reads the clock at this interval.
  static constexpr double step_ns = 4'000;
  // Taking a shorter part costs more than it saves. So does taking a part that its owner will begin
  // within spared_ns, because its data are in the owner's cache.
  static constexpr double least_part_ns = 1'000, spared_ns = 2'000;
  // The number of parts of a slot. The size of the last parts determines how far apart the threads
  // end.
  static constexpr std::uint32_t units_of_slot = 128;
  // While the cost of the body is estimated from its first iterations only, no part is larger than
  // this.
  static constexpr std::uint32_t most_at_a_guess = 8;
  // Threads take chunks one by one, unless the chunks are so cheap that several make up a least
  // part and so many that each thread still takes this many times.
  static constexpr std::uint32_t takes_of_thread = 8;
  // Pieces of cheap loops begin at multiples of this number of positions, because vector
  // instructions on unaligned data take up to a fifth more time.
  static constexpr std::size_t aligned_positions = 8;
  // The unit of a body's cost is this part of a tick.
  static constexpr double parts_of_tick = 64;
  // 32 bits count the units of a loop.
  static constexpr std::size_t most_units = 0xffff'fff0;
};

}  // namespace detail

// The caller's side of a loop, alone.
template <class Memory>
class basic_team<Memory>::measured_loop : protected detail::loop_rules {
 public:
  measured_loop(basic_team& t, detail::loop_work& work, const detail::loop_request<Memory>& request)
      : team_(t),
        work_(work),
        request_(request),
        count_(request.count),
        // relaxed: a hint.
        cost_(request.cost->load(relaxed)) {}

  void alone() {
    while (at_ < count_) step(count_);
  }

  // Runs the loop alone. Returns false when the loop has ended, or true when it is worth sharing.
  bool alone_for_a_while() {
    per_ns_ = Memory::ticks_per_ns();
    start_ = Memory::ticks();
    if (ticks_expected() > surely_shared_ns * per_ns_ &&
        (is_anybody_awake() || is_missed() || is_coarse_and_long()))
      return true;
    // The number of positions in a row for which one reading of the clock costs little.
    std::size_t positions = positions_known() > 8 * aligned_positions ? aligned_positions : 1;
    for (;;) {
      step(next_stop(positions));
      const double elapsed = time();
      if (at_ == count_) {
        learn(elapsed);
        note_missed(elapsed);
        return false;
      }
      if (is_worth_sharing(elapsed)) return true;
      constexpr double short_ns = 200;
      constexpr std::size_t growth = 31;
      if (elapsed > short_ns * per_ns_)
        positions = positions_in((std::min)(elapsed, step_ns * per_ns_), elapsed);
      else
        positions = (std::max)(at_ * growth, positions_known());
    }
  }

 protected:
  double time() const noexcept { return static_cast<double>(Memory::ticks() - start_); }
  double ticks_expected() const noexcept {
    return static_cast<double>(cost_) / parts_of_tick * static_cast<double>(count_);
  }
  bool is_anybody_awake() const noexcept {
    return !team_.regions_.are_named() && team_.regions_->asleep() + 1 < team_.threads_;
  }
  // Returns the number of positions that take `ticks` at the rate so far.
  std::size_t positions_in(double ticks, double elapsed) const noexcept {
    const double positions = static_cast<double>(done_) * ticks / (std::max)(elapsed, 1.0);
    return std::max<std::size_t>(1, static_cast<std::size_t>((std::min)(positions, 1e15)));
  }

  // Returns the number of positions after which, at the cost of the last time, the loop may be
  // worth sharing.
  std::size_t positions_known() const noexcept {
    return cost_ == 0 ? 0
                      : static_cast<std::size_t>(2 * alone_ns * per_ns_ * parts_of_tick / cost_);
  }

  // Returns the position at which a step of `positions` positions ends.
  std::size_t next_stop(std::size_t positions) const noexcept {
    if (positions >= count_ - at_) return count_;
    const std::size_t to = at_ + positions;
    return positions < aligned_positions ? to : to - to % aligned_positions;
  }

  // Tells whether the iterations were long the last time and are few, so that running one alone
  // first would waste much time.
  bool is_coarse_and_long() const noexcept {
    return count_ <= std::size_t{4} * team_.threads_ && !team_.regions_.are_named() &&
           ticks_expected() > worth_waking_ns * per_ns_;
  }

  // Records the time of a loop that workers would have shared if they had not slept. Loops that
  // follow each other count as one long loop.
  void note_missed(double elapsed) const noexcept {
    if (team_.regions_.are_named() || elapsed < 2 * worth_sharing_ns * per_ns_) return;
    if (is_anybody_awake()) return;
    missed_loops& missed = team_.missed_;
    // relaxed: all of these are hints.
    const double gap = static_cast<double>(start_ - missed.end.load(relaxed));
    const bool is_soon = gap < soon_ns * per_ns_;
    const auto add = [is_soon](auto& to, auto value) {
      to.store(is_soon ? to.load(relaxed) + value : value, relaxed);
    };
    add(missed.ticks, static_cast<float>(elapsed));
    add(missed.gaps, is_soon ? static_cast<float>(gap) : 0.0F);
    add(missed.followers, is_soon ? 1U : 0U);
    if (!is_soon) missed.since.store(start_, relaxed);
    missed.end.store(start_ + static_cast<std::uint64_t>(elapsed), relaxed);
  }
  bool is_missed() const noexcept {
    const missed_loops& missed = team_.missed_;
    // relaxed: these are hints.
    return static_cast<double>(missed.ticks.load(relaxed)) > missed_enough_ns * per_ns_ &&
           static_cast<double>(start_ - missed.end.load(relaxed)) < soon_ns * per_ns_;
  }

  bool is_worth_sharing(double elapsed) const noexcept {
    if (elapsed < alone_ns * per_ns_) return false;
    if (at_ < trusted_positions && elapsed < trusted_ns * per_ns_) return false;
    if (is_anybody_awake()) return ticks_left(elapsed) > worth_sharing_ns * per_ns_;
    return is_worth_waking(elapsed);
  }
  double ticks_left(double elapsed) const noexcept {
    return elapsed / static_cast<double>(done_) * static_cast<double>(count_ - done_);
  }
  bool is_worth_waking(double elapsed) const noexcept {
    const double left = ticks_left(elapsed);
    return (elapsed > before_waking_ns * per_ns_ && left > worth_waking_ns * per_ns_) ||
           (elapsed > soon_waking_ns * per_ns_ && left > soon_worth_waking_ns * per_ns_) ||
           elapsed > always_waking_ns * per_ns_;
  }

  // Runs positions from at_ to about `to`, within one block if the loop has blocks.
  void step(std::size_t to) {
    const std::size_t before = at_;
    if (request_.blocks == 0) {
      at_ = work_.step(0, at_, to);
    } else {
      at_ = work_.step(block_, at_, (std::min)(to, work_.bound(block_ + 1)));
      if (at_ == work_.bound(block_ + 1)) ++block_;
    }
    done_ += at_ - before;
  }

  // Remembers the cost of a position for the next time.
  void learn(double elapsed) const noexcept {
    if (done_ == 0) return;
    constexpr double most = 0xffff'ffff;
    const double cost = std::clamp(elapsed * parts_of_tick / static_cast<double>(done_), 1.0, most);
    const auto found = static_cast<std::uint32_t>(cost);
    // relaxed: a hint. Small changes are not worth a transfer of the line.
    if (found / 8 > cost_ / 8 + cost_ / 64 || found / 8 + found / 64 < cost_ / 8 || cost_ == 0)
      request_.cost->store(found, relaxed);
  }

  basic_team& team_;
  detail::loop_work& work_;
  const detail::loop_request<Memory>& request_;
  const std::size_t count_;
  const std::uint32_t cost_;
  double per_ns_ = 1;
  std::uint64_t start_ = 0;
  std::size_t at_ = 0, block_ = 0;
  // The number of positions that the caller has done.
  std::size_t done_ = 0;
};

}  // namespace tutti
