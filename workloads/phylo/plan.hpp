// SPDX-License-Identifier: Apache-2.0
// Which partial likelihoods must be computed before a branch can be.
//
// A node keeps one vector of them, for the tree as seen from one of its branches. The plan turns towards the selected
// branch all that does not yet point there. Then no vector depends on the selected branch's length, so that it may change.
#pragma once

#include <vector>

#include "phylo/tree.hpp"

namespace tutti::phylo {

class update_plan {
 public:
  struct update {
    node_t node;
    edge_t towards;
  };

  explicit update_plan(const tree& t);

  // Adds what is due for this branch, those far from it first. It may be called again before the updates are done: the
  // new ones come after, and find what they need.
  void select(edge_t e);
  // No vector is valid any more, nothing is due.
  void forget();

  const std::vector<update>& due() const noexcept { return due_; }
  void done() noexcept { due_.clear(); }

 private:
  const tree& tree_;
  std::vector<edge_t> towards_;  // [node]; none: never computed
  std::vector<update> due_, open_;
};

}  // namespace tutti::phylo
