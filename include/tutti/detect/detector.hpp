// SPDX-License-Identifier: Apache-2.0
// What an endpoint asks of a detector of one process. A detector tells that all participants are idle and nothing is under
// way; assembly.hpp then releases them.
//
//   enter(rank, entry)           idle() begins; nothing is left to be published
//   has_work(rank), work(rank)   asked while idle: something has come that this participant must do for the detection
//   refute(rank, vote)           a message of this episode has come: no longer idle
//   withdraw(rank, vote, episode)  the deadline has passed: no longer idle. False: not now, the episode may be over; ask again
//   begin(episodes)              by the one who found the episode over, before anybody is released
//
// counter.hpp, snapshot.hpp, protocol_detector.hpp; named_detector.hpp chooses one by name.
#pragma once

#include <cstdint>

namespace tutti {

// What a participant says when it becomes idle.
struct idle_entry {
  bool vote = false;
  bool has_deadline = false;
  std::uint64_t episode = 0;   // how many are over
  std::uint64_t sent = 0;      // messages, since the participant was made
  std::uint64_t released = 0;  // likewise
};

struct detection {
  bool is_over = false;       // all are idle, nothing is under way
  bool is_unanimous = false;  // and all voted true
  std::uint32_t waves = 0;    // attempts that this participant made
  bool calls_root = false;    // rank 0, which may be asleep, has to look
};

}  // namespace tutti
