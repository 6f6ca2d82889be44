// SPDX-License-Identifier: Apache-2.0
// Ticket barrier: an arrival draws a ticket from one counter; an episode is over when its last ticket is drawn.
//
// Cost       one fetch_add an arrival, no separate release: the last ticket is the release. One line, n-1
//            transfers of it in, n-1 out. Two participants: one line transfer, the floor.
// When       few participants (up to about 4 to 8), or more participants than cores: nothing touches less memory.
//            Anonymous: any thread may arrive, none has a rank.
// When not   many cores: arrivals queue for the one line.
// Source     paper 000, section 2 (the ticket barrier of its figures).
#pragma once

#include <cstdint>
#include <type_traits>

#include "tutti/platform/native.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/patience.hpp"
#include "tutti/wait/seats.hpp"

namespace tutti {

// Divides by an invariant: one multiplication and a shift, exact for every numerator below 2^63 (Granlund and
// Montgomery 1994, theorem 4.2 with N = 63).
class fast_divisor {
 public:
  explicit constexpr fast_divisor(std::uint32_t divisor) noexcept {
    std::uint32_t log2 = 0;
    while ((std::uint64_t{1} << log2) < divisor) ++log2;
    const auto numerator = static_cast<unsigned_128>(1) << (63 + log2);
    multiplier_ = static_cast<std::uint64_t>((numerator + divisor - 1) / divisor);
    shift_ = 63 + log2;
  }
  constexpr std::uint64_t quotient(std::uint64_t numerator) const noexcept {
    return static_cast<std::uint64_t>((static_cast<unsigned_128>(numerator) * multiplier_) >>
                                      shift_);
  }

 private:
  __extension__ using unsigned_128 = unsigned __int128;
  std::uint64_t multiplier_ = 0;
  std::uint32_t shift_ = 0;
};

template <class Memory = native, class Wait = adaptive_wait<Memory>>
class ticket_barrier {
 public:
  static constexpr bool anonymous = true;

  explicit ticket_barrier(rank_t participants)
      : wait_(participants),
        participants_(participants),
        episode_of_(participants == 0 ? 1 : participants) {}

  // `lacking`: what the episode still lacks when I give up.
  template <class Deadline = no_deadline>
  bool arrive_and_wait(rank_t /*rank*/, Deadline deadline = {}, rank_t* lacking = nullptr) {
    const std::uint64_t episode = arrive();
    if (wait(episode, seat_of_this_thread<typename Wait::seat>(this), deadline)) return true;
    if (lacking != nullptr) *lacking = missing(episode);
    return false;
  }

  // What an arrival has drawn: tickets of one episode.
  struct tickets {
    std::uint64_t episode;
    std::uint64_t
        end;  // the episode is over when so many have been drawn since the barrier was made
    bool is_first, is_last;  // of the episode
  };

  // Draws a ticket, or several at once, which must all be of the same episode.
  tickets draw(rank_t count = 1) {
    // seq_cst: acquire and release carry every participant's writes from ticket to ticket; the one order also
    // puts the last ticket before the look for sleepers.
    const std::uint64_t first = tickets_.fetch_add(count, Memory::order("ticket.arrive", seq_cst));
    const std::uint64_t episode = episode_of_.quotient(first);
    const std::uint64_t end = (episode + 1) * participants_;
    const bool is_last = first + count == end;
    if (is_last) wait_.notify_ordered(tickets_);
    return {episode, end, first + participants_ == end, is_last};
  }

  // Draws a ticket; returns the episode that it belongs to.
  std::uint64_t arrive() { return draw().episode; }

  template <class Deadline = no_deadline>
  bool wait(std::uint64_t episode, typename Wait::seat& seat, Deadline deadline = {}) const {
    return wait_for_ticket((episode + 1) * participants_, seat, deadline);
  }
  // The participant that drew the last ticket does not look again.
  template <class Deadline = no_deadline>
  bool wait(const tickets& mine, typename Wait::seat& seat, Deadline deadline = {}) const {
    return mine.is_last || wait_for_ticket(mine.end, seat, deadline);
  }

  rank_t participants() const noexcept { return participants_; }
  // May be called at any time by any thread; waits that have begun keep theirs. False: the policy has no patience.
  bool set_patience(patience p) noexcept { return set_patience_of(wait_, p); }

  // The episode that the next ticket belongs to. Exact for a participant that has not arrived in it.
  // relaxed: such a participant has seen the end of the episode before.
  std::uint64_t phase() const noexcept { return episode_of_.quotient(tickets_.load(relaxed)); }

  // Arrivals that an episode still lacks; a snapshot for messages.
  rank_t missing(std::uint64_t episode) const noexcept {
    const std::uint64_t end = (episode + 1) * participants_;
    const std::uint64_t drawn = tickets_.load(relaxed);  // relaxed: a snapshot
    return drawn >= end ? 0 : static_cast<rank_t>(end - drawn);
  }

 private:
  template <class Deadline>
  bool wait_for_ticket(std::uint64_t end, typename Wait::seat& seat, Deadline deadline) const {
    // acquire: pairs with every arrive of the episode through the counter's release sequence.
    return wait_.until(
        seat, tickets_, Memory::order("ticket.wait", acquire),
        [end](std::uint64_t drawn) noexcept { return drawn >= end; }, deadline);
  }

  alignas(cache_line) typename Memory::template atomic<std::uint64_t> tickets_{0};
  // What does not change stands in the tail of the line of the wait policy, which is written only to sleep, and leaves the
  // rest of that line to whoever has the barrier as a member.
  [[no_unique_address]] mutable Wait wait_;
  alignas(std::is_empty_v<Wait> ? cache_line : alignof(rank_t)) rank_t participants_;
  fast_divisor episode_of_;
};

}  // namespace tutti
