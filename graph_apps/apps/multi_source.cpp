// SPDX-License-Identifier: Apache-2.0
// The application mssp: breadth-first paths from many vertices, in batches, in each mode.
#include <algorithm>

#include "graph_apps/apps/common.hpp"
#include "graph_apps/apps/processes.hpp"
#include "graph_apps/arguments.hpp"
#include "graph_apps/programs/reach_gals.hpp"
#include "graph_apps/sequential/baselines.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph_apps {
namespace {

void add(reached& to, const reached& more) {
  to.total += more.total;
  to.sources += more.sources;
  to.farthest = std::max(to.farthest, more.farthest);
}

template <std::size_t Words>
void run_sync(const graph_input& graph, std::span<const graph::vertex_t> sources, const settings& s,
              vertex_values<reached>& results, outcome& o) {
  run_program(
      reach<Words>{sources}, graph, s, o,
      [&](const auto& m) { add(results[m.vertex], unpacked(m.content)); },
      sources.data() + sources.size() == s.sources.data() + s.sources.size());
}

template <std::size_t Words>
void run_async(const graph::csr& neighbours, std::span<const graph::vertex_t> sources,
               const settings& s, vertex_values<reached>& results, outcome& o) {
  run_program(reach_gals<Words>{sources, s.block}, neighbours, s, o,
              [&](const auto& m) { add(results[m.vertex], unpacked(m.content.set)); });
}

// A message of 7 words is the largest that lies in a ring itself: 448 sources at a time. A few
// sources travel in a short message.
constexpr std::size_t few = 2, many = 7;

template <class Few, class Many>
void in_batches(std::span<const graph::vertex_t> sources, Few run_few, Many run_many) {
  while (sources.size() > 64 * few) {
    const std::size_t count = std::min(sources.size(), 64 * many);
    run_many(sources.first(count));
    sources = sources.subspan(count);
  }
  if (!sources.empty()) run_few(sources);
}

}  // namespace

outcome run_multi_source(const graph_input& graph, const settings& s) {
  require_sources(graph, s.sources);
  require(s.block >= 1, "a block of steps must have at least one");
  outcome o;
  vertex_values<reached> results = values_here<reached>(graph, s);
  if (s.mode == mode::sync) {
    in_batches(
        s.sources, [&](auto part) { run_sync<few>(graph, part, s, results, o); },
        [&](auto part) { run_sync<many>(graph, part, s, results, o); });
  } else if (s.mode == mode::async) {
    const stopwatch watch;
    const graph::csr neighbours = neighbours_of(graph.whole(), false, std::max(1u, s.run.threads));
    o.prepare_seconds = watch.seconds();
    in_batches(
        s.sources, [&](auto part) { run_async<few>(neighbours, part, s, results, o); },
        [&](auto part) { run_async<many>(neighbours, part, s, results, o); });
  } else {
    results.values = run_sequential(graph.whole(), o, [&](const graph::csr& g) {
      return sequential::multi_source(g, s.sources);
    });
  }

  std::vector<std::uint64_t> sources, total, farthest;
  double sum = 0, pairs = 0;
  for (const reached& r : results.values) {
    sources.push_back(r.sources);
    total.push_back(r.total);
    farthest.push_back(r.farthest);
    sum += static_cast<double>(r.total);
    pairs += r.sources;
  }
  o.summary = {{"pairs connected", over_processes(graph, s, pairs, plus{})},
               {"sum of distances", over_processes(graph, s, sum, plus{})}};
  o.columns.push_back({"sources", std::move(sources)});
  o.columns.push_back({"total", std::move(total)});
  o.columns.push_back({"farthest", std::move(farthest)});
  return o;
}

}  // namespace tutti::graph_apps
