// SPDX-License-Identifier: Apache-2.0
// Simulates evolution.
#include "workloads/phylo/simulate.hpp"

#include <fmt/format.h>

#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <utility>

namespace tutti::phylo {
namespace {

// The standard fixes the engine's numbers, but not those of its distributions.
class dice {
 public:
  explicit dice(std::uint64_t seed) : engine_(seed) {}
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(uniform() * double(n)); }
  double exponential(double mean) { return -mean * std::log1p(-uniform()); }
  std::size_t choose(const double* probabilities) {
    double rest = uniform();
    for (std::size_t i = 0; i + 1 < states; ++i) {
      rest -= probabilities[i];
      if (rest < 0) return i;
    }
    return states - 1;
  }

 private:
  std::mt19937_64 engine_;
};

// The edges in the order of evolution, each with the node where it begins.
struct step {
  edge_t e;
  node_t from, to;
};

std::vector<step> steps_from_first_inner_node(const tree& t) {
  std::vector<step> steps;
  const auto root = static_cast<node_t>(t.tips());
  std::vector<step> open;
  for (const edge_t e : t.incident[root]) open.push_back({e, root, t.far_end(e, root)});
  while (!open.empty()) {
    const step s = open.back();
    open.pop_back();
    steps.push_back(s);
    if (t.is_tip(s.to)) continue;
    for (const edge_t e : t.other_edges(s.to, s.e)) open.push_back({e, s.to, t.far_end(e, s.to)});
  }
  return steps;
}

}  // namespace

tree random_tree(std::size_t taxa, double mean_length, std::uint64_t seed) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= taxa; ++i) names.push_back(fmt::format("t{}", i));
  dice random(seed);
  std::vector<std::array<node_t, 2>> edges;
  auto inner = static_cast<node_t>(taxa);
  for (node_t tip = 0; tip < 3 && tip < taxa; ++tip) edges.push_back({tip, inner});
  for (node_t tip = 3; tip < taxa; ++tip) {
    ++inner;
    auto& split = edges[random.below(edges.size())];
    const node_t far = std::exchange(split[1], inner);
    edges.push_back({inner, far});
    edges.push_back({tip, inner});
  }
  tree t(std::move(names));
  for (const auto& [a, b] : edges) t.connect(a, b, random.exponential(mean_length));
  return t;
}

alignment simulate(const tree& t, const model& m, const simulate_options& options) {
  const std::size_t rates = m.rates().size();
  std::vector<double> transitions(t.edges.size() * rates * 16);
  for (edge_t e = 0; e < t.edges.size(); ++e) {
    m.transitions(t.edges[e].length, {transitions.data() + e * rates * 16, rates * 16});
  }
  const std::vector<step> steps = steps_from_first_inner_node(t);
  dice random(options.seed);
  alignment a;
  a.names = t.names;
  a.rows.resize(t.tips());
  std::unordered_set<std::string> seen;
  std::vector<std::size_t> state(t.nodes());
  std::string column(t.tips(), 0);
  const std::size_t most_sites =
      options.patterns == 0 ? options.sites : std::max<std::size_t>(100 * options.patterns, 10000);
  for (std::size_t site = 0; site < most_sites; ++site) {
    const std::size_t rate = random.below(rates);
    state[t.tips()] = random.choose(m.parameters().frequencies.data());
    for (const step& s : steps) {
      const double* p = transitions.data() + (s.e * rates + rate) * 16;
      state[s.to] = random.choose(p + state[s.from] * 4);
    }
    for (std::size_t tip = 0; tip < t.tips(); ++tip) {
      const bool lost = options.gaps > 0 && random.uniform() < options.gaps;
      const state_set set = lost ? any_state : static_cast<state_set>(1u << state[tip]);
      a.rows[tip].push_back(set);
      column[tip] = static_cast<char>(set);
    }
    if (options.patterns == 0) continue;
    seen.insert(column);
    if (seen.size() == options.patterns) return a;
  }
  if (options.patterns != 0) {
    throw std::runtime_error(fmt::format("only {} different patterns in {} sites, not {}",
                                         seen.size(), most_sites, options.patterns));
  }
  return a;
}

}  // namespace tutti::phylo
