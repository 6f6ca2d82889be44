// SPDX-License-Identifier: Apache-2.0
// Defines how teams run loops: the caller runs a loop alone as long as sharing does not pay, then
// shares it with workers that are awake, and wakes others only if the loop takes long.
// team/on_platform.hpp says who includes it.
// Hosted only: it needs exceptions.
#pragma once

#include <algorithm>
#include <exception>
#include <mutex>

#include "tutti/platform/usable_cpus.hpp"
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
    return {std::max(at, shares(slot)), std::max(at, shares(slot + 1))};
  }
  // Returns the number of units of a share.
  std::uint32_t units_of(stretch share) const noexcept {
    const std::size_t length = share.last - share.first;
    const std::size_t most = chunk > 1 ? (length + chunk - 1) / chunk : length;
    return static_cast<std::uint32_t>(std::min<std::size_t>(most, units));
  }
  // Returns how many of the first `chunks` chunks belong to a slot.
  std::size_t dealt_before(std::size_t chunks, rank_t slot) const noexcept {
    return chunks > slot ? (chunks - slot + slots - 1) / slots : 0;
  }
  // Returns the units to put into a slot.
  loop_part contents(rank_t slot) const noexcept {
    const auto short_of = [](std::size_t n) { return static_cast<std::uint32_t>(n); };
    const std::size_t chunks =
        chunk == 0 ? 0 : (count - (is == form::queue ? at : 0) + chunk - 1) / chunk;
    switch (is) {
      case form::divided: return {slot, 0, units_of(share_of(slot))};
      case form::blocks: {
        const detail::even_bounds shares(0, blocks, slots);
        const stretch mine = share_of(slot);
        const std::size_t begin = std::min(shares(slot), mine.first);
        return {slot, short_of(mine.first - begin), short_of(mine.last - begin)};
      }
      case form::queue: return {slot, 0, slot == 0 ? short_of(chunks) : 0};
      case form::dealt:
        return {slot, short_of(dealt_before(at / chunk, slot)),
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
        const std::size_t begin = std::min(shares(part.slot), share_of(part.slot).first);
        return visit(begin + part.first, begin + part.last);
      }
      case form::queue:
        return visit(at + part.first * chunk, std::min(count, at + part.last * chunk));
      case form::dealt:
        for (std::uint32_t unit = part.first; unit < part.last; ++unit) {
          const std::size_t first = (part.slot + std::size_t{unit} * slots) * chunk;
          visit(first, std::min(count, first + chunk));
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
      has_failed.store(true, relaxed);
    }
  }
};

// The caller's side of a loop.
template <class Memory>
class basic_team<Memory>::loop_run : private detail::loop_rules {
 public:
  loop_run(basic_team& t, detail::loop_work& work, const detail::loop_request<Memory>& request)
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
        positions = positions_in(std::min(elapsed, step_ns * per_ns_), elapsed);
      else
        positions = std::max(at_ * growth, positions_known());
    }
  }

  void share() {
    shared_loop all{work_, form(), count_, request_.blocks, chunk(), at_, team_.threads_, 1};
    const stretch rest = begun(all);
    choose_units(all);
    all.at = request_.blocks > 0 ? next_block_ : rest.last;
    lay_out(all);
    all.guard(rest.first, [&] { go_through(rest, block_); });
    loop_part part = first_;
    if (part.units() > 0) run(all, part);
    while (team_.desk_->take(0, part)) run(all, part);
    learn(time());
    finish(all);
    if (all.failure != nullptr) std::rethrow_exception(all.failure);
  }

 private:
  using form_of_loop = typename shared_loop::form;
  using stretch = typename shared_loop::stretch;

  double time() const noexcept { return static_cast<double>(Memory::ticks() - start_); }
  double ticks_expected() const noexcept {
    return static_cast<double>(cost_) / parts_of_tick * static_cast<double>(count_);
  }
  bool is_anybody_awake() const noexcept {
    return team_.named_region_ == nullptr && team_.regions_->asleep() + 1 < team_.threads_;
  }
  // Returns the number of positions that take `ticks` at the rate so far.
  std::size_t positions_in(double ticks, double elapsed) const noexcept {
    const double positions = static_cast<double>(done_) * ticks / std::max(elapsed, 1.0);
    return std::max<std::size_t>(1, static_cast<std::size_t>(std::min(positions, 1e15)));
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
    return count_ <= std::size_t{4} * team_.threads_ && team_.named_region_ == nullptr &&
           ticks_expected() > worth_waking_ns * per_ns_;
  }

  // Records the time of a loop that workers would have shared if they had not slept. Loops that
  // follow each other count as one long loop.
  void note_missed(double elapsed) const noexcept {
    if (team_.named_region_ != nullptr || elapsed < 2 * worth_sharing_ns * per_ns_) return;
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
      at_ = work_.step(block_, at_, std::min(to, work_.bound(block_ + 1)));
      if (at_ == work_.bound(block_ + 1)) ++block_;
    }
    done_ += at_ - before;
  }

  // ---- shared

  form_of_loop form() const noexcept {
    if (request_.blocks > 0) return form_of_loop::blocks;
    switch (request_.how.kind) {
      case loop::static_chunks: return form_of_loop::dealt;
      case loop::dynamic_chunks:
      case loop::guided_chunks: return form_of_loop::queue;
      case loop::static_blocks:
      case loop::adaptive: break;
    }
    return form_of_loop::divided;
  }
  std::size_t chunk() const noexcept {
    const std::size_t sixteen_each =
        std::max<std::size_t>(1, count_ / (team_.ranks_ * std::size_t{16}));
    const std::size_t usual = request_.how.kind == loop::dynamic_chunks ? sixteen_each : 1;
    const std::size_t wanted = request_.how.chunk > 0 ? request_.how.chunk : usual;
    return std::clamp<std::size_t>(wanted, count_ / most_units + 1, count_);
  }

  // Returns the positions of the block or chunk that the caller has begun and must finish itself.
  stretch begun(const shared_loop& all) {
    next_block_ = block_;
    if (all.is == form_of_loop::blocks) {
      if (at_ == work_.bound(block_)) return {at_, at_};
      ++next_block_;
      return {at_, work_.bound(block_ + 1)};
    }
    if (all.is != form_of_loop::dealt || at_ % all.chunk == 0) return {at_, at_};
    return {at_, at_ + std::min(count_ - at_, all.chunk - at_ % all.chunk)};
  }

  void choose_units(shared_loop& all) {
    manner_.in_order = all.is == form_of_loop::queue;
    const bool is_divided = all.is == form_of_loop::divided;
    if (all.is == form_of_loop::queue && request_.how.kind == loop::guided_chunks)
      manner_.share = 2 * team_.threads_;
    if (is_divided && request_.how.kind == loop::static_blocks) return;
    if (!is_divided && all.is != form_of_loop::blocks) {
      if (manner_.share == 0) choose_chunks(all);
      return;
    }
    const std::size_t in_slot = is_divided ? units_of_slot : request_.blocks / team_.threads_ + 1;
    if (is_divided) all.units = units_of_slot;
    // The time of a slot follows from the last time, or from the first iterations.
    const double seen =
        done_ > 0 ? time() / static_cast<double>(done_) * static_cast<double>(count_) : 0;
    const double of_slot = std::max(seen, ticks_expected()) / team_.threads_;
    const double most = cost_ > 0 ? static_cast<double>(in_slot) : most_at_a_guess;
    const auto worth = [&](double ns) {
      return std::min(most, static_cast<double>(in_slot) * ns * per_ns_ / std::max(of_slot, 1.0));
    };
    // A slot that is worth only a few parts is one part, so that no thread takes half of it.
    manner_.least = static_cast<std::uint32_t>(std::max(1.0, worth(least_part_ns)));
    if (manner_.least > in_slot / 4 && cost_ > 0)
      manner_.least = static_cast<std::uint32_t>(in_slot);
    manner_.share = 4;
    if (is_divided) manner_.spared = static_cast<std::uint32_t>(worth(spared_ns));
  }

  // Chooses how many cheap chunks a thread takes at a time.
  void choose_chunks(const shared_loop& all) {
    constexpr double all_that_fit = 0x7fff;
    const double seen = done_ > 0 ? time() / static_cast<double>(done_) : 0;
    const double of_position = std::max(seen, static_cast<double>(cost_) / parts_of_tick);
    if (of_position <= 0) return;
    const double most = cost_ > 0 ? all_that_fit : most_at_a_guess;
    const double worth = least_part_ns * per_ns_ / (of_position * static_cast<double>(all.chunk));
    manner_.most = static_cast<std::uint32_t>(std::clamp(worth, 1.0, most));
    manner_.share = takes_of_thread * team_.threads_;
  }

  void lay_out(shared_loop& all) {
    team_.desk_->begin(&all, manner_);
    for (rank_t slot = 0; slot < all.slots; ++slot) {
      loop_part contents = all.contents(slot);
      total_ += contents.units();
      if (slot == 0) {
        // The caller's first part does not go to the desk.
        const std::uint32_t units = contents.units();
        const std::uint32_t mine = manner_.of(units);
        first_ = {0, contents.first, contents.first + mine};
        contents.first += mine;
      }
      if (contents.units() > 0) team_.desk_->put(slot, contents.first, contents.last);
    }
    if (team_.named_region_ != nullptr) {
      job everybody;
      everybody.run = &help;
      return team_.open(everybody);
    }
    team_.regions_->offer();
    somebody_sleeps_ = team_.regions_->asleep() > 0;
    if (somebody_sleeps_) consider_waking();
  }

  void run(shared_loop& all, const loop_part& part) {
    total_ -= part.units();
    all.for_each_stretch(part, [&](std::size_t first, std::size_t last) {
      if (all.is != form_of_loop::blocks)
        return all.guard(first, [&] { go_through({first, last}, 0); });
      for (std::size_t block = first; block < last; ++block)
        all.guard(work_.bound(block), [&] {
          go_through({work_.bound(block), work_.bound(block + 1)}, block);
        });
    });
  }
  void go_through(stretch positions, std::size_t block) {
    std::size_t at = positions.first;
    while (at < positions.last) {
      std::size_t to = positions.last;
      if (somebody_sleeps_) {
        const std::size_t some = done_ == 0 ? 1 : positions_in(step_ns * per_ns_, time());
        to = some < to - at ? at + some : to;
      }
      const std::size_t before = at;
      at = work_.step(block, at, to);
      done_ += at - before;
      if (somebody_sleeps_) consider_waking();
    }
  }

  void consider_waking() {
    const double now = time();
    if (now < next_waking_) return;
    if (next_waking_ == 0) {
      if (!is_missed() && !is_coarse_and_long() && (done_ == 0 || !is_worth_waking(now))) return;
      // relaxed: a hint.
      team_.missed_.ticks.store(0, relaxed);
      team_.begin_waking();
    }
    somebody_sleeps_ = team_.wake_another();
    next_waking_ = now + between_wakings_ns * per_ns_;
  }

  void finish(shared_loop& all) {
    loop_part part;
    // Threads that will soon begin the rest of their own parts get a short time to do so.
    const double until = time() + 2 * spared_ns * per_ns_;
    while (!team_.desk_->others_have_ended(total_) && time() < until) Memory::relax();
    while (team_.desk_->take(0, part, true)) run(all, part);
    // relaxed: a hint.
    team_.next_to_wake_.store(team_.threads_, relaxed);
    if (team_.waker_cpu_.load(relaxed) >= 0) team_.waker_cpu_.store(-1, relaxed);
    team_.desk_->wait_for_others(total_);
    // relaxed: a hint. A worker that was woken has come by now, or comes too late.
    if (team_.missed_.since.load(relaxed) != 0) team_.missed_.since.store(0, relaxed);
    if (team_.named_region_ != nullptr) team_.named_region_->close(0);
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
  std::size_t at_ = 0, block_ = 0, next_block_ = 0;
  // The number of positions that the caller has done.
  std::size_t done_ = 0;
  loop_manner manner_;
  loop_part first_;
  // The number of units that the caller has not taken.
  std::uint32_t total_ = 0;
  bool somebody_sleeps_ = false;
  double next_waking_ = 0;
};

template <class Memory>
void basic_team<Memory>::run_loop(detail::loop_work& work,
                                  const detail::loop_request<Memory>& request) {
  // relaxed: only this thread needs it.
  if (late_opener_.load(relaxed) != nullptr) [[unlikely]]
    refuse_while_late();
  loop_run mine(*this, work, request);
  if (threads_ == 1 || detail::team_here<Memory>() == this) return mine.alone();
  struct inside {
    explicit inside(const basic_team* t) noexcept
        : outer(std::exchange(detail::team_here<Memory>(), t)) {}
    ~inside() { detail::team_here<Memory>() = outer; }
    inside(const inside&) = delete;
    inside& operator=(const inside&) = delete;
    const basic_team* const outer;
  } const here(this);
  if (!mine.alone_for_a_while()) return;
  // acquire: makes the state of the previous opener visible; pairs with its clearing of is_open_.
  if (is_open_.exchange(true, acquire)) return mine.alone();
  struct open {
    explicit open(basic_team& t) noexcept : of(t) {}
    // release: publishes this opener's state to the next one; pairs with the exchange above.
    ~open() { of.is_open_.store(false, release); }
    open(const open&) = delete;
    open& operator=(const open&) = delete;
    basic_team& of;
  } const now(*this);
  mine.share();
}

// Takes parts as a worker that has seen an offer, perhaps long ago, or for which a named region was
// opened.
template <class Memory>
void basic_team<Memory>::help(const job&, basic_team& t, rank_t thread) {
  if (t.named_region_ == nullptr) {
    for (int wakings = 0; wakings < 2 && t.wake_another(); ++wakings) {
    }
    t.note_slept_through(thread);
    t.leave_core_of_waker();
  }
  std::uint32_t units = 0;
  for (loop_part part; t.desk_->take(thread, part); units += part.units()) {
    shared_loop& all = *t.desk_->job();
    all.for_each_stretch(part, [&](std::size_t first, std::size_t last) {
      const std::size_t position =
          all.is == shared_loop::form::blocks ? all.work.bound(first) : first;
      all.guard(position, [&] { all.work.part(thread, first, last); });
    });
  }
  if (units > 0) t.desk_->report(units);
  if (t.named_region_ != nullptr) t.named_region_->close(thread);
}

// Corrects the length of a worker's wait during which loops began without waking it. It waited
// until the first of them and then from each to the next, not for the whole time that it slept.
// Without the correction waits would look so long that the worker would never learn to stay awake.
template <class Memory>
void basic_team<Memory>::note_slept_through(rank_t thread) noexcept {
  // relaxed: these are hints.
  const std::uint64_t since = missed_.since.load(relaxed);
  if (since == 0) return;
  const double per_ns = Memory::ticks_per_ns();
  const auto ns = [per_ns](double ticks) {
    return static_cast<std::uint32_t>(std::clamp(ticks / per_ns, 1.0, 4e9));
  };
  // relaxed: these are hints, too.
  const std::uint32_t followers = missed_.followers.load(relaxed);
  const double gaps = missed_.gaps.load(relaxed);
  constexpr std::uint32_t most = 16;
  regions_->note_slept_through(thread, ns(static_cast<double>(Memory::ticks() - since)),
                               std::min(followers, most), ns(gaps / std::max(followers, 1U)));
}

// Leaves the core if it is that of the loop's caller. The kernel tends to run a thread that wakes
// on the core of the thread that wakes it, and on a virtual machine it nearly always does after
// some milliseconds of idleness. There the worker would only keep the caller from its work.
template <class Memory>
void basic_team<Memory>::leave_core_of_waker() noexcept {
  // relaxed: a hint.
  Memory::leave_cpu(waker_cpu_.load(relaxed));
}

template <class Memory>
void basic_team<Memory>::begin_waking() noexcept {
  const rank_t useful = std::min(threads_, static_cast<rank_t>(Memory::cpus())) - 1;
  // relaxed: a hint.
  waker_cpu_.store(Memory::cpu(), relaxed);
  next_to_wake_.store(threads_ - useful, relaxed);
}

// Wakes another worker. Returns false if none is left to wake.
template <class Memory>
bool basic_team<Memory>::wake_another() noexcept {
  // relaxed: a hint.
  if (next_to_wake_.load(relaxed) >= threads_ || regions_->asleep() == 0) return false;
  const rank_t rank = next_to_wake_.fetch_add(1, relaxed);
  if (rank >= threads_) return false;
  regions_->wake(rank);
  return true;
}

}  // namespace tutti
