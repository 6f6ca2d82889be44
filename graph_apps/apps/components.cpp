// SPDX-License-Identifier: Apache-2.0
// The application components: the vertices that are connected, whichever way the edges point, in
// each mode.
#include "graph_apps/programs/components.hpp"

#include <algorithm>

#include "graph_apps/apps/common.hpp"
#include "graph_apps/apps/processes.hpp"
#include "graph_apps/programs/components_sync.hpp"
#include "graph_apps/sequential/baselines.hpp"

namespace tutti::graph_apps {
namespace {

using lowest_t = vertex_values<graph::vertex_t>;

template <class Program>
void run_messages(const graph_input& graph, const settings& s, lowest_t& lowest, outcome& o) {
  run_program(Program{}, graph, s, o, [&](const auto& m) { lowest[m.vertex] = m.content; });
}

void run_messages(const graph_input& graph, const settings& s, lowest_t& lowest, outcome& o) {
  if (s.mode == mode::sync)
    run_messages<components_sync>(graph, s, lowest, o);
  else
    run_messages<components>(graph, s, lowest, o);
}

// The sizes of the components whose lowest vertex has its result here; `blocks` are those of the
// share.
std::vector<std::uint64_t> sizes_of(const lowest_t& lowest, const graph_input& graph,
                                    const settings& s, const std::vector<graph::vertex_t>& blocks) {
  vertex_values<std::uint64_t> sizes{lowest.first,
                                     std::vector<std::uint64_t>(lowest.values.size())};
  if (graph.is_whole()) {
    for (const graph::vertex_t each : lowest.values) ++sizes[each];
    return std::move(sizes.values);
  }
  std::vector<graph::vertex_t> sorted = lowest.values;
  std::sort(sorted.begin(), sorted.end());
  std::vector<vertex_number> counted;
  for (const graph::vertex_t each : sorted) {
    if (counted.empty() || counted.back().vertex != each) counted.push_back({each, 0});
    ++counted.back().number;
  }
  bring_to_owners(*s.across, blocks, counted,
                  [&](const vertex_number& n) { sizes[n.vertex] += n.number; });
  return std::move(sizes.values);
}

}  // namespace

outcome run_components(const graph_input& graph, const settings& s) {
  outcome o;
  lowest_t lowest = values_here<graph::vertex_t>(graph, s);
  const std::vector<graph::vertex_t> blocks =
      graph.is_whole() ? std::vector<graph::vertex_t>() : graph.share().blocks;
  if (s.mode == mode::sequential) {
    lowest.values = run_sequential(graph.whole(), o, sequential::components);
  } else if (!graph.is_whole()) {
    // The share's edges lead both ways already.
    run_messages(graph, s, lowest, o);
  } else {
    const stopwatch watch;
    const bool is_symmetric = graph::is_symmetric(graph.whole());
    const graph::csr neighbours =
        is_symmetric ? graph::csr{}
                     : graph::symmetrized(graph.whole(), {}, std::max(1u, s.run.threads));
    o.prepare_seconds = watch.seconds();
    run_messages(is_symmetric ? graph : graph_input(neighbours), s, lowest, o);
  }
  const std::vector<std::uint64_t> sizes = sizes_of(lowest, graph, s, blocks);
  double components = 0, largest = 0;
  for (const std::uint64_t size : sizes) {
    components += size != 0 ? 1 : 0;
    largest = std::max(largest, static_cast<double>(size));
  }
  o.summary = {{"components", over_processes(graph, s, components, plus{})},
               {"vertices of the largest", over_processes(graph, s, largest, maximum{})}};
  o.columns.push_back(
      {"component", std::vector<std::uint64_t>(lowest.values.begin(), lowest.values.end())});
  return o;
}

}  // namespace tutti::graph_apps
