// SPDX-License-Identifier: Apache-2.0
// Calm, then something else, then calm again: how long until episodes cost what they cost before?
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/harness/neighbour.hpp"
#include "bench/harness/round.hpp"

namespace tutti::bench {

// What an episode cost, and when.
struct phase_sample {
  // In ticks.
  std::uint64_t begin = 0;
  double cost_ns = 0;
};

// The rolling median counts as calm up to this multiple of the undisturbed one.
inline constexpr double calm_factor = 1.1;
inline constexpr std::size_t rolling_window = 11;  // samples

// The time from `change` (ticks) to the first window of samples whose median is within calm_factor
// of `calm_ns`; none if there is no such window. Samples before the change are passed over.
std::optional<double> time_to_calm(const std::vector<phase_sample>& samples, std::uint64_t change,
                                   double calm_ns);

// How long a round with pattern::phases lasts.
double length_of_phases_ns(const round_request& request);

// The threads' part of a round with pattern::phases; the team calls run() after the warm-up, then
// one thread finish().
class round_phases {
 public:
  round_phases(const round_request& request, timed_barrier& barrier, neighbours& busy);
  void run(rank_t rank);
  void finish(round_outcome& outcome) const;

 private:
  enum class phase { calm, other, calm_again, over };

  bool has_long_waits(phase p) const;
  void lead();
  void follow(rank_t rank);
  void change_to(phase next);
  double chunk_of(phase p, rank_t rank);

  const round_request& request_;
  timed_barrier& barrier_;
  neighbours& busy_;
  // The phases of even and of odd chunks. Rank 0 writes a chunk's phase before it arrives, and the
  // others read it after that chunk, so that a slot is written again only when all have read it.
  phase next_[2] = {phase::calm, phase::calm};
  std::vector<phase_sample> before_;
  std::vector<phase_sample> after_;
  // The time at which the calm could return.
  std::uint64_t change_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace tutti::bench
