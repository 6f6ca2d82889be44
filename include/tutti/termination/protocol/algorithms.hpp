// SPDX-License-Identifier: Apache-2.0
// The list of termination-detection algorithms: names, sources, and costs. The tests compare the
// cost formulas with the counts of a simulation. n is the number of participants, w the number of
// waves, and L the time of one message.
#pragma once

#include <array>
#include <bit>
#include <string_view>

#include "tutti/schedule/arithmetic.hpp"
#include "tutti/termination/protocol/interface.hpp"

namespace tutti::protocol {

// The fan of `tree` and `waves`.
inline constexpr rank_t tree_fan = 4;

struct algorithm {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  // Control messages of an episode with w waves, under epochs, without values.
  std::string_view messages;
  // An upper bound on the time from the last participant's idle() to the last release, with one
  // wave.
  std::string_view latency;
  std::string_view use_when;
};

inline constexpr std::array<algorithm, 4> algorithms{{
    {"star", "a master probes all, each holds its probe until it is passive",
     "Naylor et al. 2020, section III-C; colours: EWD998", "2 w (n-1)", "2 L",
     "few participants; the default between processes"},
    {"tree", "the star in levels of fan 4: reports are summed on the way",
     "EWD998 over schedule/fan_in.hpp", "2 w (n-1)", "2 ceil(log4 n) L", "many participants"},
    {"ring", "one token, passed on by whoever is passive", "Dijkstra 1987 (EWD998)", "(w+1) n",
     "2 n L", "reference; neighbours only"},
    {"waves", "two waves whose counters agree, over the tree", "Mattern 1987 (four counters)",
     "2 w (n-1)", "2 ceil(log4 n) L", "where sums come from a reduction"},
}};

// The index in `algorithms`, or its size if there is no algorithm of that name.
constexpr std::size_t find_algorithm(std::string_view name) noexcept {
  std::size_t i = 0;
  while (i < algorithms.size() && algorithms[i].name != name) ++i;
  return i;
}

// A fan with which the tree has one level.
constexpr rank_t star_fan(rank_t participants) noexcept {
  return participants < 2 ? 2 : std::bit_ceil(participants);
}

// The number of control messages of an episode.
constexpr std::uint64_t control_messages(std::string_view name, std::uint64_t n,
                                         std::uint64_t waves, release_scheme scheme,
                                         bool values) noexcept {
  if (n < 2) return 0;
  const bool phases = scheme == release_scheme::phases;
  if (name != "ring") return 2 * (n - 1) * (waves + (phases ? 1 : 0));
  const std::uint64_t partials = values ? (n + 1) / 2 - 1 : 0;
  return waves * (n + partials) + n * (phases ? 2 : 1);
}

// An upper bound on the consecutive hops from the last idle() to the last release, in an episode
// that the wave `more` waves before its last could have ended. `more` is 0 if no message was freed
// in the episode.
constexpr std::uint64_t latency_hops(std::string_view name, rank_t n, std::uint64_t more) noexcept {
  if (n < 2) return 0;
  // One hop more than the wave and the release take: the release of the episode before may have to
  // come back first.
  if (name == "ring") return (more + 2) * std::uint64_t{n};
  const rank_t levels = name == "star" ? 1 : schedule::ceil_log(n, tree_fan);
  return 2 * (more + 1) * std::uint64_t{levels};
}

}  // namespace tutti::protocol
