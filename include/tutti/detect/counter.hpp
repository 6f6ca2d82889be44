// SPDX-License-Identifier: Apache-2.0
// Counter: termination detection by one word. Whoever enters idle() adds itself, its vote, and the messages that it has sent
// less those that it has released since it last did; whoever is woken by a message takes itself and its vote out again.
//
// The word always holds, at one instant, how many are idle and what they know of messages under way. If all are idle,
// nobody's counts can be newer than the word's, so a balance of 0 means that nothing is under way: the addition that brings
// the word there is the detection, exact at the first attempt and in the instant of the last arrival. Votes are counted in
// the same word, so those that count are those of this instant. No wave, no token, no second look.
//
// Cost       one read-modify-write a participant and episode, one more for each refutation; as the ticket barrier.
// When       few participants, or more participants than cores: the last to arrive goes on at once.
// When not   many cores: all of them come to one line (snapshot.hpp).
#pragma once

#include <cstdint>

#include "tutti/detect/detector.hpp"
#include "tutti/platform/array.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/platform/native.hpp"

namespace tutti {

template <class Memory = native>
class counter_detector {
 public:
  static constexpr rank_t most_participants = 0xfff;

  explicit counter_detector(rank_t participants) : n_(participants), reported_(participants) {}

  detection enter(rank_t rank, const idle_entry& entry) noexcept {
    const std::uint64_t balance = entry.sent - entry.released;
    const std::uint64_t mine = one_idle + (entry.vote ? one_vote : 0) +
                               ((balance - reported_[rank].value) << balance_shift);
    reported_[rank].value = balance;
    // acq_rel: release hands on what I did before and the value I leave; acquire takes over everybody else's, in case I am
    // the last.
    const std::uint64_t word =
        word_.fetch_add(mine, Memory::order("counter.enter", acq_rel)) + mine;
    return {.is_over = is_over(word), .is_unanimous = votes(word) == n_, .waves = 1};
  }

  // The release tells those who wait; nothing else does.
  static constexpr bool has_work(rank_t) noexcept { return false; }
  static constexpr detection work(rank_t) noexcept { return {}; }

  // A message of this episode waits for me: it is counted, so the episode cannot end.
  void refute(rank_t, bool vote) noexcept {
    // relaxed: nothing is handed on; as a read-modify-write it continues the release sequences of the entries.
    word_.fetch_sub(one_idle + (vote ? one_vote : 0), relaxed);
  }

  // My deadline has passed. False if the episode was over before: then the release comes at once.
  bool withdraw(rank_t, bool vote, std::uint64_t episode) noexcept {
    // relaxed: decides nothing but whether it is over.
    std::uint64_t word = word_.load(relaxed);
    // Of the episode I am in: a later one can look the same but for this bit.
    while ((word & one_parity) == (episode & one_parity) && !is_over(word))
      // relaxed: as in refute.
      if (word_.compare_exchange_weak(word, word - one_idle - (vote ? one_vote : 0), relaxed,
                                      relaxed))
        return true;
    return false;
  }

  // By the one who found the episode over: makes ready for the next. Nobody touches the word until the release.
  void begin(std::uint64_t next_episode) noexcept {
    // relaxed: published by the release that follows.
    word_.store(next_episode & one_parity, relaxed);
  }

 private:
  // parity of the episode: 1 bit; idle: 12; votes: 12; balance: 39, wraps
  static constexpr std::uint64_t one_parity = 1;
  static constexpr std::uint64_t one_idle = 1u << 1;
  static constexpr std::uint64_t one_vote = 1u << 13;
  static constexpr int balance_shift = 25;

  static constexpr rank_t votes(std::uint64_t word) noexcept {
    return static_cast<rank_t>(word / one_vote) & most_participants;
  }
  bool is_over(std::uint64_t word) const noexcept {
    const rank_t idle = static_cast<rank_t>(word / one_idle) & most_participants;
    return idle == n_ && word >> balance_shift == 0;
  }

  const rank_t n_;
  array<padded<std::uint64_t>>
      reported_;  // each participant's own: sent less released, as of its last entry
  typename Memory::template atomic<std::uint64_t> word_{0};
};

}  // namespace tutti
