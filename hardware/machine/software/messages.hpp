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

// What becomes of the values of all threads.
enum class aggregator : std::uint32_t {
  none,
  sum,
  min,
  max,
  bit_and,
  bit_or,
  min_unsigned,
  max_unsigned
};
// The same in software.
constexpr std::uint32_t combined(aggregator how, std::uint32_t a, std::uint32_t b) noexcept {
  const auto x = static_cast<std::int32_t>(a), y = static_cast<std::int32_t>(b);
  switch (how) {
    case aggregator::sum: return a + b;
    case aggregator::min: return x < y ? a : b;
    case aggregator::max: return x < y ? b : a;
    case aggregator::bit_and: return a & b;
    case aggregator::bit_or: return a | b;
    case aggregator::min_unsigned: return a < b ? a : b;
    case aggregator::max_unsigned: return a < b ? b : a;
    default: return 0;
  }
}

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
  // Gives a value too; after the end, total() is that of the values of the group's threads.
  static ended idle(bool vote, aggregator how, std::uint32_t value) noexcept {
    return static_cast<ended>(
        message_idle_with(vote ? 1 : 0, static_cast<std::uint32_t>(how), value));
  }
  static std::uint32_t total() noexcept { return message_total(); }
};

}  // namespace tutti::rtl
