// SPDX-License-Identifier: Apache-2.0
// How many episodes make a round of the length that is wanted.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tutti::bench {

class round_length {
 public:
  static constexpr std::uint64_t least_episodes = 4;

  // How long a round should last.
  double target_ns = 0;
  // The largest number of episodes of a round.
  std::uint64_t most_episodes = UINT64_MAX;

  // `duration_of(episodes)` runs a round of so many and returns what it took, in ns.
  template <class Run>
  void calibrate(Run duration_of) {
    std::uint64_t count = least_episodes;
    for (int attempt = 0; attempt < 5; ++attempt) {
      const double duration = duration_of(count);
      cost_ns_ = std::max(duration / static_cast<double>(count), 1.0);
      if (duration > target_ns / 4) return;
      const auto fitting = static_cast<std::uint64_t>(target_ns / cost_ns_);
      count = std::min(std::clamp(fitting, least_episodes, count * 50), most_episodes);
    }
  }

  // Where it is known beforehand.
  void assume(double cost_ns) { cost_ns_ = std::max(1.0, cost_ns); }

  // Follows slow changes, forgets a single odd round.
  void follow(double cost_ns) {
    cost_ns_ = std::max(1.0, 0.7 * cost_ns_ + 0.3 * std::min(cost_ns, 4 * cost_ns_));
  }

  double cost_ns() const { return cost_ns_; }

  std::uint64_t episodes() const {
    const double fitting = std::max(target_ns / cost_ns_, static_cast<double>(least_episodes));
    return std::min(static_cast<std::uint64_t>(fitting), most_episodes);
  }

  // The number of episodes after which about `ns` have passed, so that the clock is looked at then.
  std::uint64_t chunk(double ns) const {
    return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(ns / cost_ns_), 1, longest_chunk);
  }

 private:
  static constexpr std::uint64_t longest_chunk = 64;
  // The estimated cost of an episode.
  double cost_ns_ = 1;
};

}  // namespace tutti::bench
