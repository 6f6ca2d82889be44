// SPDX-License-Identifier: Apache-2.0
// The mailbox of this thread, for programs in C++: it sends from slot 0 and receives into the
// others.
//
//   mailbox box;                                    // once in each thread, before anybody sends
//   box.send(core, words, [&](const letter& m) { ... });   // receives while there is no room
//   for (;;) {
//     box.receive_all([&](const letter& m) { ... });
//     if (const ended e = box.idle(vote); e != ended::no) break;
//   }
//
// A thread must not wait with a message that it could take: others may need its slots to go on. So
// send() receives while it waits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hardware/machine/software/messages.h"

namespace tutti::rtl {

// A received message, valid during the call of the receiver.
class letter {
 public:
  explicit letter(std::uint32_t got) noexcept : got_(got) {}
  std::uint32_t from() const noexcept { return got_ >> 16; }
  std::uint32_t length() const noexcept { return got_ >> 8 & 0xff; }
  std::uint32_t operator[](std::size_t i) const noexcept { return message_slot(slot())[i]; }
  std::uint32_t slot() const noexcept { return got_ & 0xff; }

 private:
  std::uint32_t got_;
};

// What idle() returned for: a message, or all are idle; then, whether all voted for it.
enum class ended : std::uint32_t { no, yes, unanimously };

class mailbox {
 public:
  mailbox() noexcept {
    for (std::uint32_t slot = 1; slot < MESSAGE_SLOTS; ++slot) message_alloc(slot);
  }
  mailbox(const mailbox&) = delete;
  mailbox& operator=(const mailbox&) = delete;

  // Calls receiver(letter) for each message that comes before there is room.
  template <std::size_t Count, class Receiver>
  void send(std::uint32_t core, const std::uint32_t (&words)[Count], Receiver receiver) noexcept {
    static_assert(Count <= MESSAGE_WORDS, "a message has at most MESSAGE_WORDS words");
    // receiver may send too, so the slot is written again after each call of it.
    for (;;) {
      for (std::size_t i = 0; i < Count; ++i) message_slot(0)[i] = words[i];
      if (message_send(core, 0, Count) != 0) return;
      message_wait(MESSAGE_CAN_SEND | MESSAGE_CAN_RECEIVE);
      receive_all(receiver);
    }
  }

  template <class Receiver>
  void receive_all(Receiver receiver) noexcept {
    while ((message_status() & MESSAGE_CAN_RECEIVE) != 0) {
      const letter got(message_receive());
      receiver(got);
      message_alloc(got.slot());
    }
  }

  static ended idle(bool vote) noexcept { return static_cast<ended>(message_idle(vote ? 1 : 0)); }
};

}  // namespace tutti::rtl
