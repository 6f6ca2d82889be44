// SPDX-License-Identifier: Apache-2.0
// What tutti::barrier checks in a build with checks (TUTTI_CHECKS), and reports to on_misuse
// (platform/misuse.hpp). Without checks the functions do nothing and the class is empty.
// Hosted only: it needs std::string.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "tutti/platform/config.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti {

template <bool Checks, class Memory>
class misuse_checks {
 public:
  using site = call_site<Checks>;

  misuse_checks([[maybe_unused]] rank_t participants, [[maybe_unused]] site made) noexcept {
    if constexpr (Checks) {
      count_.participants = participants;
      count_.made = made;
    }
  }

  // Counts the calling thread as inside the barrier while it lives. Reports more threads than
  // participants.
  class visit {
   public:
    visit([[maybe_unused]] const misuse_checks& checks, [[maybe_unused]] const site& where) {
      if constexpr (Checks) {
        checks_ = &checks;
        checks.enter(where);
      }
    }
    ~visit() {
      // relaxed: a count for messages.
      if constexpr (Checks) checks_->count_.inside.fetch_sub(1, relaxed);
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;

   private:
    const misuse_checks* checks_ = nullptr;
  };

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

  // `before` is the record of the rank (arrival_records.hpp) without this arrival.
  template <class Record>
  void check_arrival([[maybe_unused]] rank_t rank, [[maybe_unused]] const Record& before,
                     [[maybe_unused]] std::uint64_t phase,
                     [[maybe_unused]] const site& where) const {
    if constexpr (Checks) {
      if (before.has_dropped())
        on_misuse("rank " + std::to_string(rank) + " arrived after it had dropped", where.at);
      else if (before.has_arrived(phase))
        on_misuse(
            "rank " + std::to_string(rank) + " arrived twice in phase " + std::to_string(phase),
            where.at);
    }
  }

  // The destructor of the barrier calls it.
  void check_nobody_inside() const {
    if constexpr (Checks) {
      // relaxed: the thread that destroys must have seen all others return.
      const rank_t inside = count_.inside.load(relaxed);
      if (inside != 0)
        on_misuse("a barrier is destroyed while " + std::to_string(inside) + " of its " +
                      std::to_string(n()) + " participants wait in it",
                  count_.made.at);
    }
  }

 private:
  // All on a cache line of its own, which a barrier without checks does not have.
  struct counted {
    alignas(cache_line) mutable typename Memory::template atomic<rank_t> inside{0};
    rank_t participants = 0;
    // The place to report from the destructor, which has no call site.
    site made{};
  };
  struct nothing {};

  rank_t n() const noexcept { return count_.participants; }

  void enter(const site& where) const {
    // relaxed: a count for messages.
    const rank_t inside = count_.inside.fetch_add(1, relaxed) + 1;
    if (inside <= n()) return;
    // The thread does not count as inside during the report, because the handler may throw.
    // relaxed: a count for messages.
    count_.inside.fetch_sub(1, relaxed);
    on_misuse(std::to_string(inside) + " threads are inside a barrier of " + std::to_string(n()) +
                  " participants",
              where.at);
    count_.inside.fetch_add(1, relaxed);
  }

  [[no_unique_address]] std::conditional_t<Checks, counted, nothing> count_;
};

}  // namespace tutti
