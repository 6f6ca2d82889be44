// SPDX-License-Identifier: Apache-2.0
// An unrooted binary tree: tips have one neighbour, inner nodes three.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti::phylo {

using node_t = std::uint32_t;
using edge_t = std::uint32_t;
inline constexpr std::uint32_t none = UINT32_MAX;

// Nodes 0 to tips()-1 are the tips, in the order of `names`. The tips()-2 inner nodes follow.
struct tree {
  struct edge {
    std::array<node_t, 2> ends;
    // Expected substitutions per site.
    double length;
  };

  std::vector<std::string> names;
  // 2 * tips() - 3 edges.
  std::vector<edge> edges;
  // The edges of each node; a tip has only the first.
  std::vector<std::array<edge_t, 3>> incident;

  explicit tree(std::vector<std::string> tip_names);

  std::size_t tips() const noexcept { return names.size(); }
  std::size_t inner_nodes() const noexcept { return names.size() - 2; }
  std::size_t nodes() const noexcept { return incident.size(); }
  bool is_tip(node_t node) const noexcept { return node < names.size(); }
  node_t far_end(edge_t e, node_t node) const noexcept {
    return edges[e].ends[0] == node ? edges[e].ends[1] : edges[e].ends[0];
  }
  // The edges of an inner node except `e`.
  std::array<edge_t, 2> other_edges(node_t node, edge_t e) const noexcept {
    const auto& three = incident[node];
    if (three[0] == e) return {three[1], three[2]};
    if (three[1] == e) return {three[0], three[2]};
    return {three[0], three[1]};
  }

  edge_t connect(node_t a, node_t b, double length);
  std::vector<double> lengths() const;
};

// All edges, each next to one before it: a walk that turns as few partial likelihoods as possible.
std::vector<edge_t> edges_in_preorder(const tree& t);

}  // namespace tutti::phylo
