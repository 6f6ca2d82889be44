// SPDX-License-Identifier: Apache-2.0
// Walks away from the selected branch, and stops at nodes whose vectors already point to it.
#include "workloads/phylo/plan.hpp"

#include <algorithm>

namespace tutti::phylo {

update_plan::update_plan(const tree& t) : tree_(t), towards_(t.nodes(), none) {}

void update_plan::select(edge_t e) {
  const auto before = static_cast<std::ptrdiff_t>(due_.size());
  for (const node_t end : tree_.edges[e].ends) open_.push_back({end, e});
  while (!open_.empty()) {
    const update next = open_.back();
    open_.pop_back();
    if (tree_.is_tip(next.node) || towards_[next.node] == next.towards) continue;
    towards_[next.node] = next.towards;
    due_.push_back(next);
    for (const edge_t other : tree_.other_edges(next.node, next.towards)) {
      open_.push_back({tree_.far_end(other, next.node), other});
    }
  }
  std::reverse(due_.begin() + before, due_.end());
}

void update_plan::forget() {
  std::fill(towards_.begin(), towards_.end(), none);
  due_.clear();
}

}  // namespace tutti::phylo
