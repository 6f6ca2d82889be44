// SPDX-License-Identifier: Apache-2.0
// The episode trace and its checker: no participant leaves before the last has arrived, none is
// lost, and none is extra. Any provider of a barrier (threads, the C interface, MPI, a network, a
// simulation, RTL) writes this trace.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tutti/platform/config.hpp"

namespace tutti::test {

// One participant's passage through one episode. Stamps come from any clock that never runs
// backwards from an event to one that happens after it: a shared counter, cycles of a simulation,
// nanoseconds.
struct passage {
  rank_t participant = 0;
  std::uint64_t episode = 0;
  // Taken before the call.
  std::uint64_t arrive = 0;
  // Taken after the call.
  std::uint64_t leave = 0;
};
using trace = std::vector<passage>;

inline std::string name_of(const passage& p) {
  return "participant " + std::to_string(p.participant) + " in episode " +
         std::to_string(p.episode) + " (arrived " + std::to_string(p.arrive) + ", left " +
         std::to_string(p.leave) + ")";
}

// Checks that every participant passed every episode 0 .. episodes-1 once, in order. Returns the
// first error, or an empty string.
inline std::string check_attendance(const trace& t, rank_t participants, std::uint64_t episodes) {
  std::vector<const passage*> seen(static_cast<std::size_t>(participants * episodes));
  for (const passage& p : t) {
    if (p.participant >= participants || p.episode >= episodes) return "extra: " + name_of(p);
    if (p.leave < p.arrive) return "left before it arrived: " + name_of(p);
    const passage*& cell = seen[static_cast<std::size_t>(p.episode * participants + p.participant)];
    if (cell != nullptr) return "twice: " + name_of(p);
    cell = &p;
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] == nullptr)
      return "lost: participant " + std::to_string(i % participants) + " in episode " +
             std::to_string(i / participants);
    if (i >= participants && seen[i]->arrive < seen[i - participants]->leave)
      return "arrived before it had left the episode before: " + name_of(*seen[i]);
  }
  return {};
}

// The check for participants with ranks.
inline std::string check(const trace& t, rank_t participants, std::uint64_t episodes) {
  if (std::string wrong = check_attendance(t, participants, episodes); !wrong.empty()) return wrong;
  // The last passage to arrive in each episode.
  std::vector<const passage*> last(static_cast<std::size_t>(episodes));
  for (const passage& p : t) {
    const passage*& l = last[static_cast<std::size_t>(p.episode)];
    if (l == nullptr || p.arrive > l->arrive) l = &p;
  }
  for (const passage& p : t) {
    const passage& l = *last[static_cast<std::size_t>(p.episode)];
    if (p.leave < l.arrive) return "left too early: " + name_of(p) + " before " + name_of(l);
  }
  return {};
}

// The check for threads without ranks, of which there may be more than `participants`, and any
// `participants` of which complete an episode: the k-th to leave must find k rounded up to whole
// episodes arrived. Episode numbers are ignored.
inline std::string check_crowd(const trace& t, rank_t participants) {
  if (t.size() % participants != 0)
    return std::to_string(t.size()) + " passages are not whole episodes of " +
           std::to_string(participants);
  std::vector<std::uint64_t> arrivals;
  std::vector<std::pair<std::uint64_t, const passage*>> departures;
  for (const passage& p : t) {
    if (p.leave < p.arrive) return "left before it arrived: " + name_of(p);
    arrivals.push_back(p.arrive);
    departures.emplace_back(p.leave, &p);
  }
  std::sort(arrivals.begin(), arrivals.end());
  std::sort(departures.begin(), departures.end());
  for (std::size_t k = 0; k < departures.size(); ++k) {
    const std::size_t needed = (k / participants + 1) * participants;
    if (departures[k].first < arrivals[needed - 1])
      return "left too early: " + name_of(*departures[k].second);
  }
  return {};
}

}  // namespace tutti::test
