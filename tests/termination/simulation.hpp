// SPDX-License-Identifier: Apache-2.0
// Many participants on a simulated network: events in the order of their times, with delays drawn
// from a seed. It runs the machines as an executor does, knows the truth about every message, and
// counts the cost of detection.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/termination/protocol/machine.hpp"

namespace tutti::protocol::test {

struct simulated {
  std::string_view algorithm = "star";
  release_scheme scheme = release_scheme::epochs;
  rank_t participants = 8;
  int episodes = 20;
  // The mean number of messages with which a participant begins an episode; 0: empty episodes.
  double messages = 3;
  // The mean number of messages sent for each received one; below 1, or it never ends.
  double replies = 0.6;
  // The mean delay of a control message.
  double control_delay = 1;
  // Delays are exponential with that mean, so that messages overtake; otherwise all are exactly
  // that.
  bool random_delays = true;
  // How often the deadline of an idle() passes.
  double lateness = 0;
  // Whether to aggregate values.
  bool values = true;
  // Whether to deliver each control message twice; the second must be refused.
  bool repeats = false;
  std::uint64_t seed = 1;
};

// The cost of one episode.
struct episode_cost {
  std::uint64_t waves = 0;
  // Control messages.
  std::uint64_t control = 0;
  // The application's messages.
  std::uint64_t messages = 0;
  // When the last participant became passive for good.
  double quiet = 0;
  // When the last participant was released.
  double released = 0;
  // Waves begun after it was quiet.
  std::uint64_t late_waves = 0;
};

struct simulation_result {
  std::vector<episode_cost> episodes;
  std::vector<std::string> errors;
  std::uint64_t refuted = 0;
  // Messages that waited for their episode.
  std::uint64_t held_back = 0;
  // Repeated control messages.
  std::uint64_t refused = 0;
};

simulation_result simulate(const simulated& s);

}  // namespace tutti::protocol::test
