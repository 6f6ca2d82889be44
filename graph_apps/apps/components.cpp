// SPDX-License-Identifier: Apache-2.0
// The application components: the vertices that are connected, whichever way the edges point, in
// each mode.
#include "graph_apps/programs/components.hpp"

#include <algorithm>

#include "graph_apps/apps/common.hpp"
#include "graph_apps/programs/components_sync.hpp"
#include "graph_apps/sequential/baselines.hpp"

namespace tutti::graph_apps {
namespace {

template <class Program>
void run_messages(const graph_input& graph, const settings& s, std::vector<graph::vertex_t>& lowest,
                  outcome& o) {
  run_program(Program{}, graph, s, o, [&](const auto& m) { lowest[m.vertex] = m.content; });
}

void run_messages(const graph_input& graph, const settings& s, std::vector<graph::vertex_t>& lowest,
                  outcome& o) {
  if (s.mode == mode::sync)
    run_messages<components_sync>(graph, s, lowest, o);
  else
    run_messages<components>(graph, s, lowest, o);
}

}  // namespace

outcome run_components(const graph_input& graph, const settings& s) {
  outcome o;
  std::vector<graph::vertex_t> lowest = column_values<graph::vertex_t>(graph, s);
  if (s.mode == mode::sequential) {
    lowest = run_sequential(graph.whole(), o, sequential::components);
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
  std::vector<std::uint64_t> sizes(lowest.size());
  for (const graph::vertex_t each : lowest) ++sizes[each];
  o.summary = {
      {"components",
       static_cast<double>(std::count_if(sizes.begin(), sizes.end(),
                                         [](std::uint64_t size) { return size != 0; }))},
      {"vertices of the largest",
       sizes.empty() ? 0 : static_cast<double>(*std::max_element(sizes.begin(), sizes.end()))}};
  o.columns.push_back({"component", std::vector<std::uint64_t>(lowest.begin(), lowest.end())});
  return o;
}

}  // namespace tutti::graph_apps
