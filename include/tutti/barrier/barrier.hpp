// SPDX-License-Identifier: Apache-2.0
// tutti::barrier, which most programs include: the interface of std::barrier, plus ranks and
// deadlines.
//
//   tutti::barrier sync(threads);
//   sync.arrive_and_wait();              // the call of std::barrier
//   sync.arrive_and_wait(rank);          // with a rank a deadline can tell who is missing
//
// Algorithm: few participants, and more participants than CPUs, use one ticket counter
// (ticket.hpp). Other numbers, and barriers with a completion function, use striped counters
// (striped.hpp). barrier_options can name another algorithm. Waits use adaptive_wait.
//
// Layout: every call needs two cache lines. The counters of a striped barrier and the records of
// the ranks are made when they are needed. The code for drops, deadlines, named algorithms and
// misuse is in functions that are not inlined.
//
// Memory ordering: everything that a participant does before it arrives happens before the
// completion function, which happens before any participant's return from the wait for that phase.
// Thread-safety: participants call at the same time; one thread at a time may use a rank.
// Destruction: all participants must have returned from their last call.
// Hosted only: std::chrono, std::vector and exceptions are part of the interface.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/barrier/auto_rank.hpp"
#include "tutti/barrier/drops.hpp"
#include "tutti/barrier/rank_records.hpp"
#include "tutti/barrier/striped.hpp"
#include "tutti/barrier/ticket.hpp"
#include "tutti/barrier/timed.hpp"
#include "tutti/platform/misuse.hpp"
#include "tutti/platform/owned.hpp"
#include "tutti/platform/usable_cpus.hpp"
#include "tutti/schedule/choose.hpp"

namespace tutti {

struct barrier_options {
  // The name of an algorithm of the registry ("dissemination", "mcs", ...) or of a provider
  // (provider.hpp). If it is empty, tutti chooses. A barrier with a named algorithm supports
  // neither arrive without wait, nor drops, nor a completion function. The name is the only part of
  // this header that needs the compiled library.
  algorithm_name algorithm = {};
  // The wait policy of a named algorithm.
  std::string_view wait = "adaptive";
  // The largest number of participants that use one counter instead of two levels. A second level
  // costs two line transfers; n participants on one line cost about n/2 more than two do.
  rank_t few = choose::few_on_one_counter;
  // The number of participants that share a striped counter.
  rank_t fan = 8;
  // How long a wait keeps the processor before it sleeps (wait/patience.hpp).
  tutti::patience patience = {};
};

// Completion is called without arguments by the last arrival of each phase. With Checks the barrier
// reports misuse (platform/misuse.hpp).
template <class Completion = no_completion, bool Checks = (TUTTI_CHECKS != 0),
          class Memory = native, class Wait = adaptive_wait<Memory>>
class barrier {
  using ticket = ticket_barrier<Memory, Wait>;
  using striped = striped_barrier<Memory, Wait>;
  using thread_state = typename striped::thread_state;
  using site = call_site<Checks>;
  using timed_wait = basic_deadline<Memory>;
  template <class T>
  using atomic = typename Memory::template atomic<T>;
  static constexpr bool has_completion = !std::is_same_v<Completion, no_completion>;
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
  static constexpr std::ptrdiff_t max() noexcept { return striped::counter_max; }

  // Makes a barrier for `expected` participants. Throws std::invalid_argument unless
  // 0 <= expected <= max(), and for options that make_barrier rejects or that do not fit together.
  // Nobody may arrive at a barrier for 0 participants. A completion function that throws ends the
  // program (LWG 3898).
  explicit barrier(std::ptrdiff_t expected, Completion completion = {},
                   barrier_options options = {}, site made = site::here())
      : ticket_(checked_count(expected)),
        records_(n()),
        made_(made),
        completion_(std::move(completion)) {
    if (!options.algorithm.empty() || options.wait != barrier_options{}.wait)
      force(options);
    else if ((has_completion && n() > 0) || is_striped(options.few))
      use_stripes(n() <= options.few ? 0 : options.fan);
    if (!named_ && !options.patience.is_open()) set_patience(options.patience);
  }
  barrier(std::ptrdiff_t expected, barrier_options options,
          site made = site::here()) requires std::is_default_constructible_v<Completion>
      : barrier(expected, Completion{}, options, made) {}

  ~barrier() {
    if constexpr (Checks) check_nobody_inside();
  }
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;

  // Sets the patience of all waits that begin later. Any thread may call it at any time. Returns
  // false if the barrier has a named algorithm with a wait policy that has no patience.
  bool set_patience(patience p) noexcept {
    if (named_) return named_->barrier().set_patience(p);
    return striped_ ? striped_->set_patience(p) : ticket_.set_patience(p);
  }

  // ---- the interface of std::barrier

  // Counts `update` arrivals, 1 .. n, without waiting. Throws std::invalid_argument if the barrier
  // has a named algorithm.
  [[nodiscard]] arrival_token arrive(std::ptrdiff_t update = 1, site where = site::here()) {
    require_split("arrive");
    check_update(update, where);
    return arrival_token(count_arrival(my_state(), static_cast<rank_t>(update)));
  }

  // Waits until the phase of the token has ended.
  void wait(arrival_token&& token, site where = site::here()) const {
    const visit guard(*this, where);
    wait_for_phase(token.phase_, my_state(), no_deadline{});
  }

  // Arrives and waits until the phase has ended.
  void arrive_and_wait(site where = site::here()) {
    if (way() != by_tickets) [[unlikely]]
      return arrive_and_wait_otherwise(where);
    const visit guard(*this, where);
    const auto drawn = ticket_.draw();
    ticket_.wait(drawn, my_state().wait_state);
  }

  // Arrives for the last time, without waiting: later phases expect one participant less. Throws
  // std::invalid_argument if the barrier has a named algorithm.
  void arrive_and_drop() {
    require_split("arrive_and_drop");
    drop(my_state());
  }

  // ---- the same with a rank, 0 .. n-1. One thread at a time may use a rank. The first call with a
  // rank allocates memory for all ranks and may throw std::bad_alloc, before it arrives.

  [[nodiscard]] arrival_token arrive_as(rank_t rank, site where = site::here()) {
    require_split("arrive_as");
    check_rank(rank, where);
    return arrival_token(count_arrival_of(rank, where));
  }

  void arrive_and_wait(rank_t rank, site where = site::here()) {
    check_rank(rank, where);
    if (way() != by_tickets) [[unlikely]]
      return arrive_and_wait_otherwise(rank, where);
    const visit guard(*this, where);
    record& mine = records_[rank];
    const auto drawn = ticket_.draw();
    note_arrival(rank, mine, drawn.episode, where);
    ticket_.wait(drawn, mine.mine.wait_state);
  }

  void arrive_and_drop_as(rank_t rank, site where = site::here()) {
    require_split("arrive_and_drop_as");
    check_rank(rank, where);
    record& mine = records_[rank];
    // relaxed: others read it for messages only. A rank that has dropped out is never missing.
    mine.phases_arrived.store(never, relaxed);
    drop(mine.mine);
  }

  // ---- the same with a deadline. If the deadline passes, the arrival still counts: wait again
  // with wait_for or wait_until, not by another arrival. A named algorithm cannot resume a wait:
  // its barrier must not be used again.

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
  // Wait for the end of `phase`, which a token or a late result supplies. Throw
  // std::invalid_argument if the barrier has a named algorithm.
  template <class Rep, class Period>
  [[nodiscard]] timed_result wait_for(std::uint64_t phase,
                                      std::chrono::duration<Rep, Period> timeout,
                                      site where = site::here()) const {
    require_split("wait_for");
    const visit guard(*this, where);
    return result(phase, wait_for_phase(phase, my_state(), after(timeout)));
  }
  template <class Clock, class Duration>
  [[nodiscard]] timed_result wait_until(std::uint64_t phase,
                                        std::chrono::time_point<Clock, Duration> when,
                                        site where = site::here()) const {
    require_split("wait_until");
    const visit guard(*this, where);
    return result(phase, wait_for_phase(phase, my_state(), until_time(when)));
  }

 private:
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  // How arrivals are counted. by_tickets_of_fewer replaces by_tickets at the first drop.
  enum : std::uint32_t { by_tickets, by_tickets_of_fewer, by_stripes, by_name };

  struct record {
    thread_state mine{};
    // The number of phases in which this rank has arrived, or `never` once it has dropped out. It
    // serves messages and checks.
    atomic<std::uint64_t> phases_arrived{0};
  };

  // Counts the threads inside the barrier, in builds with checks.
  class visit {
   public:
    visit([[maybe_unused]] const barrier& b, [[maybe_unused]] const site& where) {
      if constexpr (Checks) {
        barrier_ = &b;
        b.check_room(where);
      }
    }
    ~visit() {
      // relaxed: a count for messages.
      if constexpr (Checks) barrier_->inside_.value.fetch_sub(1, relaxed);
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;

   private:
    const barrier* barrier_ = nullptr;
  };

  static rank_t checked_count(std::ptrdiff_t expected) {
    if (expected < 0 || expected > max())
      refuse("a barrier is for 0 to " + std::to_string(max()) + " participants, not " +
             std::to_string(expected));
    return static_cast<rank_t>(expected);
  }

  [[gnu::cold, gnu::noinline]] void force(const barrier_options& options) {
    if (options.algorithm.empty())
      refuse("wait policy '" + std::string(options.wait) +
             "' needs a named algorithm: tutti's choice always waits adaptively");
    if constexpr (has_completion)
      refuse("algorithm '" + std::string(std::string_view(options.algorithm)) +
             "' cannot run a completion function");
    named_.take(options.algorithm.make(n(), options.wait, options.patience));
    // relaxed: the barrier is not shared yet.
    way_.store(by_name, relaxed);
  }

  bool is_striped(rank_t few) const noexcept {
    const bool crowded = n() > few && choose::is_crowded(n(), Memory::cpus());
    return choose::barrier(n(), crowded, few) == "striped";
  }

  [[gnu::noinline]] void use_stripes(rank_t fan) {
    striped_.take(new striped(n(), fan));
    // relaxed: the barrier is not shared yet.
    way_.store(by_stripes, relaxed);
  }

  rank_t n() const noexcept { return ticket_.participants(); }

  // relaxed: it changes once, when a participant drops out, before that participant's last arrival.
  // A participant of the next phase has seen the end of the present one, and a participant of the
  // present phase may count its arrival either way.
  std::uint32_t way() const noexcept { return way_.load(relaxed); }

  thread_state& my_state() const noexcept {
    return state_of_this_thread<thread_state, Memory>(this);
  }

  // Returns the phase of the arrival.
  std::uint64_t count_arrival(thread_state& mine, rank_t count = 1) {
    switch (way()) {
      case by_tickets: return ticket_.draw(count).episode;
      case by_tickets_of_fewer: return draw_among_fewer(count);
      default: return count_striped_arrival(mine, count, false);
    }
  }

  [[gnu::noinline]] std::uint64_t count_striped_arrival(thread_state& mine, rank_t count,
                                                        bool is_last) {
    std::uint64_t phase = 0;
    const auto complete = [this]() noexcept { completion_(); };
    for (; count > 0; --count) phase = striped_->arrive(mine, is_last, complete);
    return phase;
  }

  // The first arrival of a phase also draws the tickets of the participants that have dropped out.
  [[gnu::cold, gnu::noinline]] std::uint64_t draw_among_fewer(rank_t count) {
    const auto mine = ticket_.draw(count);
    const rank_t dropped = mine.is_first ? drops_.before(mine.episode) : 0;
    if (dropped > 0) ticket_.draw(dropped);
    return mine.episode;
  }

  std::uint64_t count_arrival_of(rank_t rank, const site& where) {
    record& mine = records_[rank];
    if (way() == by_stripes) mine.mine.leaf = striped_->leaf_of(rank);
    const std::uint64_t phase = count_arrival(mine.mine);
    note_arrival(rank, mine, phase, where);
    return phase;
  }

  [[gnu::noinline]] void arrive_and_wait_otherwise(site where) {
    if (named_) return arrive_and_wait_otherwise(named_->rank_of_this_thread(), where);
    const visit guard(*this, where);
    thread_state& mine = my_state();
    wait_for_phase(count_arrival(mine), mine, no_deadline{});
  }

  [[gnu::noinline]] void arrive_and_wait_otherwise(rank_t rank, site where) {
    const visit guard(*this, where);
    if (named_) {
      note_arrival_by_name(rank, where);
      return named_->barrier().arrive_and_wait(rank);
    }
    const std::uint64_t phase = count_arrival_of(rank, where);
    wait_for_phase(phase, records_[rank].mine, no_deadline{});
  }

  // Compares by a 32-bit difference, because the phases of striped counters wrap around at 32 bits.
  static bool has_arrived(std::uint64_t phases_arrived, std::uint64_t phase) noexcept {
    return phases_arrived == never ||
           static_cast<std::int32_t>(static_cast<std::uint32_t>(phases_arrived - phase)) > 0;
  }

  void note_arrival(rank_t rank, record& mine, std::uint64_t phase, const site& where) {
    if constexpr (Checks) check_arrival(rank, mine, phase, where);
    // relaxed: others read it for messages only.
    mine.phases_arrived.store(phase + 1, relaxed);
  }

  // Returns the phase, which the record counts because a named algorithm does not report it.
  std::uint64_t note_arrival_by_name(rank_t rank, const site& where) {
    record& mine = records_[rank];
    // relaxed: only this rank writes it.
    const std::uint64_t phase = mine.phases_arrived.load(relaxed);
    note_arrival(rank, mine, phase, where);
    return phase;
  }

  template <class Deadline>
  bool wait_for_phase(std::uint64_t phase, thread_state& mine, Deadline deadline) const {
    if (way() == by_stripes)
      return striped_->wait(static_cast<std::uint32_t>(phase), mine, deadline);
    return ticket_.wait(phase, mine.wait_state, deadline);
  }

  [[gnu::cold, gnu::noinline]] void drop(thread_state& mine) {
    if (way() == by_stripes) return (void)count_striped_arrival(mine, 1, true);
    // The phase cannot end before I arrive, so it is the one that the counter shows.
    drops_.note(ticket_.phase());
    // relaxed: my ticket publishes it, and the drop too; see way().
    way_.store(by_tickets_of_fewer, relaxed);
    draw_among_fewer(1);
  }

  // ---- deadlines

  template <class Rep, class Period>
  static timed_wait after(std::chrono::duration<Rep, Period> timeout) noexcept {
    return deadline_after<Memory>(timeout);
  }

  template <class Clock, class Duration>
  static timed_wait until_time(std::chrono::time_point<Clock, Duration> when) noexcept {
    return deadline_at<Memory>(when);
  }

  timed_result arrive_and_wait_by(timed_wait until, const site& where) {
    if (named_) return arrive_and_wait_by(named_->rank_of_this_thread(), until, where);
    const visit guard(*this, where);
    thread_state& mine = my_state();
    const std::uint64_t phase = count_arrival(mine);
    return result(phase, wait_for_phase(phase, mine, until));
  }

  timed_result arrive_and_wait_by(rank_t rank, timed_wait until, const site& where) {
    check_rank(rank, where);
    const visit guard(*this, where);
    if (named_) {
      const std::uint64_t phase = note_arrival_by_name(rank, where);
      return result(phase, named_->barrier().arrive_and_wait(rank, deadline(until.ns())));
    }
    const std::uint64_t phase = count_arrival_of(rank, where);
    return result(phase, wait_for_phase(phase, records_[rank].mine, until));
  }

  timed_result result(std::uint64_t phase, bool in_time) const {
    if (in_time) return {true, phase, 0, {}};
    return late(phase);
  }

  [[gnu::cold, gnu::noinline]] timed_result late(std::uint64_t phase) const {
    timed_result told{false, phase, 0, {}};
    bool has_ranks = false;
    records_.for_each([&](rank_t rank, const record& other) {
      // relaxed: a snapshot for the message.
      const std::uint64_t arrived = other.phases_arrived.load(relaxed);
      has_ranks = has_ranks || arrived > 0;
      if (!has_arrived(arrived, phase)) told.missing_ranks.push_back(rank);
    });
    if (!has_ranks) told.missing_ranks.clear();
    told.missing =
        named_ ? static_cast<rank_t>(told.missing_ranks.size()) : missing_arrivals(phase);
    return told;
  }

  rank_t missing_arrivals(std::uint64_t phase) const noexcept {
    return way() == by_stripes ? striped_->missing(static_cast<std::uint32_t>(phase))
                               : ticket_.missing(phase);
  }

  // ---- misuse

  void require_split(const char* call) const {
    if (way() == by_name) [[unlikely]]
      refuse_split(call);
  }
  [[noreturn, gnu::cold, gnu::noinline]] static void refuse_split(const char* call) {
    refuse(std::string(call) + ": a barrier with a named algorithm has only arrive_and_wait");
  }

  void check_rank([[maybe_unused]] rank_t rank, [[maybe_unused]] const site& where) const {
    if constexpr (Checks)
      if (rank >= n())
        on_misuse("rank " + std::to_string(rank) + " is out of range for a barrier of " +
                      std::to_string(n()) + " participants (ranks 0 to " + std::to_string(n() - 1) +
                      ")",
                  where.at);
  }

  void check_update([[maybe_unused]] std::ptrdiff_t update,
                    [[maybe_unused]] const site& where) const {
    if constexpr (Checks)
      if (update < 1 || update > static_cast<std::ptrdiff_t>(n()))
        on_misuse("arrive(" + std::to_string(update) + ") on a barrier of " + std::to_string(n()) +
                      " participants",
                  where.at);
  }

  void check_arrival(rank_t rank, const record& mine, std::uint64_t phase, const site& where) {
    // relaxed: only this rank writes it.
    const std::uint64_t before = mine.phases_arrived.load(relaxed);
    if (before == never)
      on_misuse("rank " + std::to_string(rank) + " arrived after it had dropped", where.at);
    else if (has_arrived(before, phase))
      on_misuse("rank " + std::to_string(rank) + " arrived twice in phase " + std::to_string(phase),
                where.at);
  }

  void check_room([[maybe_unused]] const site& where) const {
    if constexpr (Checks) {
      // relaxed: a count for messages.
      const rank_t inside = inside_.value.fetch_add(1, relaxed) + 1;
      if (inside <= n()) return;
      // The thread does not count as inside during the report, because the handler may throw.
      // relaxed: a count for messages.
      inside_.value.fetch_sub(1, relaxed);
      on_misuse(std::to_string(inside) + " threads are inside a barrier of " + std::to_string(n()) +
                    " participants",
                where.at);
      inside_.value.fetch_add(1, relaxed);
    }
  }

  void check_nobody_inside() {
    if constexpr (Checks) {
      // relaxed: the thread that destroys must have seen all others return.
      const rank_t inside = inside_.value.load(relaxed);
      if (inside != 0)
        on_misuse("a barrier is destroyed while " + std::to_string(inside) + " of its " +
                      std::to_string(n()) + " participants wait in it",
                  made_.at);
    }
  }

  // All participants write the first cache line. They read the members after it, which hardly ever
  // change.
  [[no_unique_address]] ticket ticket_;
  atomic<std::uint32_t> way_{by_tickets};
  rank_records<Memory, record> records_;
  drops<Memory> drops_;
  owned<striped> striped_;
  owned<auto_rank> named_;
  // The place to report from the destructor, which has no call site.
  [[no_unique_address]] const site made_;
  [[no_unique_address]] Completion completion_;
  struct nothing {};
  [[no_unique_address]] mutable std::conditional_t<Checks, padded<atomic<rank_t>>, nothing> inside_;
};

}  // namespace tutti
