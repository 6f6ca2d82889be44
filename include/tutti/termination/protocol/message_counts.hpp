// SPDX-License-Identifier: Apache-2.0
// Counts a participant's messages to and from others for the termination-detection machines. There
// are two counters that only grow: their difference alone would hide a change between two waves.
#pragma once

#include "tutti/termination/protocol/interface.hpp"
#include "tutti/termination/protocol/policy.hpp"

namespace tutti::protocol {

template <class Policy = shipping>
class basic_message_counts {
 public:
  // Call this before the receiver can see the message.
  void sent(std::uint64_t messages = 1) noexcept {
    totals_.sent += Policy::choose("message_counts.sent", messages, std::uint64_t{0});
  }
  // The application has taken the message from the mailbox and still holds it: the message is under
  // way.
  void received(std::uint64_t messages = 1) noexcept {
    totals_.freed += Policy::choose("message_counts.freed", std::uint64_t{0}, messages);
  }
  // The application has released the message.
  void freed(std::uint64_t messages = 1) noexcept {
    totals_.freed += Policy::choose("message_counts.freed", messages, std::uint64_t{0});
  }
  const counts& totals() const noexcept { return totals_; }

 private:
  counts totals_;
};

using message_counts = basic_message_counts<>;

}  // namespace tutti::protocol
