// SPDX-License-Identifier: Apache-2.0
// Arrivals at one node, by a seed: in time, late, early, repeated, lost, foreign. Every executor is
// given the same ones, and its trace is compared.
#pragma once

#include <random>
#include <vector>

#include "network/trace.hpp"

namespace tutti::network::test {

struct arrival {
  // 0: the host's call; otherwise the slot of the table's `in`.
  unsigned slot = 0;
  std::uint32_t episode = 0;
  // The sender is no neighbour.
  bool stranger = false;
  // An Ask for the message of this slot of `out`.
  unsigned asks = 0;
};

// A script in which the node passes `episodes` episodes. `extended` also asks, which plain packets
// cannot, and repeats calls, as hosts do where nodes ask or echo.
inline std::vector<arrival> script(const tutti_net_table& t, std::uint32_t episodes,
                                   std::uint64_t seed, bool extended) {
  const bool repeats_calls = extended || t.echoes;
  std::mt19937_64 random(seed);
  std::vector<arrival> all;
  // Which slots came in this episode and in the next one; a model of its own, not the machine.
  std::vector<bool> now(t.ins), ahead(t.ins);
  std::uint32_t episode = 0;
  while (episode < episodes) {
    const auto slot = static_cast<unsigned>(random() % t.ins);
    const auto say = [&](unsigned s, std::uint32_t e) { all.push_back({s, e, false, 0}); };
    switch (random() % 8) {
      case 0: {
        // A repetition of the last episode, or one too far ahead.
        if (slot != 0 || t.echoes) say(slot, random() % 2 == 0 ? episode - 1 : episode + 2);
        break;
      }
      case 1:
        if (slot != 0) all.push_back({slot, episode, true, 0});
        break;
      case 2:
        if (extended && t.outs > 1)
          all.push_back({0, random() % 2 == 0 && episode > 0 ? episode - 1 : episode, false,
                         1 + static_cast<unsigned>(random() % (t.outs - 1u))});
        break;
      case 3:
        // A neighbour is ahead only if it has ended this episode, which it cannot before we call.
        if (slot != 0 && now[0]) {
          say(slot, episode + 1);
          ahead[slot] = true;
        }
        break;
      case 4:
        if (slot == 0 && !repeats_calls) break;
        // Once more what has come.
        if (now[slot]) say(slot, episode);
        break;
      default:
        // What is lost comes only when this draws it again.
        if (slot == 0 && now[0] && !repeats_calls) break;
        say(slot, episode);
        now[slot] = true;
        break;
    }
    if (std::find(now.begin(), now.end(), false) == now.end()) {
      now = ahead;
      ahead.assign(t.ins, false);
      ++episode;
    }
  }
  return all;
}

inline tutti_net_message message_of(const tutti_net_table& t, const arrival& a) {
  tutti_net_message m{};
  m.communicator = t.communicator;
  m.topology = t.topology;
  m.incarnation = t.incarnation;
  m.episode = a.episode;
  m.plain = t.plain;
  if (a.asks != 0) {
    m.kind = TUTTI_NET_ASK;
    m.wanted = t.out[a.asks].kind;
    m.source = t.out[a.asks].rank;
    m.destination = t.rank;
  } else if (a.slot == 0) {
    m.kind = TUTTI_NET_START;
    m.role = t.role;
    m.source = m.destination = t.rank;
  } else {
    m.kind = t.in[a.slot].kind;
    m.source = a.stranger ? t.size + 7 : t.in[a.slot].rank;
    m.destination = t.rank;
  }
  if (m.plain) m.source = m.destination = 0;
  return m;
}

// The trace of the state machine itself.
inline std::vector<std::string> machine_trace(const tutti_net_table& t,
                                              const std::vector<arrival>& arrivals) {
  tutti_net_state s{};
  std::vector<std::string> trace;
  for (const arrival& a : arrivals) {
    const tutti_net_message m = message_of(t, a);
    tutti_net_actions actions;
    tutti_net_step(&t, &s, nullptr, &m, nullptr, a.slot == 0 && a.asks == 0, &actions);
    trace.push_back(text_of(entry_of(t, actions, m.source)));
  }
  return trace;
}

}  // namespace tutti::network::test
