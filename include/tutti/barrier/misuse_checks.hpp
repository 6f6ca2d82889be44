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
  // participants.
  class visit {
   public:
    visit(const misuse_checks& checks, site where) : checks_(where.checks() ? &checks : nullptr) {
      if (checks_ != nullptr) checks_->enter(where);
    }
    ~visit() {
      // relaxed: a count for messages.
      if (checks_ != nullptr) checks_->inside_.fetch_sub(1, relaxed);
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;

   private:
    const misuse_checks* const checks_;
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

  [[gnu::noinline]] void enter(site where) const {
    // relaxed: a count for messages.
    const rank_t inside = inside_.fetch_add(1, relaxed) + 1;
    if (inside <= participants_) return;
    // The thread does not count as inside during the report, because the handler may throw.
    // relaxed: a count for messages.
    inside_.fetch_sub(1, relaxed);
    on_misuse(std::to_string(inside) + " threads are inside a barrier of " +
                  std::to_string(participants_) + " participants",
              where.at());
    inside_.fetch_add(1, relaxed);
  }

  mutable typename Memory::template atomic<rank_t> inside_{0};
  const rank_t participants_;
  // The place to report from the destructor, which has no call site.
  const site made_;
};

}  // namespace tutti
