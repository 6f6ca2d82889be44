// SPDX-License-Identifier: Apache-2.0
// Finds the lengths of all branches that maximise the likelihood of a tree whose shape is fixed.
#pragma once

#include <functional>

#include "workloads/phylo/likelihood.hpp"
#include "workloads/phylo/newton.hpp"

namespace tutti::phylo {

struct optimize_options {
  // The optimisation ends when a cycle improves the log-likelihood by less than this.
  double epsilon = 1e-3;
  unsigned most_cycles = 100;
  newton_options newton{.least = least_length, .most = most_length};
  // Called after each cycle.
  std::function<void(unsigned cycle, double log_likelihood)> progress;
};

struct optimize_result {
  double log_likelihood = 0;
  unsigned cycles = 0;
  // False: most_cycles were not enough.
  bool converged = false;
};

// Optimises one branch after another by Newton-Raphson, in cycles over the tree. The result is
// never worse than the start. It works with tutti's likelihood and with others that have the same
// functions, which are then compared on the same procedure.
template <class Likelihood>
optimize_result optimize_lengths(Likelihood& l, const optimize_options& options = {}) {
  const tree& t = l.current_tree();
  const std::vector<edge_t> order = edges_in_preorder(t);
  optimize_result result;
  l.select(order.front());
  result.log_likelihood = l.log_likelihood();
  while (result.cycles < options.most_cycles) {
    const std::vector<double> before = t.lengths();
    for (const edge_t e : order) {
      l.select(e);
      l.set_length(maximize([&](double length) { return l.differentiate(length); },
                            t.edges[e].length, options.newton));
    }
    l.select(order.front());
    const double improved = l.log_likelihood();
    ++result.cycles;
    const double gain = improved - result.log_likelihood;
    if (gain < 0) {
      // Newton's last steps are not verified, so a cycle may lose as much as rounding or the
      // tolerance leaves.
      l.set_all_lengths(before);
    } else {
      result.log_likelihood = improved;
    }
    if (options.progress) options.progress(result.cycles, result.log_likelihood);
    if (gain < options.epsilon) {
      result.converged = true;
      break;
    }
  }
  return result;
}

}  // namespace tutti::phylo
