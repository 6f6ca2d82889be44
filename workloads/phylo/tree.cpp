// SPDX-License-Identifier: Apache-2.0
// Constructs and walks trees.
#include "workloads/phylo/tree.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace tutti::phylo {

tree::tree(std::vector<std::string> tip_names) : names(std::move(tip_names)) {
  if (names.size() < 3) throw std::invalid_argument("a tree needs at least three tips");
  incident.assign(2 * names.size() - 2, {none, none, none});
  edges.reserve(2 * names.size() - 3);
}

edge_t tree::connect(node_t a, node_t b, double length) {
  const auto e = static_cast<edge_t>(edges.size());
  for (const node_t node : {a, b}) {
    auto& slots = incident.at(node);
    const auto most = is_tip(node) ? slots.begin() + 1 : slots.end();
    const auto slot = std::find(slots.begin(), most, none);
    if (slot == most) throw std::logic_error("a node of a binary tree has no room for an edge");
    *slot = e;
  }
  edges.push_back({{a, b}, length});
  return e;
}

std::vector<double> tree::lengths() const {
  std::vector<double> all(edges.size());
  std::transform(edges.begin(), edges.end(), all.begin(), [](const edge& e) { return e.length; });
  return all;
}

std::vector<edge_t> edges_in_preorder(const tree& t) {
  std::vector<edge_t> order;
  order.reserve(t.edges.size());
  const edge_t first = t.incident[0][0];
  std::vector<std::pair<edge_t, node_t>> stack{{first, t.far_end(first, 0)}};
  while (!stack.empty()) {
    const auto [e, below] = stack.back();
    stack.pop_back();
    order.push_back(e);
    if (t.is_tip(below)) continue;
    for (const edge_t next : t.other_edges(below, e)) {
      stack.emplace_back(next, t.far_end(next, below));
    }
  }
  return order;
}

}  // namespace tutti::phylo
