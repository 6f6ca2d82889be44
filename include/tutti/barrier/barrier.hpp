// SPDX-License-Identifier: Apache-2.0
// tutti::barrier, which most programs include: the interface of std::barrier, plus ranks and
// deadlines.
//
//   tutti::barrier sync(threads);
//   sync.arrive_and_wait();              // the call of std::barrier
//   sync.arrive_and_wait(rank);          // with a rank a deadline can tell who is missing
//
// Parts: chosen_algorithm.hpp chooses how arrivals are counted, by options.hpp and the number of
// participants; deadline_calls.hpp has the calls with a deadline; misuse_checks.hpp has what builds
// with checks report; arrival_records.hpp has what both know of each rank. Waits use adaptive_wait.
//
// Layout: every call needs two cache lines. What not every barrier needs is made when it is needed,
// and its code is in functions that are not inlined.
//
// Memory ordering: everything that a participant does before it arrives happens before the
// completion function, which happens before any participant's return from the wait for that phase.
// Thread-safety: participants call at the same time; one thread at a time may use a rank.
// Destruction: all participants must have returned from their last call.
// Hosted only: std::chrono, std::vector and exceptions are part of the interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tutti/barrier/arrival_records.hpp"
#include "tutti/barrier/chosen_algorithm.hpp"
#include "tutti/barrier/deadline_calls.hpp"
#include "tutti/barrier/misuse_checks.hpp"
#include "tutti/barrier/options.hpp"
#include "tutti/wait/thread_state.hpp"

namespace tutti {

// Completion is called without arguments by the last arrival of each phase. Calls from sources that
// are compiled with checks report misuse (platform/misuse.hpp).
template <class Completion = no_completion, class Memory = native,
          class Wait = adaptive_wait<Memory>>
class barrier : public deadline_calls<barrier<Completion, Memory, Wait>, Memory> {
  using algorithm = chosen_algorithm<Completion, Memory, Wait>;
  using thread_state = typename algorithm::thread_state;
  using records = arrival_records<Memory, thread_state>;
  using record = arrival_record<Memory, thread_state>;
  using checks = misuse_checks<Memory>;
  using visit = typename checks::visit;
  using site = call_site;
  using timed_wait = basic_deadline<Memory>;
  static_assert(std::is_invocable_v<Completion&>, "a completion function takes nothing");

 public:
  // The phase of an arrival, to pass to wait().
  class arrival_token {
   public:
    arrival_token(arrival_token&&) noexcept = default;
    arrival_token& operator=(arrival_token&&) noexcept = default;
    // Returns the number of the phase, counted from 0.
    std::uint64_t phase() const noexcept { return phase_; }

   private:
    friend barrier;
    explicit arrival_token(std::uint64_t phase) noexcept : phase_(phase) {}
    std::uint64_t phase_;
  };

  // Returns the largest number of participants.
  static constexpr std::ptrdiff_t(max)() noexcept { return (algorithm::max)(); }

  // Makes a barrier for `expected` participants. Throws std::invalid_argument unless
  // 0 <= expected <= max(), and for options that make_barrier rejects or that do not fit together.
  // Nobody may arrive at a barrier for 0 participants. A completion function that throws ends the
  // program (LWG 3898). A barrier for few participants, without a completion function and without
  // options, can be constinit.
  constexpr explicit barrier(std::ptrdiff_t expected, Completion completion = {},
                             barrier_options options = {}, site made = site::here())
      : algorithm_(expected, std::move(completion), options), records_(n()), checks_(n(), made) {}
  constexpr barrier(std::ptrdiff_t expected, barrier_options options,
                    site made = site::here()) requires std::is_default_constructible_v<Completion>
      : barrier(expected, Completion{}, options, made) {}

  ~barrier() { checks_.check_nobody_inside(); }
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;

  // Sets the patience of all waits that begin later. Any thread may call it at any time. Returns
  // false if the barrier has a named algorithm with a wait policy that has no patience.
  bool set_patience(patience p) noexcept { return algorithm_.set_patience(p); }

  // ---- the interface of std::barrier

  // Counts `update` arrivals, 1 .. n, without waiting. Throws std::invalid_argument if the barrier
  // has a named algorithm.
  [[nodiscard]] arrival_token arrive(std::ptrdiff_t update = 1, site where = site::here()) {
    algorithm_.require_split("arrive");
    checks_.check_update(update, where);
    if (where.checks() && update > 1) [[unlikely]]
      checks_.check_lacking(update, algorithm_.missing(algorithm_.present()), where);
    return arrival_token(algorithm_.count_arrival(my_state(), static_cast<rank_t>(update)));
  }

  // Waits until the phase of the token has ended.
  void wait(arrival_token&& token, site where = site::here()) const {
    const visit guard(checks_, present(token.phase_), where);
    algorithm_.wait(token.phase_, my_state(), no_deadline{});
  }

  // Arrives and waits until the phase has ended.
  void arrive_and_wait(site where = site::here()) {
    if (!algorithm_.is_by_tickets()) [[unlikely]]
      return arrive_and_wait_otherwise(where);
    const visit guard(checks_, present(), where);
    const auto drawn = algorithm_.tickets().draw();
    algorithm_.tickets().wait(drawn, my_state().wait_state);
  }

  // Arrives for the last time, without waiting: later phases expect one participant less. From the
  // phase of the first such call on, a phase must not be able to end without a thread that has
  // begun to arrive. Otherwise a later phase may never end. Throws std::invalid_argument if the
  // barrier has a named algorithm.
  void arrive_and_drop() {
    algorithm_.require_split("arrive_and_drop");
    algorithm_.drop(my_state());
  }

  // ---- the same with a rank, 0 .. n-1. One thread at a time may use a rank. The first call with a
  // rank allocates memory for all ranks and may throw std::bad_alloc, before it arrives. arrive_as
  // and arrive_and_drop_as throw std::invalid_argument if the barrier has a named algorithm.

  // Allocates that memory now, so that no later call does before it arrives. Any thread may call it
  // at any time.
  void make_records() { records_.make_all(); }

  [[nodiscard]] arrival_token arrive_as(rank_t rank, site where = site::here()) {
    algorithm_.require_split("arrive_as");
    checks_.check_rank(rank, where);
    return arrival_token(count_arrival_of(rank, where));
  }

  void arrive_and_wait(rank_t rank, site where = site::here()) {
    checks_.check_rank(rank, where);
    if (!algorithm_.is_by_tickets()) [[unlikely]]
      return arrive_and_wait_otherwise(rank, where);
    const visit guard(checks_, present(), where);
    record& mine = records_[rank];
    const auto drawn = algorithm_.tickets().draw();
    note_arrival(rank, mine, drawn.episode, where);
    algorithm_.tickets().wait(drawn, mine.mine.wait_state);
  }

  void arrive_and_drop_as(rank_t rank, site where = site::here()) {
    algorithm_.require_split("arrive_and_drop_as");
    checks_.check_rank(rank, where);
    record& mine = records_[rank];
    mine.note_drop();
    algorithm_.drop(mine.mine);
  }

  // ---- the same with a deadline: arrive_and_wait_for, arrive_and_wait_until, wait_for and
  // wait_until, of deadline_calls.hpp.

 private:
  friend deadline_calls<barrier, Memory>;

  constexpr rank_t n() const noexcept { return algorithm_.participants(); }

  thread_state& my_state() const noexcept {
    return state_of_this_thread<thread_state, Memory>(this);
  }

  // Return functions for visit. A wait for a phase that has ended counts in that phase.
  auto present() const noexcept {
    return [this] { return algorithm_.present(); };
  }
  auto present(std::uint64_t awaited) const noexcept {
    return [this, awaited] {
      const std::uint64_t now = algorithm_.present();
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(awaited - now)) < 0 ? awaited
                                                                                      : now;
    };
  }

  std::uint64_t count_arrival_of(rank_t rank, site where) {
    record& mine = records_[rank];
    const std::uint64_t phase = algorithm_.count_arrival_of(rank, mine.mine);
    note_arrival(rank, mine, phase, where);
    return phase;
  }

  [[gnu::noinline]] void arrive_and_wait_otherwise(site where) {
    if (algorithm_.has_name())
      return arrive_and_wait_otherwise(algorithm_.named().rank_of_this_thread(), where);
    const visit guard(checks_, present(), where);
    thread_state& mine = my_state();
    algorithm_.wait(algorithm_.count_arrival(mine), mine, no_deadline{});
  }

  [[gnu::noinline]] void arrive_and_wait_otherwise(rank_t rank, site where) {
    const visit guard(checks_, present(), where);
    if (algorithm_.has_name()) {
      note_arrival_by_name(rank, where);
      return algorithm_.named().barrier().arrive_and_wait(rank);
    }
    const std::uint64_t phase = count_arrival_of(rank, where);
    algorithm_.wait(phase, records_[rank].mine, no_deadline{});
  }

  void note_arrival(rank_t rank, record& mine, std::uint64_t phase, site where) {
    checks_.check_arrival(rank, mine, phase, where);
    mine.note_arrival(phase);
  }

  // Returns the phase, which the record counts because a named algorithm does not report it.
  std::uint64_t note_arrival_by_name(rank_t rank, site where) {
    record& mine = records_[rank];
    const std::uint64_t phase = mine.arrivals();
    note_arrival(rank, mine, phase, where);
    return phase;
  }

  // ---- what deadline_calls.hpp calls

  timed_result arrive_and_wait_by(timed_wait until, site where) {
    if (algorithm_.has_name())
      return arrive_and_wait_by(algorithm_.named().rank_of_this_thread(), until, where);
    const visit guard(checks_, present(), where);
    thread_state& mine = my_state();
    const std::uint64_t phase = algorithm_.count_arrival(mine);
    return result(phase, algorithm_.wait(phase, mine, until));
  }

  timed_result arrive_and_wait_by(rank_t rank, timed_wait until, site where) {
    checks_.check_rank(rank, where);
    const visit guard(checks_, present(), where);
    if (algorithm_.has_name()) {
      const std::uint64_t phase = note_arrival_by_name(rank, where);
      return result(phase,
                    algorithm_.named().barrier().arrive_and_wait(rank, deadline(until.ns())));
    }
    const std::uint64_t phase = count_arrival_of(rank, where);
    return result(phase, algorithm_.wait(phase, records_[rank].mine, until));
  }

  timed_result wait_by(const char* call, std::uint64_t phase, timed_wait until, site where) const {
    algorithm_.require_split(call);
    const visit guard(checks_, present(phase), where);
    return result(phase, algorithm_.wait(phase, my_state(), until));
  }

  timed_result result(std::uint64_t phase, bool in_time) const {
    if (in_time) return {true, phase, 0, {}};
    return late(phase);
  }

  [[gnu::cold, gnu::noinline]] timed_result late(std::uint64_t phase) const {
    timed_result told =
        detail::late_result(phase, [&](auto report) { records_.each_missing(phase, report); });
    if (!algorithm_.has_name()) told.missing = algorithm_.missing(phase);
    return told;
  }

  [[no_unique_address]] algorithm algorithm_;
  records records_;
  checks checks_;
};

}  // namespace tutti
