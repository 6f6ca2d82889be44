// SPDX-License-Identifier: Apache-2.0
// What a node did with each message that came, as text: every executor of a table writes the same
// trace for the same arrivals.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "network/tables.hpp"

namespace tutti::network {

// A message that a node sends: its kind and the rank, in an order of its own.
struct trace_sent {
  unsigned kind = 0;
  rank_t to = 0;
  friend auto operator<=>(const trace_sent&, const trace_sent&) = default;
};

struct trace_entry {
  unsigned outcome = 0;
  std::vector<trace_sent> sent;
  bool released = false;
};

inline std::string text_of(trace_entry e) {
  static constexpr const char* outcomes[] = {"counted",  "early", "repeated",
                                             "stranger", "asked", "disagrees"};
  static constexpr const char* kinds[] = {"?",   "start", "arrive", "release",
                                          "ask", "query", "status"};
  std::ranges::sort(e.sent);
  std::string text = outcomes[e.outcome];
  for (const trace_sent& s : e.sent)
    text += std::string(", ") + kinds[s.kind] + " to " + std::to_string(s.to);
  if (e.released) text += ", released";
  return text;
}

// What the machine's actions amount to.
inline trace_entry entry_of(const tutti_net_table& t, const tutti_net_actions& a,
                            rank_t asked_by = 0) {
  trace_entry e{a.outcome, {}, a.released != 0};
  for (unsigned slot = 1; slot < TUTTI_NET_SLOTS; ++slot) {
    if (a.send >> slot & 1) e.sent.push_back({t.out[slot].kind, t.out[slot].rank});
    if (a.ask >> slot & 1) e.sent.push_back({TUTTI_NET_ASK, t.in[slot].rank});
  }
  if (a.answer) e.sent.push_back({TUTTI_NET_STATUS, asked_by});
  return e;
}

}  // namespace tutti::network
