// SPDX-License-Identifier: Apache-2.0
// Networks of nodes and cables for tests of the discovery: shapes, with nodes and ports in an order
// that a seed draws.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "network/discovery.hpp"

namespace tutti::network::test {

struct cable_end {
  unsigned node = 0, port = 0;
  friend bool operator==(const cable_end&, const cable_end&) = default;
};
struct wiring {
  unsigned nodes = 0, ports = 8;
  std::vector<std::pair<cable_end, cable_end>> cables;

  // Where a cable leads, and whether there is one.
  bool other_end(cable_end from, cable_end& to) const {
    for (const auto& [a, b] : cables) {
      if (a == from || b == from) {
        to = a == from ? b : a;
        return true;
      }
    }
    return false;
  }
};

// Pairs of vertices; the seed decides which node each vertex is, and which ports its cables take.
inline wiring wired(const std::string& shape, unsigned n, std::uint64_t seed) {
  std::vector<std::pair<unsigned, unsigned>> edges;
  if (shape == "ring")
    for (unsigned v = 0; v < n; ++v) edges.emplace_back(v, (v + 1) % n);
  if (shape == "star")
    for (unsigned v = 1; v < n; ++v) edges.emplace_back(0, v);
  if (shape == "tree")
    for (unsigned v = 1; v < n; ++v) edges.emplace_back((v - 1) / 2, v);
  if (shape == "line")
    for (unsigned v = 1; v < n; ++v) edges.emplace_back(v - 1, v);
  if (shape == "butterfly")
    for (unsigned v = 0; v < n; ++v)
      for (unsigned bit = 1; bit < n; bit *= 2)
        if ((v & bit) == 0) edges.emplace_back(v, v ^ bit);
  if (shape == "graph") {
    for (unsigned v = 1; v < n; ++v) edges.emplace_back(v - 1, v);
    edges.emplace_back(0, n / 2);
    edges.emplace_back(1, n - 1);
  }
  std::mt19937_64 random(seed);
  wiring w;
  w.nodes = n;
  std::vector<unsigned> name(n);
  for (unsigned v = 0; v < n; ++v) name[v] = v;
  std::ranges::shuffle(name, random);
  std::vector<std::vector<unsigned>> free(n);
  for (auto& ports : free) {
    for (unsigned p = 0; p < w.ports; ++p) ports.push_back(p);
    std::ranges::shuffle(ports, random);
  }
  std::ranges::shuffle(edges, random);
  for (const auto& [a, b] : edges) {
    w.cables.push_back({{name[a], free[name[a]].back()}, {name[b], free[name[b]].back()}});
    free[name[a]].pop_back();
    free[name[b]].pop_back();
  }
  return w;
}

}  // namespace tutti::network::test
