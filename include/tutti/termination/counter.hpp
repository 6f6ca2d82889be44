// SPDX-License-Identifier: Apache-2.0
// Counter: termination detection with one shared word. A participant that enters idle() adds
// itself, its vote, and by how much its balance (messages sent less messages released) has changed
// since its last entry. A participant that a message wakes takes itself and its vote out again.
//
// At every instant the word holds how many participants are idle and the sum of all reported
// balances. If all are idle, no participant's counts can be newer than the word's, so a balance of
// 0 means that no message is under way. The addition that brings the word to this state is the
// detection: it is exact at the first attempt and happens at the instant of the last arrival. The
// same word counts the votes, so the votes that count are those of this instant. The detector needs
// no waves and no token.
//
// Cost       One read-modify-write per participant and episode, as in the ticket barrier, and one
//            more per refutation.
// When       Few participants, or more participants than cores: the last to arrive goes on at once.
// When not   Many cores: all of them update one line (snapshot.hpp).
#pragma once

#include <cstdint>

#include "tutti/platform/array.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/termination/detector.hpp"
#include "tutti/termination/idle_word.hpp"

namespace tutti {

template <class Memory = native>
class counter_detector : public detector_base {
 public:
  static constexpr rank_t most_participants = idle_word::most_participants;

  explicit counter_detector(rank_t participants) : n_(participants), reported_(participants) {}

  detection enter(rank_t rank, const idle_entry& entry) noexcept {
    const std::uint64_t balance = entry.sent - entry.released;
    const std::uint64_t mine = idle_word::entry(entry.vote) +
                               ((balance - reported_[rank].value) << idle_word::balance_shift);
    reported_[rank].value = balance;
    // acq_rel: release publishes what I did before and the value I leave; acquire takes over
    // everybody else's, in case I am the last.
    const std::uint64_t word =
        word_.fetch_add(mine, Memory::order("counter.enter", acq_rel)) + mine;
    return {.is_over = idle_word::is_over(word, n_),
            .is_unanimous = idle_word::votes(word) == n_,
            .waves = 1};
  }

  // Only the release word tells the waiters, so there is no work for them.
  static constexpr bool has_work(rank_t) noexcept { return false; }
  static constexpr detection work(rank_t) noexcept { return {}; }

  // Takes the participant out, because a message of this episode waits for it. The message is
  // counted in the balance, so the episode cannot end meanwhile.
  void refute(rank_t, bool vote) noexcept {
    // relaxed: publishes nothing; as a read-modify-write it continues the release sequences of the
    // entries.
    word_.fetch_sub(idle_word::entry(vote), relaxed);
  }

  // Takes the participant out, because its deadline has passed. Returns false if the episode was
  // already over; then the release comes at once.
  bool withdraw(rank_t, bool vote, std::uint64_t episode) noexcept {
    // relaxed: decides only whether the episode is over.
    std::uint64_t word = word_.load(relaxed);
    // The parity bit tells this episode from a later one, which can look the same otherwise.
    while (idle_word::parity(word) == idle_word::parity(episode) && !idle_word::is_over(word, n_))
      // relaxed: as in refute.
      if (word_.compare_exchange_weak(word, word - idle_word::entry(vote), relaxed, relaxed))
        return true;
    return false;
  }

  // Prepares the next episode. The participant that found the episode over calls this; nobody
  // touches the word until the release.
  void begin(std::uint64_t next_episode) noexcept {
    // relaxed: published by the release that follows.
    word_.store(idle_word::parity(next_episode), relaxed);
  }

 private:
  const rank_t n_;
  // Each participant's own balance, sent less released, as of its last entry.
  array<padded<std::uint64_t>> reported_;
  typename Memory::template atomic<std::uint64_t> word_{0};
};

}  // namespace tutti
