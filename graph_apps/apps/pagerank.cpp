// SPDX-License-Identifier: Apache-2.0
// The application pagerank: how often a random walk visits each vertex, in each mode.
#include "graph_apps/programs/pagerank.hpp"

#include <algorithm>
#include <numeric>

#include "graph_apps/apps/common.hpp"
#include "graph_apps/apps/processes.hpp"
#include "graph_apps/arguments.hpp"
#include "graph_apps/programs/pagerank_gals.hpp"
#include "graph_apps/sequential/baselines.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph_apps {
namespace {

template <class Program>
void run_sync(const graph_input& graph, const pagerank_setting& p, const settings& s,
              vertex_values<share_t>& ranks, outcome& o) {
  run_program(Program{p.iterations, p.damping, p.first, p.base, p.tolerance}, graph, s, o,
              [&](const auto& m) { ranks[m.vertex] = share_in(m.content); });
}

void run_async(const graph::csr& graph, const pagerank_setting& p, const settings& s,
               vertex_values<share_t>& ranks, outcome& o) {
  const stopwatch watch;
  const graph::csr neighbours = neighbours_of(graph, false, std::max(1u, s.run.threads));
  o.prepare_seconds = watch.seconds();
  run_program(pagerank_gals{p.iterations, p.damping, p.first, p.base, p.single, &graph}, neighbours,
              s, o, [&](const auto& m) { ranks[m.vertex] = m.content.share; });
}

}  // namespace

outcome run_pagerank(const graph_input& graph, const settings& s) {
  pagerank_setting p = pagerank_setting_of(graph.vertices(), s.steps, s.damping, s.tolerance);
  p.single = s.single;
  outcome o;
  vertex_values<share_t> found = values_here<share_t>(graph, s);
  if (s.mode == mode::sync) {
    s.single ? run_sync<pagerank_single>(graph, p, s, found, o)
             : run_sync<pagerank>(graph, p, s, found, o);
  } else if (s.mode == mode::async) {
    require(
        s.tolerance == 0,
        "PageRank's vertices cannot check a tolerance in the mode async, because they only wait "
        "for their neighbours; use the mode sync");
    run_async(graph.whole(), p, s, found, o);
  } else {
    auto made = run_sequential(graph.whole(), o,
                               [&](const graph::csr& g) { return sequential::pagerank(g, p); });
    o.statistics.time = made.iterations;
    found.values = std::move(made.ranks);
  }

  const std::vector<share_t>& ranks = found.values;
  // The ranks add up to at most 1, so the sum fits.
  const share_t sum =
      over_processes(graph, s, std::accumulate(ranks.begin(), ranks.end(), share_t{0}), plus{});
  std::vector<double> shares(ranks.size());
  divide_by_sum(ranks, sum, shares.data());
  o.summary = {{"sum before it is made 1", number_of(sum)}};
  o.columns.push_back({"rank", std::move(shares)});
  return o;
}

}  // namespace tutti::graph_apps
