// SPDX-License-Identifier: Apache-2.0
// What tutti::barrier checks in calls from sources that are compiled with checks, and reports to
// on_misuse (platform/misuse.hpp). In other calls the functions do nothing. The layout is the same
// in every source.
// Hosted only: it needs std::string.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tutti/platform/config.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti {

template <class Memory>
class misuse_checks {
 public:
  using site = call_site;

  constexpr misuse_checks(rank_t participants, site made) noexcept
      : participants_(participants), made_(made) {}

  // Counts the calling thread as inside the barrier while it lives. Reports more threads than
  // participants among those that have come in the same phase. Those of earlier phases have arrived
  // and are on their way out, because no phase ends without a participant that has come in it.
  class visit {
   public:
    // present() returns the number of the phase in which the thread comes.
    template <class Present>
    visit(const misuse_checks& checks, Present present, site where)
        : checks_(where.checks() ? &checks : nullptr) {
      if (checks_ != nullptr) checks_->enter(phase_ = static_cast<std::uint32_t>(present()), where);
    }
    ~visit() {
      if (checks_ != nullptr) checks_->leave(phase_);
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;

   private:
    const misuse_checks* const checks_;
    std::uint32_t phase_ = 0;
  };

  void check_rank(rank_t rank, site where) const {
    if (where.checks() && rank >= participants_) [[unlikely]]
      report_rank(rank, where);
  }

  void check_update(std::ptrdiff_t update, site where) const {
    const bool is_possible = update >= 1 && update <= static_cast<std::ptrdiff_t>(participants_);
    if (where.checks() && !is_possible) [[unlikely]]
      report_update(update, where);
  }

  // `lacking` is the number of arrivals that the phase of the caller lacks, with the caller's.
  void check_lacking(std::ptrdiff_t update, rank_t lacking, site where) const {
    if (update > static_cast<std::ptrdiff_t>(lacking)) [[unlikely]]
      report_lacking(update, lacking, where);
  }

  // `before` is the record of the rank (arrival_records.hpp) without this arrival.
  template <class Record>
  void check_arrival(rank_t rank, const Record& before, std::uint64_t phase, site where) const {
    if (where.checks() && (before.has_dropped() || before.is_last_arrival_in(phase))) [[unlikely]]
      report_arrival(rank, before.has_dropped(), phase, where);
  }

  // The destructor of the barrier calls it.
  void check_nobody_inside() const {
    if (made_.checks()) report_if_inside();
  }

 private:
  [[gnu::cold, gnu::noinline]] void report_rank(rank_t rank, site where) const {
    on_misuse("rank " + std::to_string(rank) + " is out of range for a barrier of " +
                  std::to_string(participants_) + " participants (ranks 0 to " +
                  std::to_string(participants_ - 1) + ")",
              where.at());
  }
  [[gnu::cold, gnu::noinline]] void report_update(std::ptrdiff_t update, site where) const {
    on_misuse("arrive(" + std::to_string(update) + ") on a barrier of " +
                  std::to_string(participants_) + " participants",
              where.at());
  }
  [[gnu::cold, gnu::noinline]] static void report_lacking(std::ptrdiff_t update, rank_t lacking,
                                                          site where) {
    on_misuse("arrive(" + std::to_string(update) + ") in a phase that lacks " +
                  std::to_string(lacking) + (lacking == 1 ? " arrival" : " arrivals"),
              where.at());
  }
  [[gnu::cold, gnu::noinline]] static void report_arrival(rank_t rank, bool has_dropped,
                                                          std::uint64_t phase, site where) {
    const std::string what = has_dropped ? " arrived after it had dropped"
                                         : " arrived twice in phase " + std::to_string(phase);
    on_misuse("rank " + std::to_string(rank) + what, where.at());
  }
  [[gnu::noinline]] void report_if_inside() const {
    // relaxed: the thread that destroys must have seen all others return.
    const rank_t inside = inside_.load(relaxed);
    if (inside != 0)
      on_misuse("a barrier is destroyed while " + std::to_string(inside) + " of its " +
                    std::to_string(participants_) + " participants wait in it",
                made_.at());
  }

  [[gnu::noinline]] void enter(std::uint32_t phase, site where) const {
    const rank_t come = count(phase, 1);
    if (come > participants_) {
      // The thread does not count as inside during the report, because the handler may throw.
      count(phase, -1);
      on_misuse(std::to_string(come) + " threads are inside a barrier of " +
                    std::to_string(participants_) + " participants",
                where.at());
      count(phase, 1);
    }
    // relaxed: a count for messages.
    inside_.fetch_add(1, relaxed);
  }
  [[gnu::noinline]] void leave(std::uint32_t phase) const {
    // relaxed: a count for messages.
    inside_.fetch_sub(1, relaxed);
    count(phase, -1);
  }

  // Adds 1 or -1 to the number of the threads inside that have come in the phase, and returns it.
  // The first that comes in a later phase begins a new count; those of an earlier one are not
  // counted. Compares by a 32-bit difference, because the phases of striped counters wrap around.
  rank_t count(std::uint32_t phase, int change) const {
    // relaxed: a count for messages.
    std::uint64_t seen = come_.load(relaxed);
    for (;;) {
      const auto age = static_cast<std::int32_t>(static_cast<std::uint32_t>(seen >> 32) - phase);
      const rank_t before = age == 0 ? static_cast<rank_t>(seen) : 0;
      if (age > 0 || (change < 0 && before == 0)) return 0;
      const rank_t after = change < 0 ? before - 1 : before + 1;
      // relaxed: a count for messages.
      if (come_.compare_exchange_weak(seen, std::uint64_t{phase} << 32 | after, relaxed, relaxed))
        return after;
    }
  }

  mutable typename Memory::template atomic<rank_t> inside_{0};
  // The phase in which the last thread has come, above how many that came in it are inside.
  mutable typename Memory::template atomic<std::uint64_t> come_{0};
  const rank_t participants_;
  // The place to report from the destructor, which has no call site.
  const site made_;
};

}  // namespace tutti
