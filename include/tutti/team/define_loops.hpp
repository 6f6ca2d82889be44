// SPDX-License-Identifier: Apache-2.0
// Defines how teams run loops: the caller runs a loop alone as long as sharing does not pay
// (define_measured_loop.hpp), then shares it with workers that are awake, and wakes others only if
// the loop takes long. team/on_platform.hpp says who includes it.
// Hosted only: it needs exceptions.
#pragma once

#include <algorithm>
#include <exception>
#include <utility>

#include "tutti/platform/usable_cpus.hpp"
#include "tutti/team/define_measured_loop.hpp"
#include "tutti/team/define_shared_loop.hpp"
#include "tutti/team/team.hpp"

namespace tutti {

// The caller's side of a loop: alone, and then with others.
template <class Memory>
class basic_team<Memory>::loop_run : public measured_loop {
 public:
  using measured_loop::measured_loop;

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
  using measured_loop::at_;
  using measured_loop::between_wakings_ns;
  using measured_loop::block_;
  using measured_loop::cost_;
  using measured_loop::count_;
  using measured_loop::done_;
  using measured_loop::is_coarse_and_long;
  using measured_loop::is_missed;
  using measured_loop::is_worth_waking;
  using measured_loop::learn;
  using measured_loop::least_part_ns;
  using measured_loop::most_at_a_guess;
  using measured_loop::most_units;
  using measured_loop::parts_of_tick;
  using measured_loop::per_ns_;
  using measured_loop::positions_in;
  using measured_loop::request_;
  using measured_loop::spared_ns;
  using measured_loop::step_ns;
  using measured_loop::takes_of_thread;
  using measured_loop::team_;
  using measured_loop::ticks_expected;
  using measured_loop::time;
  using measured_loop::units_of_slot;
  using measured_loop::work_;

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
    return {at_, at_ + (std::min)(count_ - at_, all.chunk - at_ % all.chunk)};
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
    const double of_slot = (std::max)(seen, ticks_expected()) / team_.threads_;
    const double most = cost_ > 0 ? static_cast<double>(in_slot) : most_at_a_guess;
    const auto worth = [&](double ns) {
      return (std::min)(most,
                        static_cast<double>(in_slot) * ns * per_ns_ / (std::max)(of_slot, 1.0));
    };
    // A slot that is worth only a few parts is one part, so that no thread takes half of it.
    manner_.least = static_cast<std::uint32_t>((std::max)(1.0, worth(least_part_ns)));
    if (manner_.least > in_slot / 4 && cost_ > 0)
      manner_.least = static_cast<std::uint32_t>(in_slot);
    manner_.share = 4;
    if (is_divided) manner_.spared = static_cast<std::uint32_t>(worth(spared_ns));
  }

  // Chooses how many cheap chunks a thread takes at a time.
  void choose_chunks(const shared_loop& all) {
    constexpr double all_that_fit = 0x7fff;
    const double seen = done_ > 0 ? time() / static_cast<double>(done_) : 0;
    const double of_position = (std::max)(seen, static_cast<double>(cost_) / parts_of_tick);
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
    if (team_.regions_.are_named()) {
      job everybody;
      everybody.run = &help;
      return team_.regions_.open(everybody);
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
    if (team_.regions_.are_named()) team_.regions_.close();
  }

  std::size_t next_block_ = 0;
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
  if (is_open_.exchange(true, acquire)) {
    bool has_begun = false;
    try {
      has_begun = begin_otherwise();
    } catch (...) {
      // A child of fork() cannot have workers again. The loop has begun, and ends without them.
    }
    if (!has_begun) return mine.alone();
  }
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
  if (!t.regions_.are_named()) {
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
  if (t.regions_.are_named()) t.regions_.arrive(thread);
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
                               (std::min)(followers, most), ns(gaps / (std::max)(followers, 1U)));
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
  const rank_t useful = (std::min)(threads_, static_cast<rank_t>(Memory::cpus())) - 1;
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
