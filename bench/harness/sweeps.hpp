// SPDX-License-Identifier: Apache-2.0
// Sweeps: every series takes one round in each, in a new random order, so that all of them meet the
// same moods of the machine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tutti/platform/interface_base.hpp"

namespace tutti::bench {

// One thing that is measured again and again.
class series : public interface_base {
 public:
  // Checks and calibrates. False: it will not be measured.
  virtual bool prepare() = 0;
  // One round.
  virtual void measure() = 0;
  // What a round should last.
  virtual double target_ns() const = 0;
  // What a round lasts at least, as far as that is known beforehand.
  virtual double least_ns() const { return 0; }
  // There is no time for a round.
  virtual void give_up(const std::string& reason) = 0;
};

struct run_length {
  // The number of sweeps; 0: as many as the time allows.
  std::uint64_t rounds = 0;
  // The time for everything, checks and calibration too. If rounds are given, it is a bound only
  // with `bounds_rounds`.
  double seconds = 15;
  bool bounds_rounds = false;
  // The seed of the order.
  std::uint64_t seed = 1;
  // A round that lasts longer counts as hung, and ends the program.
  unsigned longest_round_s = 120;
};

using progress = std::function<void(const std::string& what, double fraction)>;

// Returns the number of sweeps that were begun. `before_each` runs before each sweep. Series that
// cannot be prepared are removed. Ends by time within the round that is running then. What has had
// no round by then gives up, and so does at once what needs more time for a round than there is.
std::size_t run_sweeps(std::vector<std::unique_ptr<series>>& all, const run_length& length,
                       const std::function<void()>& before_each, const progress& report);

}  // namespace tutti::bench
