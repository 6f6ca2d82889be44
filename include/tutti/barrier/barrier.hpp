// SPDX-License-Identifier: Apache-2.0
// tutti::barrier: what most programs include. std::barrier's interface, plus ranks and deadlines.
//
//   tutti::barrier sync(threads);
//   sync.arrive_and_wait();              // as std::barrier
//   sync.arrive_and_wait(rank);          // names the participant: a deadline can say who is missing
//
// Which algorithm: few participants, and more participants than CPUs, draw tickets from one counter (ticket.hpp);
// others meet on striped counters (striped.hpp). A completion function starts there, and the first
// arrive_and_drop moves the barrier there for good. barrier_options forces an algorithm by name.
// How it waits: adaptive_wait.
//
// Memory ordering: everything a participant does before it arrives happens before the completion function, which
// happens before any participant's return from the wait for that phase.
//
// Destruction: when every participant has returned from its last call.
// Hosted only: std::chrono, std::vector and exceptions are part of its interface.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/barrier/named.hpp"
#include "tutti/barrier/striped.hpp"
#include "tutti/barrier/ticket.hpp"
#include "tutti/barrier/timed.hpp"
#include "tutti/platform/misuse.hpp"
#include "tutti/platform/usable_cpus.hpp"

namespace tutti {

struct barrier_options {
  // A name of the registry ("dissemination", "mcs", ...) or of a provider (add_barrier_provider), or empty: tutti
  // chooses. A named algorithm has no split arrive and wait, no drop and no completion function.
  std::string_view algorithm = {};
  // How a named algorithm waits.
  std::string_view wait = "adaptive";
  // Up to so many participants one counter beats two levels: a level more costs two line transfers, and n on one
  // line about n/2 more than two.
  rank_t few = 5;
  // Participants to a striped counter.
  rank_t fan = 8;
};

template <class Completion = no_completion, bool Checks = (TUTTI_CHECKS != 0),
          class Memory = native, class Wait = adaptive_wait<Memory>>
class barrier {
  using ticket = ticket_barrier<Memory, Wait>;
  using striped = striped_barrier<Memory, Wait>;
  using habit = typename striped::habit;
  using site = call_site<Checks>;
  template <class T>
  using atomic = typename Memory::template atomic<T>;
  static constexpr bool has_completion = !std::is_same_v<Completion, no_completion>;
  static_assert(std::is_nothrow_invocable_v<Completion&>,
                "a completion function takes nothing and is noexcept, as for std::barrier");

 public:
  // The phase that an arrival belongs to: give it to wait().
  class arrival_token {
   public:
    arrival_token(arrival_token&&) noexcept = default;
    arrival_token& operator=(arrival_token&&) noexcept = default;
    // Counted from 0.
    std::uint64_t phase() const noexcept { return phase_; }

   private:
    friend barrier;
    explicit arrival_token(std::uint64_t phase) noexcept : phase_(phase) {}
    std::uint64_t phase_;
  };

  static constexpr std::ptrdiff_t max() noexcept { return striped::counter_max; }

  // Throws std::invalid_argument unless 1 <= expected <= max().
  explicit barrier(std::ptrdiff_t expected, Completion completion = {},
                   barrier_options options = {}, site made = site::here())
      : n_(checked_count(expected)),
        made_(made),
        completion_(std::move(completion)),
        uses_tickets_(!has_completion && (n_ <= options.few || n_ > platform::usable_cpus())),
        striped_from_(uses_tickets_ ? never : 0),
        seats_(n_),
        ticket_(n_),
        striped_(n_, n_ <= options.few ? 0 : options.fan) {
    if (!options.algorithm.empty())
      force(options);
    else if (options.wait != barrier_options{}.wait)
      refuse("wait policy '" + std::string(options.wait) +
             "' needs a named algorithm: tutti's choice always waits adaptively");
  }
  barrier(std::ptrdiff_t expected, barrier_options options,
          site made = site::here()) requires std::is_default_constructible_v<Completion>
      : barrier(expected, Completion{}, options, made) {}

  ~barrier() {
    if constexpr (Checks) check_nobody_inside();
  }
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;

  // ---- as std::barrier

  // Counts `update` arrivals without waiting.
  [[nodiscard]] arrival_token arrive(std::ptrdiff_t update = 1, site where = site::here()) {
    require_split("arrive");
    check_update(update, where);
    std::uint64_t phase = 0;
    for (; update > 0; --update) phase = count_arrival(my_habit());
    return arrival_token(phase);
  }

  void wait(arrival_token&& token, site where = site::here()) {
    const visit guard(*this, where);
    wait_for_phase(token.phase_, my_habit(), no_deadline{});
  }

  void arrive_and_wait(site where = site::here()) {
    if (named_) [[unlikely]]
      return arrive_and_wait(named_->rank_of_this_thread(), where);
    const visit guard(*this, where);
    habit& mine = my_habit();
    wait_for_phase(count_arrival(mine), mine, no_deadline{});
  }

  // My last arrival: later phases expect one participant less. Does not wait.
  void arrive_and_drop() {
    require_split("arrive_and_drop");
    drop(my_habit());
  }

  // ---- with a rank, 0 .. n-1: each used by one thread at a time

  [[nodiscard]] arrival_token arrive_as(rank_t rank, site where = site::here()) {
    require_split("arrive_as");
    check_rank(rank, where);
    return arrival_token(count_arrival_of(rank, where));
  }

  void arrive_and_wait(rank_t rank, site where = site::here()) {
    check_rank(rank, where);
    const visit guard(*this, where);
    if (named_) [[unlikely]] {
      note_arrival(rank, seats_[rank].phases_arrived.load(relaxed), where);  // relaxed: my own word
      return named_->barrier().arrive_and_wait(rank);
    }
    wait_for_phase(count_arrival_of(rank, where), seats_[rank].mine, no_deadline{});
  }

  void arrive_and_drop_as(rank_t rank, site where = site::here()) {
    require_split("arrive_and_drop_as");
    check_rank(rank, where);
    // relaxed: read for messages only; a rank that has dropped is never missing.
    seats_[rank].phases_arrived.store(never, relaxed);
    drop(seats_[rank].mine);
  }

  // ---- with a deadline. After a late phase the arrival stands: wait again with wait_for or wait_until. A named
  // algorithm cannot resume: its barrier must not be used again.

  template <class Rep, class Period>
  [[nodiscard]] timed_result arrive_and_wait_for(std::chrono::duration<Rep, Period> timeout,
                                                 site where = site::here()) {
    return arrive_and_wait_by(after(timeout), where);
  }
  template <class Rep, class Period>
  [[nodiscard]] timed_result arrive_and_wait_for(rank_t rank,
                                                 std::chrono::duration<Rep, Period> timeout,
                                                 site where = site::here()) {
    return arrive_and_wait_by(rank, after(timeout), where);
  }
  template <class Clock, class Duration>
  [[nodiscard]] timed_result arrive_and_wait_until(std::chrono::time_point<Clock, Duration> when,
                                                   site where = site::here()) {
    return arrive_and_wait_by(until_time(when), where);
  }
  template <class Clock, class Duration>
  [[nodiscard]] timed_result arrive_and_wait_until(rank_t rank,
                                                   std::chrono::time_point<Clock, Duration> when,
                                                   site where = site::here()) {
    return arrive_and_wait_by(rank, until_time(when), where);
  }
  // `phase` of a token or of a late result.
  template <class Rep, class Period>
  [[nodiscard]] timed_result wait_for(std::uint64_t phase,
                                      std::chrono::duration<Rep, Period> timeout,
                                      site where = site::here()) {
    require_split("wait_for");
    const visit guard(*this, where);
    return result(phase, wait_for_phase(phase, my_habit(), after(timeout)));
  }
  template <class Clock, class Duration>
  [[nodiscard]] timed_result wait_until(std::uint64_t phase,
                                        std::chrono::time_point<Clock, Duration> when,
                                        site where = site::here()) {
    require_split("wait_until");
    const visit guard(*this, where);
    return result(phase, wait_for_phase(phase, my_habit(), until_time(when)));
  }

 private:
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  struct alignas(cache_line) seat {
    habit mine{};
    // Phases in which this rank has arrived, counted from the first: for messages.
    atomic<std::uint64_t> phases_arrived{0};
  };

  // Counts who is inside, in builds with checks.
  class visit {
   public:
    visit([[maybe_unused]] barrier& b, [[maybe_unused]] const site& where) {
      if constexpr (Checks) {
        barrier_ = &b;
        b.check_room(where);
      }
    }
    ~visit() {
      // relaxed: a count for messages.
      if constexpr (Checks) barrier_->inside_.fetch_sub(1, relaxed);
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;

   private:
    barrier* barrier_ = nullptr;
  };

  static rank_t checked_count(std::ptrdiff_t expected) {
    if (expected < 1 || expected > max())
      refuse("a barrier is for 1 to " + std::to_string(max()) + " participants, not " +
             std::to_string(expected));
    return static_cast<rank_t>(expected);
  }

  void force(const barrier_options& options) {
    if constexpr (has_completion)
      refuse("algorithm '" + std::string(options.algorithm) + "' cannot run a completion function");
    named_ = std::make_unique<named_algorithm>(options.algorithm, n_, options.wait);
  }

  habit& my_habit() noexcept { return seat_of_this_thread<habit>(this); }

  // Returns the phase arrived in.
  std::uint64_t count_arrival(habit& mine) {
    if (uses_tickets_) {
      const std::uint64_t phase = ticket_.arrive();
      // relaxed: whoever made this phase a striped one did so before its ticket of the phase before, which mine
      // follows in the counter's release sequence.
      if (phase < striped_from_.load(relaxed)) [[likely]]
        return phase;
    }
    return count_striped_arrival(mine, false);
  }

  std::uint64_t count_striped_arrival(habit& mine, bool is_last) {
    // relaxed: fixed before the first striped phase.
    return striped_from_.load(relaxed) + striped_.arrive(mine, is_last, completion_);
  }

  std::uint64_t count_arrival_of(rank_t rank, const site& where) {
    seat& mine = seats_[rank];
    if (!uses_tickets_) mine.mine.leaf = striped_.leaf_of(rank);
    const std::uint64_t phase = count_arrival(mine.mine);
    note_arrival(rank, phase, where);
    return phase;
  }

  // Compared as a 32-bit difference: the phases of striped counters wrap there.
  static bool has_arrived(std::uint64_t phases_arrived, std::uint64_t phase) noexcept {
    return phases_arrived == never ||
           static_cast<std::int32_t>(static_cast<std::uint32_t>(phases_arrived - phase)) > 0;
  }

  void note_arrival(rank_t rank, std::uint64_t phase, [[maybe_unused]] const site& where) {
    atomic<std::uint64_t>& arrived = seats_[rank].phases_arrived;
    if constexpr (Checks) {
      // relaxed: this rank's own word.
      const std::uint64_t before = arrived.load(relaxed);
      if (before == never)
        on_misuse("rank " + std::to_string(rank) + " arrived after it had dropped", where.at);
      else if (has_arrived(before, phase))
        on_misuse(
            "rank " + std::to_string(rank) + " arrived twice in phase " + std::to_string(phase),
            where.at);
    }
    // relaxed: read for messages only.
    arrived.store(phase + 1, relaxed);
  }

  template <class Deadline>
  bool wait_for_phase(std::uint64_t phase, habit& mine, Deadline deadline) {
    // relaxed: as in count_arrival.
    const std::uint64_t striped_from = striped_from_.load(relaxed);
    if (phase < striped_from) [[likely]]
      return ticket_.wait(phase, mine.seat, deadline);
    return striped_.wait(static_cast<std::uint32_t>(phase - striped_from), mine, deadline);
  }

  void drop(habit& mine) {
    // The phase cannot end before I arrive: a ticket phase is the one that the counter shows.
    const std::uint64_t phase = uses_tickets_ ? ticket_.phase() : never;
    // relaxed: as in count_arrival.
    if (phase < striped_from_.load(relaxed)) {
      // From the next phase on the striped counters count. There I am still expected: I drop there.
      // relaxed: published by my ticket, before anybody can be in the next phase.
      striped_from_.store(phase + 1, relaxed);
      ticket_.arrive();
    }
    count_striped_arrival(mine, true);
  }

  // ---- deadlines

  template <class Rep, class Period>
  static deadline after(std::chrono::duration<Rep, Period> timeout) noexcept {
    return deadline_after<Memory>(timeout);
  }

  template <class Clock, class Duration>
  static deadline until_time(std::chrono::time_point<Clock, Duration> when) noexcept {
    const auto now = Clock::now();
    return when <= now ? deadline(Memory::now_ns()) : after(when - now);
  }

  timed_result arrive_and_wait_by(deadline until, const site& where) {
    if (named_) return arrive_and_wait_by(named_->rank_of_this_thread(), until, where);
    const visit guard(*this, where);
    habit& mine = my_habit();
    const std::uint64_t phase = count_arrival(mine);
    return result(phase, wait_for_phase(phase, mine, until));
  }

  timed_result arrive_and_wait_by(rank_t rank, deadline until, const site& where) {
    check_rank(rank, where);
    const visit guard(*this, where);
    if (named_) {
      const std::uint64_t phase =
          seats_[rank].phases_arrived.load(relaxed);  // relaxed: my own word
      note_arrival(rank, phase, where);
      return result(phase, named_->barrier().arrive_and_wait(rank, until));
    }
    const std::uint64_t phase = count_arrival_of(rank, where);
    return result(phase, wait_for_phase(phase, seats_[rank].mine, until));
  }

  timed_result result(std::uint64_t phase, bool in_time) {
    timed_result told{in_time, phase, 0, {}};
    if (in_time) return told;
    bool has_ranks = false;
    for (rank_t rank = 0; rank < n_; ++rank) {
      // relaxed: a snapshot for the message.
      const std::uint64_t arrived = seats_[rank].phases_arrived.load(relaxed);
      has_ranks = has_ranks || arrived > 0;
      if (!has_arrived(arrived, phase)) told.missing_ranks.push_back(rank);
    }
    if (!has_ranks) told.missing_ranks.clear();
    told.missing =
        named_ ? static_cast<rank_t>(told.missing_ranks.size()) : missing_arrivals(phase);
    return told;
  }

  rank_t missing_arrivals(std::uint64_t phase) const noexcept {
    // relaxed: a snapshot.
    const std::uint64_t striped_from = striped_from_.load(relaxed);
    return phase < striped_from
               ? ticket_.missing(phase)
               : striped_.missing(static_cast<std::uint32_t>(phase - striped_from));
  }

  // ---- misuse

  void require_split(const char* call) const {
    if (named_) [[unlikely]]
      refuse(std::string(call) + ": a barrier with a named algorithm has only arrive_and_wait");
  }

  void check_rank([[maybe_unused]] rank_t rank, [[maybe_unused]] const site& where) const {
    if constexpr (Checks)
      if (rank >= n_)
        on_misuse("rank " + std::to_string(rank) + " is out of range for a barrier of " +
                      std::to_string(n_) + " participants (ranks 0 to " + std::to_string(n_ - 1) +
                      ")",
                  where.at);
  }

  void check_update([[maybe_unused]] std::ptrdiff_t update,
                    [[maybe_unused]] const site& where) const {
    if constexpr (Checks)
      if (update < 1 || update > static_cast<std::ptrdiff_t>(n_))
        on_misuse("arrive(" + std::to_string(update) + ") on a barrier of " + std::to_string(n_) +
                      " participants",
                  where.at);
  }

  void check_room([[maybe_unused]] const site& where) {
    if constexpr (Checks) {
      // relaxed: a count for messages.
      const rank_t inside = inside_.fetch_add(1, relaxed) + 1;
      if (inside <= n_) return;
      // Not inside while it is reported: the handler may throw.
      // relaxed: as above.
      inside_.fetch_sub(1, relaxed);
      on_misuse(std::to_string(inside) + " threads are inside a barrier of " + std::to_string(n_) +
                    " participants",
                where.at);
      inside_.fetch_add(1, relaxed);
    }
  }

  void check_nobody_inside() {
    if constexpr (Checks) {
      // relaxed: whoever destroys must have seen everybody return.
      const rank_t inside = inside_.load(relaxed);
      if (inside != 0)
        on_misuse("a barrier is destroyed while " + std::to_string(inside) + " of its " +
                      std::to_string(n_) + " participants wait in it",
                  made_.at);
    }
  }

  const rank_t n_;
  [[no_unique_address]] const site made_;  // a destructor has no call to point at
  [[no_unique_address]] Completion completion_;
  const bool uses_tickets_;
  // The first phase that the striped counters count. Read by all, written at most once.
  atomic<std::uint64_t> striped_from_;
  std::unique_ptr<named_algorithm> named_;
  array<seat> seats_;
  ticket ticket_;
  striped striped_;
  atomic<rank_t> inside_{0};  // with checks
};

}  // namespace tutti
