// SPDX-License-Identifier: Apache-2.0
// The interface between an endpoint and a detector in one process. A detector finds out that all
// participants are idle and no message is under way; shared_state.hpp then releases them.
//
//   enter(rank, entry)              idle() begins; nothing is left to be published
//   has_work(rank), work(rank)      asked while idle: something has come that this participant must
//                                   do for the detection
//   refute(rank, vote)              a message of this episode has come: no longer idle
//   withdraw(rank, vote, episode)   the deadline has passed: no longer idle. Returns false if the
//                                   episode may be over: ask again
//   begin(episodes)                 called by the participant that found the episode over, before
//                                   anybody is released
//   tell(rank), releases_one_by_one(), may_send(rank)
//                                   detector_base has what most detectors answer
//
// list.hpp lists the detectors; any_detector.hpp chooses one by name.
#pragma once

#include <cstdint>

#include "tutti/platform/config.hpp"

namespace tutti {

// What a participant reports when it becomes idle.
struct idle_entry {
  bool vote = false;
  bool has_deadline = false;
  // The number of episodes that are over.
  std::uint64_t episode = 0;
  // Messages sent since the participant was made.
  std::uint64_t sent = 0;
  // Messages released since the participant was made.
  std::uint64_t released = 0;
};

struct detection {
  // All participants are idle and no message is under way.
  bool is_over = false;
  // The episode is over and all participants voted true.
  bool is_unanimous = false;
  // Detection attempts that this participant made.
  std::uint32_t waves = 0;
  // Rank 0, which may be asleep, has to look.
  bool calls_root = false;
};

// The answers of a detector whose episodes end with the release word alone.
struct detector_base {
  // Called by a participant that has seen the release.
  static constexpr void tell(rank_t) noexcept {}
  // Whether each participant learns of the end of an episode from its own state machine rather than
  // from the release word alone.
  static constexpr bool releases_one_by_one() noexcept { return false; }
  static constexpr bool may_send(rank_t) noexcept { return true; }
};

}  // namespace tutti
