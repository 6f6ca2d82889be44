// SPDX-License-Identifier: Apache-2.0
// The word in which counter.hpp and mpi/shared_room.hpp keep an episode: 1 bit for the parity of
// the episode, 12 bits for the idle participants, 12 bits for the votes, and 39 bits for the
// balance of messages, which wraps.
#pragma once

#include <cstdint>

#include "tutti/platform/config.hpp"

namespace tutti::idle_word {

inline constexpr rank_t most_participants = 0xfff;
inline constexpr std::uint64_t one_parity = 1;
inline constexpr std::uint64_t one_idle = 1u << 1;
inline constexpr std::uint64_t one_vote = 1u << 13;
inline constexpr int balance_shift = 25;

// What an idle participant adds, besides its balance.
constexpr std::uint64_t entry(bool vote) noexcept { return one_idle + (vote ? one_vote : 0); }
constexpr std::uint64_t parity(std::uint64_t word_or_episode) noexcept {
  return word_or_episode & one_parity;
}
constexpr rank_t votes(std::uint64_t word) noexcept {
  return static_cast<rank_t>(word / one_vote) & most_participants;
}
// Whether all `n` participants are idle and no message is under way.
constexpr bool is_over(std::uint64_t word, rank_t n) noexcept {
  const rank_t idle = static_cast<rank_t>(word / one_idle) & most_participants;
  return idle == n && word >> balance_shift == 0;
}

}  // namespace tutti::idle_word
