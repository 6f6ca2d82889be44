// SPDX-License-Identifier: Apache-2.0
// The tables that nodes execute (network/machine.h), made of tutti's schedules: what each rank must
// hear, from whom, and what it then sends.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "network/machine.h"
#include "tutti/schedule/table.hpp"

namespace tutti::network {

inline constexpr std::string_view topology_names[] = {"",          "ring",          "tree",  "star",
                                                      "butterfly", "dissemination", "switch"};
inline constexpr unsigned first_topology = TUTTI_NET_RING, last_topology = TUTTI_NET_SWITCH;

inline unsigned topology_named(std::string_view name) {
  for (unsigned t = first_topology; t <= last_topology; ++t)
    if (topology_names[t] == name) return t;
  throw std::invalid_argument("'" + std::string(name) +
                              "' is not one of ring, tree, star, butterfly, dissemination, switch");
}

namespace detail {

// Returns the bit of a message; the first row that names it owns it.
inline std::uint64_t bit_of(tutti_net_link* links, __u8& count, rank_t rank, unsigned kind,
                            std::size_t row) {
  for (unsigned i = 1; i < count; ++i)
    if (links[i].rank == rank && links[i].kind == kind)
      throw std::logic_error("a schedule sends the same message twice in an episode");
  if (count == TUTTI_NET_SLOTS)
    throw std::invalid_argument("a node of this schedule has more than " +
                                std::to_string(TUTTI_NET_SLOTS - 1) + " neighbours");
  tutti_net_link& l = links[count];
  l.rank = rank;
  l.kind = static_cast<__u8>(kind);
  l.row = static_cast<__u8>(row);
  l.slot = count;
  return std::uint64_t{1} << count++;
}

// `releases(from, to)` returns true if a signal is a release: it carries a result, not a part.
template <class Releases>
void fill(tutti_net_table& t, const schedule::program& program, Releases releases) {
  const auto kind = [&](rank_t from, rank_t to) {
    return releases(from, to) ? TUTTI_NET_RELEASE : TUTTI_NET_ARRIVE;
  };
  bool sends = true;
  for (const schedule::stage& stage : program) {
    // A stage that waits for nothing, and one after a stage that sends nothing, share its row.
    if (t.rows == 0 || (sends && !stage.await.empty())) ++t.rows;
    if (t.rows > TUTTI_NET_ROWS) throw std::invalid_argument("a schedule has too many rounds");
    const std::size_t row = t.rows - 1u;
    sends = !stage.signal.empty();
    for (const rank_t from : stage.await) {
      const std::uint64_t bit = bit_of(t.in, t.ins, from, kind(from, t.rank), row);
      t.row[row].need |= bit;
      if (releases(from, t.rank)) t.row[row].replace |= bit;
    }
    for (const rank_t to : stage.signal)
      t.row[row].send |= bit_of(t.out, t.outs, to, kind(t.rank, to), row);
  }
  if (t.rows == 0) t.rows = 1;
  t.row[0].need |= 1;
  t.row[t.rows - 1].send |= 1;
}

// Rank 0 is the head. Arrivals go round once, then the release.
inline void fill_ring(tutti_net_table& t) {
  const rank_t n = t.size, next = (t.rank + 1) % n, previous = (t.rank + n - 1) % n;
  t.role = t.rank == 0 ? 0 : 1;
  t.rows = n == 1 ? 1 : 2;
  t.row[0].need = 1;
  t.row[t.rows - 1].send = 1;
  if (n == 1) return;
  t.row[0].send = bit_of(t.out, t.outs, next, TUTTI_NET_ARRIVE, 0);
  if (t.rank == 0) {
    t.row[1].need = bit_of(t.in, t.ins, previous, TUTTI_NET_ARRIVE, 1);
    // What has gone round contains the head's part already.
    t.row[1].replace = t.row[1].need;
    t.row[1].send |= bit_of(t.out, t.outs, next, TUTTI_NET_RELEASE, 1);
    return;
  }
  t.row[0].need |= bit_of(t.in, t.ins, previous, TUTTI_NET_ARRIVE, 0);
  t.row[1].need = bit_of(t.in, t.ins, previous, TUTTI_NET_RELEASE, 1);
  t.row[1].replace = t.row[1].need;
  if (t.rank != n - 1) t.row[1].send |= bit_of(t.out, t.outs, next, TUTTI_NET_RELEASE, 1);
}

inline void fill_tree(tutti_net_table& t, rank_t fan_in) {
  const schedule::tree shape(t.size, fan_in);
  fill(t, schedule::compile(shape, shape, t.rank),
       [](rank_t from, rank_t to) { return from < to; });
}

inline tutti_net_table empty_table(unsigned topology, rank_t n, rank_t rank) {
  tutti_net_table t{};
  t.rank = rank;
  t.size = n;
  t.topology = static_cast<__u8>(topology);
  t.ins = t.outs = 1;
  t.has_host = 1;
  return t;
}

}  // namespace detail

// Returns the table of one rank.
inline tutti_net_table make_table(unsigned topology, rank_t n, rank_t rank) {
  if (n == 0 || rank >= n) throw std::invalid_argument("a rank must be below the number of ranks");
  tutti_net_table t = detail::empty_table(topology, n, rank);
  switch (topology) {
    case TUTTI_NET_RING: detail::fill_ring(t); break;
    case TUTTI_NET_TREE:
      detail::fill_tree(t, 2);
      t.role = rank == 0 ? 0 : schedule::tree(n, 2).children(rank) != 0 ? 1 : 2;
      break;
    case TUTTI_NET_STAR:
      detail::fill_tree(t, n > 1 ? n - 1 : 1);
      t.role = rank == 0 ? 0 : 1;
      break;
    case TUTTI_NET_BUTTERFLY: {
      const schedule::hypercube shape(n);
      detail::fill(t, schedule::compile(shape, rank),
                   [&](rank_t, rank_t to) { return shape.is_folded(to); });
      break;
    }
    case TUTTI_NET_DISSEMINATION:
      detail::fill(t, schedule::compile(schedule::dissemination(n), rank),
                   [](rank_t, rank_t) { return false; });
      break;
    case TUTTI_NET_SWITCH:
      if (n >= TUTTI_NET_SLOTS)
        throw std::invalid_argument("a switch combines at most " +
                                    std::to_string(TUTTI_NET_SLOTS - 1) + " ranks");
      t.role = 1;
      detail::fill(t, {{{}, {TUTTI_NET_THE_SWITCH}}, {{TUTTI_NET_THE_SWITCH}, {}}},
                   [](rank_t from, rank_t) { return from == TUTTI_NET_THE_SWITCH; });
      break;
    default: throw std::invalid_argument("no topology has number " + std::to_string(topology));
  }
  return t;
}

// Returns the table of the switch itself: it has no host and hears from every rank.
inline tutti_net_table make_switch_table(rank_t n) {
  if (n == 0 || n >= TUTTI_NET_SLOTS)
    throw std::invalid_argument("a switch combines 1 to 63 ranks");
  tutti_net_table t = detail::empty_table(TUTTI_NET_SWITCH, n, 0);
  t.rank = TUTTI_NET_THE_SWITCH;
  t.has_host = 0;
  t.rows = 1;
  for (rank_t r = 0; r < n; ++r) {
    t.row[0].need |= detail::bit_of(t.in, t.ins, r, TUTTI_NET_ARRIVE, 0);
    t.row[0].send |= detail::bit_of(t.out, t.outs, r, TUTTI_NET_RELEASE, 0);
  }
  return t;
}

// Returns true if values that are not idempotent may be combined: every rank's part counts once.
inline bool counts_once(unsigned topology, rank_t n) {
  return topology != TUTTI_NET_DISSEMINATION || (n & (n - 1)) == 0;
}

}  // namespace tutti::network
