// SPDX-License-Identifier: Apache-2.0
// The likelihood of a tree, computed by a team: the caller directs, and the ranks share the
// patterns.
//
// Every inner node keeps one vector of partial likelihoods, for the tree as seen from the branch
// towards the selected branch. Selecting another branch recomputes the vectors of the nodes in
// between; changing the length of the selected branch recomputes none. Therefore only the selected
// branch, or all branches at once, can be changed.
//
// Every call that computes opens one region of the team (it needs no barrier inside). With
// options.separate it opens one region per step, as programs do that cannot fuse steps. Sums over
// patterns are added in the order of a fixed tree of cells, so the bits are the same for any number
// of ranks up to 64.
// Thread-safety: one thread at a time uses an object.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tutti/team/team.hpp"
#include "workloads/phylo/kernels.hpp"
#include "workloads/phylo/model.hpp"
#include "workloads/phylo/patterns.hpp"
#include "workloads/phylo/plan.hpp"
#include "workloads/phylo/tree.hpp"

namespace tutti::phylo {

// Branch lengths are kept within these limits, as in RAxML: below them the data say nothing; above
// them the ends are independent.
inline constexpr double least_length = 1e-6;
inline constexpr double most_length = 34;

struct likelihood_options {
  // Null: the best.
  const kernels* loops = nullptr;
  // Whether each step has a region: partial likelihoods, table, derivatives.
  bool separate = false;
};

struct work_counts {
  // Regions of the team.
  std::uint64_t regions = 0;
  // Reductions of two doubles; each ends a region.
  std::uint64_t reductions = 0;
  // Vectors of partial likelihoods computed.
  std::uint64_t partials = 0;
};

class likelihood {
 public:
  // The object keeps references to all arguments, which must outlive it. Lengths of `t` outside the
  // limits are moved to the nearest limit. Throws std::invalid_argument if tree, patterns and model
  // do not fit together.
  likelihood(team& workers, tree& t, const pattern_set& patterns, const model& m,
             likelihood_options options = {});
  ~likelihood();
  likelihood(const likelihood&) = delete;
  likelihood& operator=(const likelihood&) = delete;

  const tree& current_tree() const noexcept { return tree_; }
  const work_counts& counts() const noexcept { return counts_; }

  // Selects the branch that the next calls refer to.
  void select(edge_t e);
  // The derivatives of the log-likelihood by the selected branch's length, at `length`.
  derivatives differentiate(double length);
  void set_length(double length);

  void set_all_lengths(const std::vector<double>& lengths);

  // Computed at the selected branch; the choice of the branch matters only in the last digits.
  double log_likelihood();
  // For each slot of the pattern set: the natural logarithm of the likelihood of one column.
  std::vector<double> pattern_log_likelihoods();

 private:
  struct part;
  void keep_length(edge_t e, double length);
  factor factor_of(const part& p, edge_t e, node_t end) const;
  product product_of(const part& p) const;
  void compute_updates(part& p) const;
  void compute_table(part& p) const;
  void compute_pattern_likelihoods(part& p) const;
  void prepare_coefficients(double length);
  template <class Step>
  void region(Step&& step);
  void run_due_updates();
  template <class Prepare, class Cell>
  derivatives sum_over_cells(Prepare&& prepare, Cell&& cell);
  std::size_t first_block(std::size_t cell) const noexcept { return cell * blocks_ / cells_; }

  team& team_;
  tree& tree_;
  const pattern_set& patterns_;
  const model& model_;
  const kernels& loops_;
  const bool separate_;
  const std::size_t blocks_, rates_, cells_;
  work_counts counts_;

  edge_t selected_;
  bool table_ready_ = false;
  update_plan plan_;
  // [edge][rate][4][4].
  std::vector<double> transitions_;
  // [rate][eigenvalue][derivative].
  std::vector<double> coefficients_;
  // Matrices.
  std::vector<double> frequencies_, table_left_, table_right_;
  std::vector<derivatives> cell_sums_;
  // [rank].
  std::vector<std::unique_ptr<part>> parts_;
};

}  // namespace tutti::phylo
