// SPDX-License-Identifier: Apache-2.0
// Determines which partial likelihoods must be computed before a branch can be.
//
// A node keeps one vector, for the tree as seen from one of its branches. The plan turns all
// vectors that do not yet point towards the selected branch. Then no vector depends on the selected
// branch's length, so that it may change.
#pragma once

#include <vector>

#include "workloads/phylo/tree.hpp"

namespace tutti::phylo {

class update_plan {
 public:
  struct update {
    node_t node;
    edge_t towards;
  };

  explicit update_plan(const tree& t);

  // Adds the updates that this branch needs, those far from it first. It may be called again before
  // the updates are made: the new ones come later and find what they need.
  void select(edge_t e);
  // Makes every vector invalid and clears the updates.
  void forget();

  const std::vector<update>& due() const noexcept { return due_; }
  void done() noexcept { due_.clear(); }

 private:
  const tree& tree_;
  // [node]; none: never computed.
  std::vector<edge_t> towards_;
  std::vector<update> due_, open_;
};

}  // namespace tutti::phylo
