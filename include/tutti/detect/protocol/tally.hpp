// SPDX-License-Identifier: Apache-2.0
// Counts a participant's messages to and from others, for the machines of termination detection.
// Two counters that only grow: their difference alone would hide that something moved between two waves.
#pragma once

#include "tutti/detect/protocol/interface.hpp"
#include "tutti/detect/protocol/policy.hpp"

namespace tutti::protocol {

template <class Policy = shipping>
class basic_tally {
 public:
  // Before the message can be seen by its receiver.
  void sent(std::uint64_t messages = 1) noexcept {
    totals_.sent += Policy::choose("tally.sent", messages, std::uint64_t{0});
  }
  // Taken from the mailbox, still in the application's hands: under way.
  void received(std::uint64_t messages = 1) noexcept {
    totals_.freed += Policy::choose("tally.freed", std::uint64_t{0}, messages);
  }
  // Given back by the application.
  void freed(std::uint64_t messages = 1) noexcept {
    totals_.freed += Policy::choose("tally.freed", messages, std::uint64_t{0});
  }
  const counts& totals() const noexcept { return totals_; }

 private:
  counts totals_;
};

using tally = basic_tally<>;

}  // namespace tutti::protocol
