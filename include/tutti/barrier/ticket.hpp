// SPDX-License-Identifier: Apache-2.0
// Ticket barrier: each arrival draws a ticket from one counter, and an episode ends when its last
// ticket is drawn. Threads need no rank: any thread may arrive.
//
// Cost       one fetch_add per arrival. The last ticket is the release, so there is no separate
//            store. One cache line, transferred n-1 times for the arrivals and n-1 times for the
//            release. For two participants one transfer, which is the minimum.
// When       few participants (up to about 4 to 8), or more participants than a few cores, because
//            no barrier accesses less memory.
// When not   many cores, because arrivals queue for the line.
// Source     Hetland et al. 2019, section 2 (the ticket barrier of its figures).
#pragma once

#include <cstdint>
#include <type_traits>

#include "tutti/platform/native.hpp"
#include "tutti/platform/wide_product.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/patience.hpp"
#include "tutti/wait/thread_state.hpp"

namespace tutti {

// Divides by an invariant with one multiplication and one shift. The result is exact for every
// numerator below 2^63 (Granlund and Montgomery 1994, theorem 4.2 with N = 63).
class fast_divisor {
 public:
  explicit constexpr fast_divisor(std::uint32_t divisor) noexcept {
    std::uint32_t log2 = 0;
    while ((std::uint64_t{1} << log2) < divisor) ++log2;
    multiplier_ = platform::power_over(63 + log2, divisor);
    shift_ = 63 + log2;
  }
  constexpr std::uint64_t quotient(std::uint64_t numerator) const noexcept {
    return platform::shifted_product(numerator, multiplier_, shift_);
  }

 private:
  std::uint64_t multiplier_ = 0;
  std::uint32_t shift_ = 0;
};

template <class Memory = native, class Wait = adaptive_wait<Memory>>
class ticket_barrier {
 public:
  static constexpr bool anonymous = true;

  explicit constexpr ticket_barrier(rank_t participants)
      : wait_(participants),
        participants_(participants),
        episode_of_(participants == 0 ? 1 : participants) {}

  // Arrives and returns true when the episode has ended. The rank is ignored. Returns false if the
  // deadline passed: the arrival still counts, and *lacking is the number of arrivals that the
  // episode still lacked.
  template <class Deadline = no_deadline>
  bool arrive_and_wait(rank_t /*rank*/, Deadline deadline = {}, rank_t* lacking = nullptr) {
    const std::uint64_t episode = arrive();
    if (wait(episode, state_of_this_thread<typename Wait::wait_state, Memory>(this), deadline))
      return true;
    if (lacking != nullptr) *lacking = missing(episode);
    return false;
  }

  // The tickets of one episode that an arrival has drawn.
  struct tickets {
    std::uint64_t episode;
    // The episode ends when this many tickets have been drawn since the barrier was made.
    std::uint64_t end;
    // Whether they include the first and the last ticket of the episode.
    bool is_first, is_last;
  };

  // Draws `count` tickets at once. All must belong to the same episode.
  tickets draw(rank_t count = 1) {
    // seq_cst: acquire and release pass every participant's writes from ticket to ticket; the total
    // order also puts the last ticket before the check for sleepers.
    const std::uint64_t first = tickets_.fetch_add(count, Memory::order("ticket.arrive", seq_cst));
    const std::uint64_t episode = episode_of_.quotient(first);
    const std::uint64_t end = (episode + 1) * participants_;
    // Too many arrivals, which are a misuse, may draw more than the last ticket. Even then the
    // participants that sleep are woken.
    const bool is_last = first + count >= end;
    if (is_last) wait_.notify_ordered(tickets_);
    return {episode, end, first + participants_ == end, is_last};
  }

  // Draws a ticket and returns its episode.
  std::uint64_t arrive() { return draw().episode; }

  // Return true once the episode has ended, or false if the deadline passed.
  template <class Deadline = no_deadline>
  bool wait(std::uint64_t episode, typename Wait::wait_state& mine, Deadline deadline = {}) const {
    return wait_for_ticket((episode + 1) * participants_, mine, deadline);
  }
  // The participant that drew the last ticket does not read the counter again.
  template <class Deadline = no_deadline>
  bool wait(const tickets& drawn, typename Wait::wait_state& mine, Deadline deadline = {}) const {
    return drawn.is_last || wait_for_ticket(drawn.end, mine, deadline);
  }

  constexpr rank_t participants() const noexcept { return participants_; }
  // Sets the patience of all waits that begin later. Any thread may call it at any time. Returns
  // false if the wait policy has no patience.
  bool set_patience(patience p) noexcept { return set_patience_of(wait_, p); }

  // Returns the episode of the next ticket. It is exact for a participant that has not arrived in
  // it.
  // relaxed: such a participant has seen the end of the previous episode.
  std::uint64_t phase() const noexcept { return episode_of_.quotient(tickets_.load(relaxed)); }

  // Returns the number of arrivals that an episode still lacks: a snapshot for messages.
  rank_t missing(std::uint64_t episode) const noexcept {
    const std::uint64_t end = (episode + 1) * participants_;
    // relaxed: a snapshot.
    const std::uint64_t drawn = tickets_.load(relaxed);
    return drawn >= end ? 0 : static_cast<rank_t>(end - drawn);
  }

 private:
  template <class Deadline>
  bool wait_for_ticket(std::uint64_t end, typename Wait::wait_state& mine,
                       Deadline deadline) const {
    // acquire: pairs with every arrive of the episode through the counter's release sequence.
    return wait_.until(
        mine, tickets_, Memory::order("ticket.wait", acquire),
        [end](std::uint64_t drawn) noexcept { return drawn >= end; }, deadline);
  }

  alignas(cache_line) typename Memory::template atomic<std::uint64_t> tickets_{0};
  // The constant members use the rest of the wait policy's cache line, which is written only by
  // waiters that sleep. A class that has the barrier as a member can use what then remains of it.
  [[no_unique_address]] mutable Wait wait_;
  alignas(std::is_empty_v<Wait> ? cache_line : alignof(rank_t)) rank_t participants_;
  fast_divisor episode_of_;
};

}  // namespace tutti
