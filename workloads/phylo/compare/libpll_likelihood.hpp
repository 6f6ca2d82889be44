// SPDX-License-Identifier: Apache-2.0
// The functions of phylo::likelihood, computed by libpll. The tests compare with it, and compare.py
// times it.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/phylo/compare/runtime.hpp"
#include "workloads/phylo/likelihood.hpp"
#include "workloads/phylo/patterns.hpp"
#include "workloads/phylo/plan.hpp"

struct pll_partition;

namespace tutti::phylo::compare {

// Each rank has a libpll partition with a part of the patterns. Models with rates by site are not
// supported.
class libpll_likelihood {
 public:
  libpll_likelihood(runtime& workers, tree& t, const pattern_set& patterns, const model& m);
  ~libpll_likelihood();
  libpll_likelihood(const libpll_likelihood&) = delete;
  libpll_likelihood& operator=(const libpll_likelihood&) = delete;

  const tree& current_tree() const noexcept { return tree_; }
  std::uint64_t regions() const noexcept { return regions_; }

  void select(edge_t e);
  derivatives differentiate(double length);
  void set_length(double length);
  void set_all_lengths(const std::vector<double>& lengths);
  double log_likelihood();

 private:
  struct part {
    pll_partition* partition = nullptr;
    double* table = nullptr;
  };
  struct end {
    unsigned clv;
    int scaler;
  };

  void make_part(part& p, const pattern_set& patterns, const model& m, std::size_t first,
                 std::size_t last);
  void keep_length(edge_t e, double length);
  end end_of(node_t node) const noexcept;
  void update_partials(part& p) const;
  template <class Step>
  derivatives region(Step&& step);

  runtime& runtime_;
  tree& tree_;
  update_plan plan_;
  edge_t selected_;
  bool table_ready_ = false;
  std::uint64_t regions_ = 0;
  // All zero: all rates have the same set of parameters.
  std::vector<unsigned> zeros_;
  std::vector<part> parts_;
};

}  // namespace tutti::phylo::compare
