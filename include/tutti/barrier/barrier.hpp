// SPDX-License-Identifier: Apache-2.0
// tutti::barrier: what most programs include. std::barrier's interface, plus ranks and deadlines.
//
//   tutti::barrier sync(threads);
//   sync.arrive_and_wait();              // as std::barrier
//   sync.arrive_and_wait(rank);          // names the participant: a deadline can say who is missing
//
// Which algorithm: few participants, and more participants than CPUs, draw tickets from one counter (ticket.hpp);
// others, and those with a completion function, meet on striped counters (striped.hpp). barrier_options forces an
// algorithm by name. How it waits: adaptive_wait.
//
// What a participant's every call needs stands in two cache lines; the counters of a striped barrier, and what is known
// of each rank, are made when they are needed. The rest (drops, deadlines, names, misuse) is out of the way, in functions
// that are not inlined.
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

#include "tutti/barrier/drops.hpp"
#include "tutti/barrier/named.hpp"
#include "tutti/barrier/rank_records.hpp"
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
  // For how long a wait keeps the processor before it sleeps (wait/patience.hpp).
  tutti::patience patience = {};
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
  static_assert(std::is_invocable_v<Completion&>, "a completion function takes nothing");

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

  // Throws std::invalid_argument unless 0 <= expected <= max(). Nobody may arrive at a barrier for 0. A completion function
  // that throws ends the program (LWG 3898).
  explicit barrier(std::ptrdiff_t expected, Completion completion = {},
                   barrier_options options = {}, site made = site::here())
      : ticket_(checked_count(expected)),
        records_(n()),
        made_(made),
        completion_(std::move(completion)) {
    if (!options.algorithm.empty() || options.wait != barrier_options{}.wait)
      force(options);
    else if ((has_completion && n() > 0) || (n() > options.few && n() <= platform::usable_cpus()))
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

  // From the next wait on; at any time, by any thread. False: a named algorithm waits by a policy that has no patience.
  bool set_patience(patience p) noexcept {
    if (named_) return named_->barrier().set_patience(p);
    return striped_ ? striped_->set_patience(p) : ticket_.set_patience(p);
  }

  // ---- as std::barrier

  // Counts `update` arrivals without waiting.
  [[nodiscard]] arrival_token arrive(std::ptrdiff_t update = 1, site where = site::here()) {
    require_split("arrive");
    check_update(update, where);
    return arrival_token(count_arrival(my_habit(), static_cast<rank_t>(update)));
  }

  void wait(arrival_token&& token, site where = site::here()) const {
    const visit guard(*this, where);
    wait_for_phase(token.phase_, my_habit(), no_deadline{});
  }

  void arrive_and_wait(site where = site::here()) {
    if (way() != by_tickets) [[unlikely]]
      return arrive_and_wait_otherwise(where);
    const visit guard(*this, where);
    const auto drawn = ticket_.draw();
    ticket_.wait(drawn, my_habit().seat);
  }

  // My last arrival: later phases expect one participant less. Does not wait.
  void arrive_and_drop() {
    require_split("arrive_and_drop");
    drop(my_habit());
  }

  // ---- with a rank, 0 .. n-1: each used by one thread at a time. The first call with a rank takes memory for all ranks
  // and may throw std::bad_alloc, before it has arrived.

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
    ticket_.wait(drawn, mine.mine.seat);
  }

  void arrive_and_drop_as(rank_t rank, site where = site::here()) {
    require_split("arrive_and_drop_as");
    check_rank(rank, where);
    record& mine = records_[rank];
    // relaxed: read for messages only; a rank that has dropped is never missing.
    mine.phases_arrived.store(never, relaxed);
    drop(mine.mine);
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
                                      site where = site::here()) const {
    require_split("wait_for");
    const visit guard(*this, where);
    return result(phase, wait_for_phase(phase, my_habit(), after(timeout)));
  }
  template <class Clock, class Duration>
  [[nodiscard]] timed_result wait_until(std::uint64_t phase,
                                        std::chrono::time_point<Clock, Duration> when,
                                        site where = site::here()) const {
    require_split("wait_until");
    const visit guard(*this, where);
    return result(phase, wait_for_phase(phase, my_habit(), until_time(when)));
  }

 private:
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  // The part that counts the arrivals.
  enum : std::uint32_t {
    by_tickets,
    by_tickets_of_fewer,  // from the first drop on
    by_stripes,
    by_name
  };

  struct record {
    habit mine{};
    // Phases in which this rank has arrived, counted from the first: for messages.
    atomic<std::uint64_t> phases_arrived{0};
  };

  // Counts who is inside, in builds with checks.
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
      refuse("algorithm '" + std::string(options.algorithm) + "' cannot run a completion function");
    named_ =
        std::make_unique<named_algorithm>(options.algorithm, n(), options.wait, options.patience);
    // relaxed: before the barrier is shared.
    way_.store(by_name, relaxed);
  }

  [[gnu::noinline]] void use_stripes(rank_t fan) {
    striped_ = std::make_unique<striped>(n(), fan);
    // relaxed: before the barrier is shared.
    way_.store(by_stripes, relaxed);
  }

  rank_t n() const noexcept { return ticket_.participants(); }

  // relaxed: changes once, by a participant that drops, before its last arrival; whoever comes to the next phase has seen
  // that one's end, and whoever comes to the same phase may count it either way.
  std::uint32_t way() const noexcept { return way_.load(relaxed); }

  habit& my_habit() const noexcept { return seat_of_this_thread<habit>(this); }

  // Returns the phase arrived in.
  std::uint64_t count_arrival(habit& mine, rank_t count = 1) {
    switch (way()) {
      case by_tickets: return ticket_.draw(count).episode;
      case by_tickets_of_fewer: return draw_among_fewer(count);
      default: return count_striped_arrival(mine, count, false);
    }
  }

  [[gnu::noinline]] std::uint64_t count_striped_arrival(habit& mine, rank_t count, bool is_last) {
    std::uint64_t phase = 0;
    const auto complete = [this]() noexcept { completion_(); };
    for (; count > 0; --count) phase = striped_->arrive(mine, is_last, complete);
    return phase;
  }

  // The first to arrive in a phase also draws the tickets of those who dropped before it.
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
    habit& mine = my_habit();
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

  // Compared as a 32-bit difference: the phases of striped counters wrap there.
  static bool has_arrived(std::uint64_t phases_arrived, std::uint64_t phase) noexcept {
    return phases_arrived == never ||
           static_cast<std::int32_t>(static_cast<std::uint32_t>(phases_arrived - phase)) > 0;
  }

  void note_arrival(rank_t rank, record& mine, std::uint64_t phase, const site& where) {
    if constexpr (Checks) check_arrival(rank, mine, phase, where);
    // relaxed: read for messages only.
    mine.phases_arrived.store(phase + 1, relaxed);
  }

  // Returns the phase, of which a named algorithm tells nothing.
  std::uint64_t note_arrival_by_name(rank_t rank, const site& where) {
    record& mine = records_[rank];
    const std::uint64_t phase = mine.phases_arrived.load(relaxed);  // relaxed: my own word
    note_arrival(rank, mine, phase, where);
    return phase;
  }

  template <class Deadline>
  bool wait_for_phase(std::uint64_t phase, habit& mine, Deadline deadline) const {
    if (way() == by_stripes)
      return striped_->wait(static_cast<std::uint32_t>(phase), mine, deadline);
    return ticket_.wait(phase, mine.seat, deadline);
  }

  [[gnu::cold, gnu::noinline]] void drop(habit& mine) {
    if (way() == by_stripes) return (void)count_striped_arrival(mine, 1, true);
    // The phase cannot end before I arrive: it is the one that the counter shows.
    drops_.note(ticket_.phase());
    // relaxed: published by my ticket, as the drop is; see way().
    way_.store(by_tickets_of_fewer, relaxed);
    draw_among_fewer(1);
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
      const std::uint64_t phase = note_arrival_by_name(rank, where);
      return result(phase, named_->barrier().arrive_and_wait(rank, until));
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
    // relaxed: this rank's own word.
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
      // Not inside while it is reported: the handler may throw.
      // relaxed: as above.
      inside_.value.fetch_sub(1, relaxed);
      on_misuse(std::to_string(inside) + " threads are inside a barrier of " + std::to_string(n()) +
                    " participants",
                where.at);
      inside_.value.fetch_add(1, relaxed);
    }
  }

  void check_nobody_inside() {
    if constexpr (Checks) {
      // relaxed: whoever destroys must have seen everybody return.
      const rank_t inside = inside_.value.load(relaxed);
      if (inside != 0)
        on_misuse("a barrier is destroyed while " + std::to_string(inside) + " of its " +
                      std::to_string(n()) + " participants wait in it",
                  made_.at);
    }
  }

  // One line is written by everybody; what follows it is read by everybody and hardly ever written.
  [[no_unique_address]] ticket ticket_;
  atomic<std::uint32_t> way_{by_tickets};
  rank_records<Memory, record> records_;
  drops<Memory> drops_;
  std::unique_ptr<striped> striped_;
  std::unique_ptr<named_algorithm> named_;
  [[no_unique_address]] const site made_;  // a destructor has no call to point at
  [[no_unique_address]] Completion completion_;
  struct nothing {};
  [[no_unique_address]] mutable std::conditional_t<Checks, padded<atomic<rank_t>>, nothing> inside_;
};

}  // namespace tutti
