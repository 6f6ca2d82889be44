// SPDX-License-Identifier: Apache-2.0
// Many participants on a simulated network: events in the order of their times, delays drawn from a seed. It runs the machines
// as an executor does, knows the truth about every message, and counts what detection cost.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/detect/protocol/machine.hpp"

namespace tutti::protocol::test {

struct simulated {
  std::string_view algorithm = "star";
  release_scheme scheme = release_scheme::epochs;
  rank_t participants = 8;
  int episodes = 20;
  double messages = 3;   // that a participant begins an episode with, on average; 0: empty episodes
  double replies = 0.6;  // sent on average for each message received; below 1, or it never ends
  double control_delay = 1;  // of a control message
  bool random_delays =
      true;  // exponential with that mean, so that messages overtake; else all exactly that
  double lateness = 0;  // how often the deadline of an idle() passes
  bool values = true;   // aggregate
  bool repeats =
      false;  // hand each control message to its receiver twice: the second must be refused
  std::uint64_t seed = 1;
};

// Of one episode.
struct episode_cost {
  std::uint64_t waves = 0;
  std::uint64_t control = 0;     // messages
  std::uint64_t messages = 0;    // the application's
  double quiet = 0;              // when the last participant became passive for good
  double released = 0;           // when the last was released
  std::uint64_t late_waves = 0;  // begun after it was quiet
};

struct simulation_result {
  std::vector<episode_cost> episodes;
  std::vector<std::string> errors;
  std::uint64_t refuted = 0;
  std::uint64_t held_back = 0;  // messages that waited for their episode
  std::uint64_t refused = 0;    // repeated control messages
};

simulation_result simulate(const simulated& s);

}  // namespace tutti::protocol::test
