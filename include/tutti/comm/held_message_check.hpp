// SPDX-License-Identifier: Apache-2.0
// Finds a participant that waits for room by asking again and again while it holds a message. A
// message that is held keeps the room of those after it, so two participants that do so can wait
// for each other for ever, even if both receive and release what comes later. Only calls from
// sources that are compiled with checks are counted; other calls cost nothing.
#pragma once

#include <cstdint>
#include <string>

#include "tutti/platform/config.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti {

class held_message_check {
 public:
  // A participant that holds a message may ask in vain less often than this, in a row. A program
  // that asks once and then does something else stays far below.
  static constexpr std::uint32_t most_questions = 10'000;

  // Call this with the answer to a question for room. `held` says how many messages the participant
  // holds.
  template <class Held>
  void asked(rank_t me, rank_t to, bool has_room, Held held, call_site where) {
    if (!where.checks()) return;
    if (has_room || held() == 0) {
      in_vain_ = 0;
    } else if (++in_vain_ == most_questions) {
      in_vain_ = 0;
      report(me, to, held(), where);
    }
  }

  // Call this after a message was released.
  template <class Held>
  void released(Held held) noexcept {
    if (in_vain_ != 0 && held() == 0) [[unlikely]]
      in_vain_ = 0;
  }

 private:
  [[gnu::noinline, gnu::cold]] static void report(rank_t me, rank_t to, std::uint64_t held,
                                                  call_site where) {
    on_misuse("rank " + std::to_string(me) + " has asked " + std::to_string(most_questions) +
                  " times for room to send to rank " + std::to_string(to) + " while it holds " +
                  std::to_string(held) +
                  " messages: two ranks that do so can wait for each other for ever, although both "
                  "receive. Release the messages first, or use active messages",
              where.at());
  }

  std::uint32_t in_vain_ = 0;
};

}  // namespace tutti
