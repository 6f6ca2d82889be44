// SPDX-License-Identifier: Apache-2.0
// The list of termination-detection algorithms: names, sources, costs, and machines. What chooses
// one by name, the detectors between threads (termination/list.hpp) and between processes, the
// tests and the explorer are made from it. A new protocol is a header with its machine and an entry
// here. The tests compare the cost formulas with the counts of a simulation. n is the number of
// participants, w the number of waves, and L the time of one message.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "tutti/platform/names.hpp"
#include "tutti/schedule/arithmetic.hpp"
#include "tutti/termination/protocol/gather.hpp"
#include "tutti/termination/protocol/interface.hpp"
#include "tutti/termination/protocol/ring.hpp"

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

// A fan with which the tree has one level.
constexpr rank_t star_fan(rank_t participants) noexcept {
  return participants < 2 ? 2 : std::bit_ceil(participants);
}

namespace registry {

// An entry describes a protocol, names the machine of a participant, and tells what it costs:
//   machine<Policy>                    the class of the machine
//   construct(rank, n, scheme, make)   calls make with the arguments of its constructor
//   control_messages(...)              the number of control messages of an episode of n >= 2
//   latency_hops(n, more)              an upper bound on the consecutive hops from the last idle()
//                                      to the last release, for n >= 2, in an episode that the wave
//                                      `more` waves before its last could have ended. `more` is 0
//                                      if no message was freed in the episode.

// The protocols that gather reports over a tree.
template <bool IsStar, criterion DecidesBy>
struct gathering {
  template <class Policy>
  using machine = gather<Policy>;
  template <class Make>
  static void construct(rank_t rank, rank_t n, release_scheme scheme, Make make) {
    make(rank, n, IsStar ? star_fan(n) : tree_fan, DecidesBy, scheme);
  }
  static constexpr std::uint64_t control_messages(std::uint64_t n, std::uint64_t waves,
                                                  release_scheme scheme, bool /*values*/) noexcept {
    return 2 * (n - 1) * (waves + (scheme == release_scheme::phases ? 1 : 0));
  }
  static constexpr std::uint64_t latency_hops(rank_t n, std::uint64_t more) noexcept {
    const rank_t levels = IsStar ? 1 : schedule::ceil_log(n, tree_fan);
    return 2 * (more + 1) * std::uint64_t{levels};
  }
};

struct star : gathering<true, criterion::safra> {
  static constexpr algorithm info{"star",
                                  "a master probes all, each holds its probe until it is passive",
                                  "Naylor et al. 2020, section III-C; colours: EWD998",
                                  "2 w (n-1)",
                                  "2 L",
                                  "few participants; the default between processes"};
};
struct tree : gathering<false, criterion::safra> {
  static constexpr algorithm info{"tree",
                                  "the star in levels of fan 4: reports are summed on the way",
                                  "EWD998 over schedule/fan_in.hpp",
                                  "2 w (n-1)",
                                  "2 ceil(log4 n) L",
                                  "many participants"};
};
struct token_ring {
  static constexpr algorithm info{"ring",
                                  "one token, passed on by whoever is passive",
                                  "Dijkstra 1987 (EWD998)",
                                  "(w+1) n",
                                  "2 n L",
                                  "reference; neighbours only"};
  template <class Policy>
  using machine = ring<Policy>;
  template <class Make>
  static void construct(rank_t rank, rank_t n, release_scheme scheme, Make make) {
    make(rank, n, scheme);
  }
  static constexpr std::uint64_t control_messages(std::uint64_t n, std::uint64_t waves,
                                                  release_scheme scheme, bool values) noexcept {
    const std::uint64_t partials = values ? (n + 1) / 2 - 1 : 0;
    return waves * (n + partials) + n * (scheme == release_scheme::phases ? 2 : 1);
  }
  // One hop more than the wave and the release take: the release of the episode before may have to
  // come back first.
  static constexpr std::uint64_t latency_hops(rank_t n, std::uint64_t more) noexcept {
    return (more + 2) * std::uint64_t{n};
  }
};
struct waves : gathering<false, criterion::four_counter> {
  static constexpr algorithm info{"waves",
                                  "two waves whose counters agree, over the tree",
                                  "Mattern 1987 (four counters)",
                                  "2 w (n-1)",
                                  "2 ceil(log4 n) L",
                                  "where sums come from a reduction"};
};

using algorithms = std::tuple<star, tree, token_ring, waves>;

}  // namespace registry

// The same list as values.
inline constexpr auto algorithms = []<class... A>(std::tuple<A...>*) {
  return std::array{A::info...};
}(static_cast<registry::algorithms*>(nullptr));

// Calls f(entry) for the entry of this name. Returns false if there is none.
template <class F>
constexpr bool with_algorithm(std::string_view name, F f) {
  return [&]<class... A>(std::tuple<A...>*) {
    return ((A::info.name == name && (f(A()), true)) || ...);
  }(static_cast<registry::algorithms*>(nullptr));
}

// The number of control messages of an episode.
constexpr std::uint64_t control_messages(std::string_view name, std::uint64_t n,
                                         std::uint64_t waves, release_scheme scheme, bool values) {
  std::uint64_t count = 0;
  if (n < 2) return 0;
  with_algorithm(name,
                 [&](auto entry) { count = entry.control_messages(n, waves, scheme, values); });
  return count;
}

// An upper bound on the consecutive hops from the last idle() to the last release (latency_hops of
// an entry).
constexpr std::uint64_t latency_hops(std::string_view name, rank_t n, std::uint64_t more) {
  std::uint64_t hops = 0;
  if (n < 2) return 0;
  with_algorithm(name, [&](auto entry) { hops = entry.latency_hops(n, more); });
  return hops;
}

}  // namespace tutti::protocol
