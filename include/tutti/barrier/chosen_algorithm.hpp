// SPDX-License-Identifier: Apache-2.0
// Which algorithm counts the arrivals of a tutti::barrier, and the calls of whichever it is.
//
// Few participants, and participants that share few CPUs, use one ticket counter (ticket.hpp).
// Other numbers, and barriers with a completion function, use striped counters (striped.hpp). A
// name in barrier_options chooses another algorithm.
//
// Layout: a call that draws a ticket needs two cache lines. The striped counters and a named
// algorithm are made when they are needed, and the code for them and for drops is in functions that
// are not inlined.
// Hosted only: it needs exceptions and std::string.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tutti/barrier/auto_rank.hpp"
#include "tutti/barrier/drops.hpp"
#include "tutti/barrier/options.hpp"
#include "tutti/barrier/striped.hpp"
#include "tutti/barrier/ticket.hpp"
#include "tutti/platform/misuse.hpp"
#include "tutti/platform/owned.hpp"
#include "tutti/platform/usable_cpus.hpp"
#include "tutti/schedule/choose.hpp"

namespace tutti {

// Completion is called without arguments by the last arrival of each phase.
template <class Completion, class Memory, class Wait>
class chosen_algorithm {
  using ticket = ticket_barrier<Memory, Wait>;
  using striped = striped_barrier<Memory, Wait>;
  static constexpr bool has_completion = !std::is_same_v<Completion, no_completion>;

 public:
  using thread_state = typename striped::thread_state;

  // Returns the largest number of participants.
  static constexpr std::ptrdiff_t(max)() noexcept { return striped::counter_max; }

  // Throws std::invalid_argument unless 0 <= expected <= max(), and for options that make_barrier
  // rejects or that do not fit together.
  constexpr chosen_algorithm(std::ptrdiff_t expected, Completion completion,
                             const barrier_options& options)
      : ticket_(checked_count(expected)), completion_(std::move(completion)) {
    if (!options.algorithm.empty() || options.wait != barrier_options{}.wait)
      use_name(options);
    else if (is_striped(options.few))
      use_stripes(options.fan);
    else if (has_completion && n() > 0)
      use_stripes(0);
    if (!named_ && !options.patience.is_open()) set_patience(options.patience);
  }

  constexpr rank_t participants() const noexcept { return n(); }

  bool set_patience(patience p) noexcept {
    if (named_) return named_->barrier().set_patience(p);
    return striped_ ? striped_->set_patience(p) : ticket_.set_patience(p);
  }

  // True while every arrival draws a ticket of tickets() and does nothing else.
  bool is_by_tickets() const noexcept { return way() == by_tickets; }
  ticket& tickets() noexcept { return ticket_; }

  // The named algorithm, or nothing.
  bool has_name() const noexcept { return static_cast<bool>(named_); }
  auto_rank& named() const noexcept { return *named_; }

  // A named algorithm cannot split an arrival from its wait. Throws std::invalid_argument, with the
  // name of the call, if there is one.
  void require_split(const char* call) const {
    if (way() == by_name) [[unlikely]]
      refuse_split(call);
  }

  // Counts `count` arrivals of the calling thread, without waiting. Returns their phase.
  std::uint64_t count_arrival(thread_state& mine, rank_t count = 1) {
    switch (way()) {
      case by_tickets: return ticket_.draw(count).episode;
      case by_tickets_of_fewer: return draw_among_fewer(count);
      default: return count_striped_arrival(mine, count, false);
    }
  }

  // The same for one arrival of a rank, which keeps to its own stripe.
  std::uint64_t count_arrival_of(rank_t rank, thread_state& mine) {
    if (way() == by_stripes) mine.leaf = striped_->leaf_of(rank);
    return count_arrival(mine);
  }

  // Counts an arrival after which later phases expect one participant less.
  [[gnu::cold, gnu::noinline]] void drop(thread_state& mine) {
    if (way() == by_stripes) return (void)count_striped_arrival(mine, 1, true);
    // The phase cannot end before I arrive, so it is the one that the counter shows.
    drops_.note(ticket_.phase());
    // relaxed: my ticket publishes it, and the drop too; see way().
    way_.store(by_tickets_of_fewer, relaxed);
    draw_among_fewer(1);
  }

  // Waits until the phase has ended, or the deadline has passed: then it returns false.
  template <class Deadline>
  bool wait(std::uint64_t phase, thread_state& mine, Deadline deadline) const {
    if (way() == by_stripes)
      return striped_->wait(static_cast<std::uint32_t>(phase), mine, deadline);
    return ticket_.wait(phase, mine.wait_state, deadline);
  }

  // Returns the phase that has not ended, for reports of misuse: exactly to a participant that has
  // not arrived in it. Of a named algorithm it is always 0.
  std::uint64_t present() const noexcept {
    switch (way()) {
      case by_name: return 0;
      case by_stripes: return striped_->phase();
      default: return ticket_.phase();
    }
  }

  // Returns the number of arrivals that a phase still lacks: a snapshot for messages. A named
  // algorithm does not know it.
  rank_t missing(std::uint64_t phase) const noexcept {
    return way() == by_stripes ? striped_->missing(static_cast<std::uint32_t>(phase))
                               : ticket_.missing(phase);
  }

 private:
  // How arrivals are counted. by_tickets_of_fewer replaces by_tickets at the first drop.
  enum : std::uint32_t { by_tickets, by_tickets_of_fewer, by_stripes, by_name };

  static constexpr rank_t checked_count(std::ptrdiff_t expected) {
    if (expected < 0 || expected > (max)())
      refuse("a barrier is for 0 to " + std::to_string((max)()) + " participants, not " +
             std::to_string(expected));
    return static_cast<rank_t>(expected);
  }

  [[gnu::cold, gnu::noinline]] void use_name(const barrier_options& options) {
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

  constexpr bool is_striped(rank_t few) const noexcept {
    const bool crowded = n() > few && choose::is_crowded_on_few(n(), Memory::cpus());
    return choose::barrier(n(), crowded, few) == "striped";
  }

  [[gnu::noinline]] void use_stripes(rank_t fan) {
    striped_.take(new striped(n(), fan));
    // relaxed: the barrier is not shared yet.
    way_.store(by_stripes, relaxed);
  }

  constexpr rank_t n() const noexcept { return ticket_.participants(); }

  // relaxed: it changes once, when a participant drops out, before that participant's last arrival.
  // A participant of the next phase has seen the end of the present one, and a participant of the
  // present phase may count its arrival either way.
  std::uint32_t way() const noexcept { return way_.load(relaxed); }

  [[noreturn, gnu::cold, gnu::noinline]] static void refuse_split(const char* call) {
    refuse(std::string(call) + ": a barrier with a named algorithm has only arrive_and_wait");
  }

  [[gnu::noinline]] std::uint64_t count_striped_arrival(thread_state& mine, rank_t count,
                                                        bool is_last) {
    std::uint64_t phase = 0;
    const auto complete = [this]() noexcept { completion_(); };
    for (; count > 0; --count) phase = striped_->arrive(mine, is_last, complete);
    return phase;
  }

  // The first arrival of a phase also draws the tickets of the participants that have dropped out
  // before; the phase lacks these until then.
  [[gnu::cold, gnu::noinline]] std::uint64_t draw_among_fewer(rank_t count) {
    const auto seen = drops_.look();
    const auto mine = ticket_.draw(count);
    const rank_t dropped = mine.is_first ? drops_.before(mine.episode, seen) : 0;
    if (dropped > 0) ticket_.draw(dropped);
    return mine.episode;
  }

  // All participants write the first cache line. They read the members after it, which hardly ever
  // change.
  [[no_unique_address]] ticket ticket_;
  typename Memory::template atomic<std::uint32_t> way_{by_tickets};
  drops<Memory> drops_;
  owned<striped> striped_;
  owned<auto_rank> named_;
  [[no_unique_address]] Completion completion_;
};

}  // namespace tutti
