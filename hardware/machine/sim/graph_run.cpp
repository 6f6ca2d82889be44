// SPDX-License-Identifier: Apache-2.0
#include "hardware/machine/sim/graph_run.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>
#include <vector>

#include "graph_apps/programs/heat.hpp"
#include "graph_apps/programs/pagerank.hpp"
#include "graph_apps/programs/pagerank_gals.hpp"
#include "graph_apps/programs/shortest_paths.hpp"
#include "graph_apps/programs/shortest_paths_sync.hpp"
#include "tutti/graph/run_alone.hpp"

namespace tutti::machine {

namespace {

using words = std::vector<std::uint32_t>;
// By vertex: the words of its last message.
using results = std::map<std::uint32_t, words>;

graph::csr graph_of(const rtl::small_graph& shape) {
  graph::edge_list list;
  list.vertices = shape.vertices;
  shape.for_each_edge([&](std::uint32_t from, std::uint32_t to, float weight) {
    list.sources.push_back(from);
    list.targets.push_back(to);
    list.weights.push_back(weight);
  });
  return graph::from_edges(std::move(list));
}

template <class Program>
results on_the_host(const Program& program, const graph::csr& graph) {
  results all;
  auto result = graph::run_alone(program, graph);
  for (const auto& m : result.host) {
    words w((sizeof m.content + 3) / 4);
    std::memcpy(w.data(), &m.content, sizeof m.content);
    all[m.vertex] = std::move(w);
  }
  return all;
}

results heat_on_the_host(const graph::csr& graph) {
  std::vector<double> initial, in_weights(graph.vertices);
  for (std::uint32_t v = 0; v < graph.vertices; ++v) {
    initial.push_back(rtl::first_temperature(v));
    for (std::size_t i = 0; i < graph.out(v).size(); ++i)
      in_weights[graph.out(v)[i]] += static_cast<double>(graph.weights_of(v)[i]);
  }
  const graph_apps::heat program{{rtl::heat_steps, rtl::heat_step, 0, initial, in_weights,
                                  graph_apps::fixed_scale(rtl::heat_bound)}};
  return on_the_host(program, graph);
}

// The first iteration of the library's PageRank after which all ranks together have changed by no
// more than the tolerance.
results residual_on_the_host(graph_apps::pagerank program, const graph::csr& graph) {
  const auto rank_of = [](const words& w) { return graph_apps::share_t{w[1]} << 32 | w[0]; };
  results before;
  for (std::uint32_t v = 0; v < graph.vertices; ++v)
    before[v] = {static_cast<std::uint32_t>(program.first),
                 static_cast<std::uint32_t>(program.first >> 32)};
  for (program.iterations = 1; program.iterations < 1000; ++program.iterations) {
    results now = on_the_host(program, graph);
    std::uint64_t change = 0;
    for (const auto& [v, w] : now) {
      const graph_apps::share_t a = rank_of(w), b = rank_of(before[v]);
      change += (a > b ? a - b : b - a) >> 32;
    }
    if (change <= rtl::pagerank_tolerance) return now;
    before = std::move(now);
  }
  throw std::runtime_error("pagerank_residual: no end");
}

results on_the_host(rtl::graph_program which, const graph::csr& graph) {
  const std::uint32_t n = graph.vertices;
  const graph_apps::share_t first = graph_apps::whole_share / n;
  const graph_apps::share_t damping = graph_apps::share_of(0.85);
  const graph_apps::share_t base = (graph_apps::whole_share - damping) / n;
  switch (which) {
    case rtl::graph_program::paths: return on_the_host(graph_apps::shortest_paths{0}, graph);
    case rtl::graph_program::paths_sync:
      return on_the_host(graph_apps::shortest_paths_sync{0}, graph);
    case rtl::graph_program::pagerank:
      return on_the_host(graph_apps::pagerank{rtl::pagerank_iterations, damping, first, base, 0},
                         graph);
    case rtl::graph_program::heat: return heat_on_the_host(graph);
    case rtl::graph_program::pagerank_residual:
      return residual_on_the_host({0, damping, first, base, 0}, graph);
    default:
      return on_the_host(
          graph_apps::pagerank_gals{rtl::pagerank_iterations, damping, first, base, false, &graph},
          graph);
  }
}

}  // namespace

const char* name_of(rtl::graph_program program) {
  static constexpr const char* names[] = {"shortest_paths", "shortest_paths_sync",
                                          "pagerank",       "pagerank_gals",
                                          "heat",           "pagerank_residual"};
  return names[static_cast<std::size_t>(program)];
}
const char* name_of(rtl::detection detection) {
  return detection == rtl::detection::hardware ? "hardware" : "tree";
}

graph_figures run_graph(const images& folder, const graph_run& what) {
  const std::string name =
      std::string(name_of(what.program)) + ", " + name_of(what.detection) + ", " +
      std::to_string(what.vertices) + " vertices, " + std::to_string(what.cores) + " cores in " +
      std::to_string(what.sockets) + " sockets, " + std::to_string(what.threads) +
      " threads a core, seed " + std::to_string(what.seed);
  settings s;
  s.cores = what.cores;
  s.sockets = what.sockets;
  s.threads = what.threads;
  s.messages = true;
  s.parameters[PARAM_PROGRAM] = static_cast<std::uint32_t>(what.program);
  s.parameters[PARAM_ALGORITHM] = static_cast<std::uint32_t>(what.detection);
  s.parameters[PARAM_A] = what.vertices;
  s.parameters[PARAM_B] = what.chords;
  s.parameters[PARAM_SEED] = what.seed;
  s.parameters[PARAM_POLICY] = what.newest_first ? 1 : 0;
  s.parameters[PARAM_DELAY] = what.fan_out;
  const char* const image =
      what.program == rtl::graph_program::pagerank_residual ? "/graph_totals.bin" : "/graphs.bin";
  const ended_run done = run_well(folder + image, s, 100'000'000, name);

  const graph::csr graph = graph_of({what.vertices, what.chords, what.vertices / 2 - 1, what.seed});
  const results expected = on_the_host(what.program, graph);
  const std::size_t each = expected.begin()->second.size();
  graph_figures all;
  results found;
  for (unsigned core = 0; core < what.cores; ++core) {
    const std::vector<std::uint32_t> values = done.data_of(core, TRACE_VALUE);
    if (values.size() < 4 || (values.size() - 4) % (1 + 2 * each) != 0)
      throw std::runtime_error(name + ": core " + std::to_string(core) + " tells no results");
    all.cycles = std::max(all.cycles, values[0]);
    if (core != 0 && values[1] != all.detections)
      throw std::runtime_error(name + ": the cores do not agree how many time steps there were");
    all.detections = values[1];
    all.sends += values[2];
    all.messages += values[3];
    for (std::size_t i = 4; i < values.size(); i += 1 + 2 * each) {
      words w;
      for (std::size_t k = 0; k < each; ++k)
        w.push_back(values[i + 1 + 2 * k] | values[i + 2 + 2 * k] << 16);
      if (!found.emplace(values[i], std::move(w)).second)
        throw std::runtime_error(name + ": vertex " + std::to_string(values[i]) + " ended twice");
    }
  }
  if (found.size() != expected.size())
    throw std::runtime_error(name + ": " + std::to_string(found.size()) + " results instead of " +
                             std::to_string(expected.size()));
  // Behind the share, the last message of the asynchronous PageRank has bytes without a meaning.
  const std::size_t compared = what.program == rtl::graph_program::pagerank_gals ? 2 : each;
  for (const auto& [vertex, right] : expected)
    if (!std::equal(right.begin(), right.begin() + static_cast<std::ptrdiff_t>(compared),
                    found[vertex].begin()))
      throw std::runtime_error(name + ": vertex " + std::to_string(vertex) +
                               " has another result than on the host");
  return all;
}

}  // namespace tutti::machine
