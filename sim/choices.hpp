// SPDX-License-Identifier: Apache-2.0
// What tutti does if a program names no algorithm (schedule/choose.hpp and the defaults of its
// options), beside what it could do instead.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/machine.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::sim {

// How many episodes tell how long a choice takes.
inline constexpr std::uint32_t episodes_of_a_choice = 10;

struct alternative {
  std::string name, summary;
  // The median of the ns of so many episodes of so many threads on a machine.
  std::function<double(const machine&, rank_t threads, std::uint32_t episodes)> ns;
};

struct choice {
  std::string subject, summary;
  // What tutti does.
  alternative chosen;
  std::vector<alternative> others;
};

// The choices: barriers for threads without ranks, barriers for ranks, reductions, regions. All
// waits poll, except those of a team, which are adaptive.
std::vector<choice> choices();

}  // namespace tutti::sim
