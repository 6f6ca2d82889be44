// SPDX-License-Identifier: Apache-2.0
// Determines which partial likelihoods are out of date, and computes them in regions.
#include "workloads/phylo/likelihood.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "tutti/reduce/operations.hpp"
#include "workloads/phylo/part.hpp"
#include "workloads/phylo/subnormals.hpp"

namespace tutti::phylo {
namespace {

constexpr std::size_t least_cells = 64;
// f and its two derivatives.
constexpr std::size_t orders = 3;

double bounded(double length) { return std::clamp(length, least_length, most_length); }

// Adds ((0 + 1) + (2 + 3)) + ...: the tree in which the team reduces, continued downwards. `count`
// is a power of two.
template <class Cell>
derivatives tree_sum(std::size_t first, std::size_t count, Cell& cell) {
  if (count == 1) return cell(first);
  const derivatives left = tree_sum(first, count / 2, cell);
  const derivatives right = tree_sum(first + count / 2, count / 2, cell);
  return {left[0] + right[0], left[1] + right[1]};
}

}  // namespace

template <class Step>
void likelihood::region(Step&& step) {
  ++counts_.regions;
  team_.run([&](member& me) {
    const flush_subnormals mode;
    step(parts_[me.rank()].get(), me.rank());
  });
}

likelihood::likelihood(team& workers, tree& t, const pattern_set& patterns, const model& m,
                       likelihood_options options)
    : team_(workers),
      tree_(t),
      patterns_(patterns),
      model_(m),
      loops_(options.loops != nullptr ? *options.loops : choose_kernels("best")),
      separate_(options.separate),
      blocks_(patterns.blocks),
      rates_(m.rates_of_pattern()),
      cells_(std::max(least_cells, std::bit_ceil(std::size_t{workers.size()}))),
      selected_(t.incident[0][0]),
      plan_(t),
      transitions_(t.edges.size() * m.rates().size() * 16),
      coefficients_(m.rates().size() * states * orders),
      frequencies_(16, 0.0),
      table_left_(16),
      table_right_(m.left().begin(), m.left().end()),
      cell_sums_(cells_),
      parts_(workers.size()) {
  if (m.by_site() != !patterns.rate_of_block.empty()) {
    throw std::invalid_argument("model and patterns must both have rates by site, or neither");
  }
  for (const std::uint16_t rate : patterns.rate_of_block) {
    if (rate >= m.rates().size())
      throw std::invalid_argument("a pattern's rate is not in the model");
  }
  if (patterns.states.size() != t.tips()) {
    throw std::invalid_argument("the patterns belong to another tree");
  }
  const vector4& frequency = m.parameters().frequencies;
  for (std::size_t i = 0; i < states; ++i) {
    // Each rate has the same probability, so the probability is multiplied in once, here.
    frequencies_[i * 4 + i] = frequency[i] * m.probability_of_rate();
    for (std::size_t k = 0; k < states; ++k) {
      table_left_[k * 4 + i] = frequency[i] * m.right()[i * 4 + k];
    }
  }
  for (edge_t e = 0; e < t.edges.size(); ++e) keep_length(e, t.edges[e].length);
  region([this](part*, rank_t rank) {
    const std::size_t ranks = parts_.size();
    const std::size_t first = first_block(rank * cells_ / ranks);
    const std::size_t last = first_block((rank + 1) * cells_ / ranks);
    parts_[rank] = std::make_unique<part>(patterns_, model_, tree_.inner_nodes(), first, last);
  });
  counts_ = {};
  select(selected_);
}

likelihood::~likelihood() = default;

void likelihood::keep_length(edge_t e, double length) {
  tree_.edges[e].length = bounded(length);
  const std::size_t size = model_.rates().size() * 16;
  model_.transitions(tree_.edges[e].length, {transitions_.data() + e * size, size});
}

void likelihood::select(edge_t e) {
  selected_ = e;
  table_ready_ = false;
  const std::size_t before = plan_.due().size();
  plan_.select(e);
  counts_.partials += plan_.due().size() - before;
}

void likelihood::set_length(double length) { keep_length(selected_, length); }

void likelihood::set_all_lengths(const std::vector<double>& lengths) {
  if (lengths.size() != tree_.edges.size()) {
    throw std::invalid_argument("set_all_lengths: one length for each branch is needed");
  }
  for (edge_t e = 0; e < lengths.size(); ++e) keep_length(e, lengths[e]);
  plan_.forget();
  select(selected_);
}

factor likelihood::factor_of(const part& p, edge_t e, node_t end) const {
  factor f;
  f.matrices = transitions_.data() + e * model_.rates().size() * 16;
  if (tree_.is_tip(end)) {
    f.tip = p.tips.get() + end * p.blocks * lanes;
  } else {
    f.partials = p.partials.get() + (end - tree_.tips()) * p.partials_of_node;
  }
  return f;
}

void likelihood::compute_updates(part& p) const {
  for (const update_plan::update& due : plan_.due()) {
    const auto [left, right] = tree_.other_edges(due.node, due.towards);
    const node_t a = tree_.far_end(left, due.node), b = tree_.far_end(right, due.node);
    const std::size_t tips = tree_.tips();
    scaling s;
    s.left = tree_.is_tip(a) ? nullptr : p.scales_of(a - tips);
    s.right = tree_.is_tip(b) ? nullptr : p.scales_of(b - tips);
    s.out = p.scales_of(due.node - tips);
    const product job{
        factor_of(p, left, a), factor_of(p, right, b), rates_, p.rates(), 0, p.blocks};
    loops_.multiply(job, s, p.partials_of(due.node - tips));
  }
}

// The product of the two ends of the selected branch.
product likelihood::product_of(const part& p) const {
  const auto& [a, b] = tree_.edges[selected_].ends;
  return {factor_of(p, selected_, a), factor_of(p, selected_, b), rates_, p.rates(), 0, p.blocks};
}

// Computes in the space of the eigenvectors, where a length only changes coefficients.
void likelihood::compute_table(part& p) const {
  product job = product_of(p);
  job.left.matrices = table_left_.data();
  job.right.matrices = table_right_.data();
  job.left.matrix_stride = job.right.matrix_stride = 0;
  loops_.multiply(job, {}, p.table.get());
}

void likelihood::compute_pattern_likelihoods(part& p) const {
  product job = product_of(p);
  job.left.matrices = frequencies_.data();
  job.left.matrix_stride = 0;
  double* sums = p.pattern_sums.get();
  loops_.sum_of_products(job, sums);
  constexpr double log_of_scale = 256 * std::numbers::ln2;
  for (std::size_t slot = 0; slot < p.blocks * lanes; ++slot) {
    std::uint32_t scaled = 0;
    for (const node_t end : tree_.edges[selected_].ends) {
      if (!tree_.is_tip(end)) scaled += p.scales_of(end - tree_.tips())[slot];
    }
    sums[slot] = std::log(sums[slot]) - scaled * log_of_scale;
  }
}

void likelihood::prepare_coefficients(double length) {
  double* c = coefficients_.data();
  for (const double rate : model_.rates()) {
    for (const double eigenvalue : model_.eigenvalues()) {
      const double by = eigenvalue * rate;
      const double f = std::exp(by * length) * model_.probability_of_rate();
      *c++ = f;
      *c++ = f * by;
      *c++ = f * by * by;
    }
  }
}

void likelihood::run_due_updates() {
  if (plan_.due().empty()) return;
  region([this](part* p, rank_t) { compute_updates(*p); });
  plan_.done();
}

// Calls prepare(part), then adds up cell(part, first block, last block). Vectors that are out of
// date are computed first, in the same region.
template <class Prepare, class Cell>
derivatives likelihood::sum_over_cells(Prepare&& prepare, Cell&& cell) {
  if (separate_) run_due_updates();
  const std::size_t ranks = parts_.size();
  const auto begin_rank = [&](rank_t rank) -> part& {
    part& p = *parts_[rank];
    compute_updates(p);
    prepare(p);
    return p;
  };
  const auto sum_of = [&](part& p, std::size_t c) {
    return cell(p, first_block(c) - p.first, first_block(c + 1) - p.first);
  };
  ++counts_.regions;
  ++counts_.reductions;
  derivatives sum;
  if (std::has_single_bit(ranks)) {
    sum = team_.run_reduce(tutti::plus{}, [&](member& me) {
      const flush_subnormals mode;
      part& p = begin_rank(me.rank());
      const auto mine = [&](std::size_t c) { return sum_of(p, c); };
      return tree_sum(me.rank() * cells_ / ranks, cells_ / ranks, mine);
    });
  } else {
    // The team's tree of additions would not be a part of ours, so the caller adds.
    team_.run([&](member& me) {
      const flush_subnormals mode;
      part& p = begin_rank(me.rank());
      const std::size_t end = (me.rank() + 1) * cells_ / ranks;
      for (std::size_t c = me.rank() * cells_ / ranks; c < end; ++c) cell_sums_[c] = sum_of(p, c);
    });
    const auto computed = [&](std::size_t c) { return cell_sums_[c]; };
    sum = tree_sum(0, cells_, computed);
  }
  plan_.done();
  return sum;
}

derivatives likelihood::differentiate(double length) {
  prepare_coefficients(bounded(length));
  const bool table_due = !table_ready_;
  if (separate_ && table_due) {
    run_due_updates();
    region([this](part* p, rank_t) { compute_table(*p); });
  }
  table_ready_ = true;
  return sum_over_cells(
      [&](part& p) {
        if (table_due && !separate_) compute_table(p);
      },
      [&](part& p, std::size_t first, std::size_t last) {
        return loops_.differentiate(p.table.get(), coefficients_.data(), p.weights.get(), rates_,
                                    p.rates(), first, last);
      });
}

double likelihood::log_likelihood() {
  const double sum =
      sum_over_cells([&](part& p) { compute_pattern_likelihoods(p); },
                     [&](part& p, std::size_t first, std::size_t last) {
                       const double *logarithm = p.pattern_sums.get(), *weight = p.weights.get();
                       double of_cell = 0;
                       for (std::size_t slot = first * lanes; slot < last * lanes; ++slot) {
                         of_cell += weight[slot] * logarithm[slot];
                       }
                       return derivatives{of_cell, 0.0};
                     })[0];
  if (!std::isfinite(sum)) {
    throw std::runtime_error(
        fmt::format("the log-likelihood is {}: some column is impossible under this model", sum));
  }
  return sum;
}

std::vector<double> likelihood::pattern_log_likelihoods() {
  log_likelihood();
  std::vector<double> all;
  all.reserve(blocks_ * lanes);
  for (const auto& p : parts_) {
    all.insert(all.end(), p->pattern_sums.get(), p->pattern_sums.get() + p->blocks * lanes);
  }
  return all;
}

}  // namespace tutti::phylo
