// SPDX-License-Identifier: Apache-2.0
// The likelihood of a tree, computed by a team: the caller directs, the ranks share the patterns.
//
// Every inner node keeps one vector of partial likelihoods, which points towards the selected branch. To select another
// branch turns the nodes between round; a change of the selected branch's length touches none. So only the selected
// branch can be changed, or all at once.
//
// Every call that computes opens one region of the team (as it needs no barrier inside), or with options.separate one a
// step, as programs do that cannot fuse. Sums over patterns are added in the order of a fixed tree of cells: the same
// bits for any number of ranks up to 64.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "phylo/kernels.hpp"
#include "phylo/model.hpp"
#include "phylo/patterns.hpp"
#include "phylo/plan.hpp"
#include "phylo/tree.hpp"
#include "tutti/team/team.hpp"

namespace tutti::phylo {

// Lengths of branches are kept within these, as RAxML does: below, data say nothing; above, all is forgotten.
inline constexpr double least_length = 1e-6;
inline constexpr double most_length = 34;

struct likelihood_options {
  const kernels* loops = nullptr;  // null: the best
  bool separate = false;  // a region for each step: partial likelihoods, table, derivatives
};

struct work_counts {
  std::uint64_t regions = 0;     // of the team
  std::uint64_t reductions = 0;  // of two doubles; each ends a region
  std::uint64_t partials = 0;    // vectors of partial likelihoods computed
};

class likelihood {
 public:
  // All are referred to, and must live as long. Lengths of `t` outside the bounds are brought inside.
  likelihood(team& workers, tree& t, const pattern_set& patterns, const model& m,
             likelihood_options options = {});
  ~likelihood();
  likelihood(const likelihood&) = delete;
  likelihood& operator=(const likelihood&) = delete;

  const tree& current_tree() const noexcept { return tree_; }
  const work_counts& counts() const noexcept { return counts_; }

  // The branch that the next calls are about.
  void select(edge_t e);
  // Of the log-likelihood by the selected branch's length, if it were `length`.
  derivatives differentiate(double length);
  void set_length(double length);

  void set_all_lengths(const std::vector<double>& lengths);

  // At the selected branch; the choice matters only in the last digits.
  double log_likelihood();
  // For each slot of the pattern set: the natural logarithm, of one column.
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
  std::vector<double> transitions_;                             // [edge][rate][4][4]
  std::vector<double> coefficients_;                            // [rate][eigenvalue][derivative]
  std::vector<double> frequencies_, table_left_, table_right_;  // matrices
  std::vector<derivatives> cell_sums_;
  std::vector<std::unique_ptr<part>> parts_;  // [rank]
};

}  // namespace tutti::phylo
