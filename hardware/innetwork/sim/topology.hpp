// SPDX-License-Identifier: Apache-2.0
// The topologies of Arap et al. as tables of the engine: tutti's schedules, and the port that leads
// to each neighbour.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "tutti/schedule/table.hpp"

namespace tutti::rtl {

enum : unsigned { type_ring = 1, type_tree = 2, type_star = 3, type_butterfly = 4 };

struct table_row {
  std::uint32_t need = 0, send = 0;
};
struct wire {
  unsigned port = 0;
  rank_t to = 0;
  // The port at the other end.
  unsigned there = 0;
};
// A node's place in a topology.
struct station {
  unsigned role = 0;
  std::vector<table_row> rows;
  std::vector<wire> wires;
};
struct topology {
  unsigned type = 0;
  std::string name;
  // Indexed by rank.
  std::vector<station> stations;
};

inline constexpr std::uint32_t host_bit = 1;
inline std::uint32_t arrive_bit(unsigned port) { return std::uint32_t{1} << (1 + port); }
inline std::uint32_t release_bit(unsigned port) { return std::uint32_t{1} << (1 + PORTS + port); }

inline unsigned port_of(const station& s, rank_t to) {
  for (const wire& w : s.wires)
    if (w.to == to) {
      if (w.port >= PORTS)
        throw std::invalid_argument("a node would need port " + std::to_string(w.port) +
                                    ", the engine has " + std::to_string(PORTS));
      return w.port;
    }
  throw std::invalid_argument("no wire to rank " + std::to_string(to));
}

// Merges a stage that sends nothing with a following one that waits for nothing.
inline std::vector<table_row> merged(const std::vector<table_row>& rows) {
  std::vector<table_row> result;
  for (const table_row& r : rows) {
    if (!result.empty() && (result.back().send == 0 || r.need == 0)) {
      result.back().need |= r.need;
      result.back().send |= r.send;
    } else {
      result.push_back(r);
    }
  }
  return result;
}

// `releases(from, to)` returns true if a signal from `from` to `to` is a release.
template <class Releases>
void fill(topology& t, const schedule::table& table, Releases releases) {
  for (rank_t rank = 0; rank < table.size(); ++rank) {
    station& s = t.stations[rank];
    std::vector<table_row> rows;
    for (const schedule::stage& stage : table[rank]) {
      table_row row;
      for (const rank_t from : stage.await)
        row.need |=
            releases(from, rank) ? release_bit(port_of(s, from)) : arrive_bit(port_of(s, from));
      for (const rank_t to : stage.signal)
        row.send |= releases(rank, to) ? release_bit(port_of(s, to)) : arrive_bit(port_of(s, to));
      rows.push_back(row);
    }
    if (rows.empty()) rows.emplace_back();
    rows.front().need |= host_bit;
    rows.back().send |= host_bit;
    s.rows = merged(rows);
    for (wire& w : s.wires) w.there = port_of(t.stations[w.to], rank);
  }
}

// Port base leads to the successor, base + 1 to the predecessor.
inline topology ring(rank_t n, unsigned base = 0) {
  topology t{type_ring, "ring", std::vector<station>(n)};
  for (rank_t r = 0; r < n; ++r) {
    station& s = t.stations[r];
    // 0 is the head.
    s.role = r == 0 ? 0 : 1;
    if (n == 1) {
      s.rows = {{host_bit, host_bit}};
      continue;
    }
    s.wires = {{base, (r + 1) % n, base + 1}, {base + 1, (r + n - 1) % n, base}};
    const std::uint32_t next = base, previous = base + 1;
    // The last rank's successor began the release.
    const bool is_last = r == n - 1;
    if (r == 0)
      s.rows = {{host_bit, arrive_bit(next)}, {arrive_bit(previous), host_bit | release_bit(next)}};
    else
      s.rows = {{host_bit | arrive_bit(previous), arrive_bit(next)},
                {release_bit(previous), host_bit | (is_last ? 0 : release_bit(next))}};
  }
  return t;
}

// Ports base and base + 1 lead to the children, base + 2 to the parent.
inline topology binary_tree(rank_t n, unsigned base = 0) {
  topology t{type_tree, "tree", std::vector<station>(n)};
  const schedule::tree shape(n, 2);
  for (rank_t r = 0; r < n; ++r) {
    station& s = t.stations[r];
    s.role = r == 0 ? 0 : shape.children(r) != 0 ? 1 : 2;
    for (rank_t c = 0; c < shape.children(r); ++c) s.wires.push_back({base + c, shape.child(r, c)});
    if (r != 0) s.wires.push_back({base + 2, shape.parent(r)});
  }
  fill(t, schedule::compile(shape, shape), [](rank_t from, rank_t to) { return from < to; });
  return t;
}

// The centre's port base + r - 1 leads to rank r; the other ranks use port base.
inline topology star(rank_t n, unsigned base = 0) {
  topology t{type_star, "star", std::vector<station>(n)};
  const schedule::tree shape(n, n > 1 ? n - 1 : 1);
  for (rank_t r = 0; r < n; ++r) {
    t.stations[r].role = r == 0 ? 0 : 1;
    if (r != 0) t.stations[r].wires = {{base, 0}};
    if (r != 0) t.stations[0].wires.push_back({base + r - 1, r});
  }
  fill(t, schedule::compile(shape, shape), [](rank_t from, rank_t to) { return from < to; });
  return t;
}

// Port base + k leads to the partner of round k. The port after the rounds leads to a rank beyond
// the power of two, if there is one.
inline topology butterfly(rank_t n, unsigned base = 0) {
  topology t{type_butterfly, "butterfly", std::vector<station>(n)};
  const schedule::hypercube shape(n);
  for (rank_t r = 0; r < n; ++r) {
    station& s = t.stations[r];
    if (shape.is_folded(r)) {
      s.wires = {{base, shape.corner_of(r)}};
      continue;
    }
    for (rank_t k = 0; k < shape.rounds(); ++k) s.wires.push_back({base + k, shape.partner(k, r)});
    if (shape.has_folded(r)) s.wires.push_back({base + shape.rounds(), shape.folded_of(r)});
  }
  fill(t, schedule::compile(shape), [&](rank_t, rank_t to) { return shape.is_folded(to); });
  return t;
}

inline topology make_topology(unsigned type, rank_t n, unsigned base = 0) {
  switch (type) {
    case type_ring: return ring(n, base);
    case type_tree: return binary_tree(n, base);
    case type_star: return star(n, base);
    case type_butterfly: return butterfly(n, base);
    default: throw std::invalid_argument("no topology has type " + std::to_string(type));
  }
}

}  // namespace tutti::rtl
