// SPDX-License-Identifier: Apache-2.0
// Calls libpll. Its Newick parser is not used, because it is not safe to call from several threads.
#include "workloads/phylo/compare/libpll_likelihood.hpp"

#include <libpll/pll.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace tutti::phylo::compare {
namespace {

// The fastest architecture that this processor has; version 0.3.2 has none wider.
unsigned best_architecture() {
  pll_hardware_probe();
  if (pll_hardware.avx2_present) return PLL_ATTRIB_ARCH_AVX2;
  if (pll_hardware.avx_present) return PLL_ATTRIB_ARCH_AVX;
  if (pll_hardware.sse3_present) return PLL_ATTRIB_ARCH_SSE;
  return PLL_ATTRIB_ARCH_CPU;
}

}  // namespace

libpll_likelihood::libpll_likelihood(runtime& workers, tree& t, const pattern_set& patterns,
                                     const model& m)
    : runtime_(workers),
      tree_(t),
      plan_(t),
      selected_(t.incident[0][0]),
      zeros_(m.rates().size(), 0),
      parts_(workers.size()) {
  if (m.by_site()) throw std::invalid_argument("libpll has no rates by site");
  region([&](part& p, unsigned rank) {
    const std::size_t first = rank * patterns.patterns / parts_.size();
    const std::size_t last = (rank + 1) * patterns.patterns / parts_.size();
    make_part(p, patterns, m, first, last);
    return derivatives{};
  });
  regions_ = 0;
  set_all_lengths(t.lengths());
}

libpll_likelihood::~libpll_likelihood() {
  for (part& p : parts_) {
    if (p.table != nullptr) pll_aligned_free(p.table);
    if (p.partition != nullptr) pll_partition_destroy(p.partition);
  }
}

// Without rates by site, slot and pattern are the same number.
void libpll_likelihood::make_part(part& p, const pattern_set& patterns, const model& m,
                                  std::size_t first, std::size_t last) {
  const auto tips = static_cast<unsigned>(tree_.tips());
  const auto inner = static_cast<unsigned>(tree_.inner_nodes());
  const auto sites = static_cast<unsigned>(last - first);
  const auto rates = static_cast<unsigned>(m.rates().size());
  p.partition =
      pll_partition_create(tips, inner, 4, sites, 1, static_cast<unsigned>(tree_.edges.size()),
                           rates, inner, best_architecture() | PLL_ATTRIB_PATTERN_TIP);
  if (p.partition == nullptr) throw std::runtime_error(std::string("libpll: ") + pll_errmsg);
  pll_set_frequencies(p.partition, 0, m.parameters().frequencies.data());
  pll_set_subst_params(p.partition, 0, m.parameters().exchange.data());
  pll_set_category_rates(p.partition, m.rates().data());
  std::vector<unsigned> weights;
  for (std::size_t i = first; i < last; ++i)
    weights.push_back(static_cast<unsigned>(patterns.weights[i]));
  pll_set_pattern_weights(p.partition, weights.data());
  for (unsigned tip = 0; tip < tips; ++tip) {
    std::string letters;
    for (std::size_t i = first; i < last; ++i) letters += letter_of(patterns.states[tip][i]);
    if (pll_set_tip_states(p.partition, tip, pll_map_nt, letters.c_str()) != PLL_SUCCESS) {
      throw std::runtime_error(std::string("libpll: ") + pll_errmsg);
    }
  }
  const std::size_t bytes =
      std::size_t{sites} * rates * p.partition->states_padded * sizeof(double);
  p.table = static_cast<double*>(pll_aligned_alloc(bytes, p.partition->alignment));
  if (p.table == nullptr) throw std::bad_alloc();
}

template <class Step>
derivatives libpll_likelihood::region(Step&& step) {
  ++regions_;
  return runtime_.run([&](unsigned rank) { return step(parts_[rank], rank); });
}

libpll_likelihood::end libpll_likelihood::end_of(node_t node) const noexcept {
  const int inner = static_cast<int>(node) - static_cast<int>(tree_.tips());
  return {node, inner < 0 ? PLL_SCALE_BUFFER_NONE : inner};
}

// Computing matrices is cheap compared with a region, so the caller computes them for all parts.
void libpll_likelihood::keep_length(edge_t e, double length) {
  double& kept = tree_.edges[e].length = std::clamp(length, least_length, most_length);
  for (part& p : parts_) {
    pll_update_prob_matrices(p.partition, zeros_.data(), &e, &kept, 1);
  }
}

void libpll_likelihood::select(edge_t e) {
  selected_ = e;
  table_ready_ = false;
  plan_.select(e);
}

void libpll_likelihood::set_length(double length) { keep_length(selected_, length); }

void libpll_likelihood::set_all_lengths(const std::vector<double>& lengths) {
  for (edge_t e = 0; e < lengths.size(); ++e) keep_length(e, lengths[e]);
  plan_.forget();
  select(selected_);
}

void libpll_likelihood::update_partials(part& p) const {
  for (const update_plan::update& due : plan_.due()) {
    const auto [left, right] = tree_.other_edges(due.node, due.towards);
    const end to = end_of(due.node), a = end_of(tree_.far_end(left, due.node)),
              b = end_of(tree_.far_end(right, due.node));
    const pll_operation_t operation{to.clv,   to.scaler, a.clv, left,
                                    a.scaler, b.clv,     right, b.scaler};
    pll_update_partials(p.partition, &operation, 1);
  }
}

derivatives libpll_likelihood::differentiate(double length) {
  const bool table_due = !table_ready_;
  table_ready_ = true;
  const auto& [x, y] = tree_.edges[selected_].ends;
  // A tip must be the child.
  const end parent = end_of(std::max(x, y)), child = end_of(std::min(x, y));
  const derivatives sum = region([&](part& p, unsigned) {
    update_partials(p);
    if (table_due) {
      pll_update_sumtable(p.partition, parent.clv, child.clv, parent.scaler, child.scaler,
                          zeros_.data(), p.table);
    }
    derivatives d{};
    pll_compute_likelihood_derivatives(p.partition, parent.scaler, child.scaler, length,
                                       zeros_.data(), p.table, &d[0], &d[1]);
    return d;
  });
  plan_.done();
  // libpll returns the derivatives of the function to be minimised.
  return {-sum[0], -sum[1]};
}

double libpll_likelihood::log_likelihood() {
  const auto& [x, y] = tree_.edges[selected_].ends;
  const end parent = end_of(std::max(x, y)), child = end_of(std::min(x, y));
  const double sum = region([&](part& p, unsigned) {
    update_partials(p);
    return derivatives{
        pll_compute_edge_loglikelihood(p.partition, parent.clv, parent.scaler, child.clv,
                                       child.scaler, selected_, zeros_.data(), nullptr),
        0.0};
  })[0];
  plan_.done();
  return sum;
}

}  // namespace tutti::phylo::compare
