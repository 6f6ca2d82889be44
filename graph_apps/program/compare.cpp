// SPDX-License-Identifier: Apache-2.0
// tutti-graph-compare: message passing and shared memory on one graph, taking turns: PageRank and
// shortest paths in the modes of the applications, and the ceiling's pull PageRank and
// delta-stepping. Paths begin at the vertex with the most edges.
//   tutti-graph-compare GRAPH [THREADS [ITERATIONS [ROUNDS]]]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "cli/result_line.hpp"
#include "graph_apps/apps/common.hpp"
#include "graph_apps/ceiling/ceiling.hpp"
#include "tutti/graph/generate.hpp"
#include "tutti/graph/load.hpp"

namespace {

using namespace tutti;
using graph_apps::mode;

struct contender {
  std::string name;
  // Runs it once and returns the seconds.
  std::function<double()> seconds;
  // The edges that a run reads, for rates.
  double edges;
  // Shared memory without messages.
  bool is_ceiling = false;
  std::vector<double> times = {};
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The graph, and how many threads work on it.
struct situation {
  std::string name;
  std::uint64_t vertices, edges;
  rank_t threads;
};

void compare(const std::string& what, const situation& on, std::vector<contender> all, int rounds) {
  for (int round = 0; round < rounds; ++round)
    for (auto& each : all) each.times.push_back(each.seconds());
  const double best = median(all[0].times);
  for (const auto& each : all) {
    const double mid = median(each.times);
    const auto [least, most] = std::minmax_element(each.times.begin(), each.times.end());
    fmt::print("{}", cli::result_line({{"benchmark", what},
                                       {"provider", each.is_ceiling ? "ceiling" : "tutti"},
                                       {"name", each.name},
                                       {"graph", on.name},
                                       {"vertices", on.vertices},
                                       {"edges", on.edges},
                                       {"threads", on.threads},
                                       {"metric", "wall"},
                                       {"min", *least * 1e9},
                                       {"median", mid * 1e9},
                                       {"max", *most * 1e9},
                                       {"samples", each.times.size()},
                                       {"edges_per_second", each.edges / mid},
                                       {"of_ceiling", best / mid}}));
  }
}

graph_apps::settings settings_for(mode m, rank_t threads, std::uint64_t steps) {
  graph_apps::settings s;
  s.mode = m;
  s.run.threads = threads;
  s.steps = steps;
  return s;
}

// Where paths begin: the first of the vertices with the most edges. Vertex 0 of a random graph may
// have none.
graph::vertex_t hub_of(const graph::csr& g) {
  graph::vertex_t hub = 0;
  for (graph::vertex_t v = 1; v < g.vertices; ++v)
    if (g.degree(v) > g.degree(hub)) hub = v;
  return hub;
}

// Adds the modes of an application, of which run(mode) takes so many seconds.
template <class Run>
void add_modes(std::vector<contender>& to, double edges, Run run) {
  for (const auto& [name, m] :
       {std::pair("sync", mode::sync), {"async", mode::async}, {"sequential", mode::sequential}})
    to.push_back({name, [run, m = m] { return run(m); }, edges});
}

void compare_pagerank(const graph::csr& g, const situation& on, std::uint64_t iterations,
                      int rounds) {
  const rank_t threads = on.threads;
  const graph::csr transposed = graph::transpose(g, threads);
  const double edges = static_cast<double>(g.edges()) * static_cast<double>(iterations);
  team workers(threads);
  std::vector<contender> all;
  all.push_back({"pull",
                 [&] {
                   const graph_apps::stopwatch watch;
                   graph_apps::ceiling::pull_pagerank(g, transposed, iterations, 0.85f, workers);
                   return watch.seconds();
                 },
                 edges, true});
  const auto run = [&](mode m, bool single) {
    graph_apps::settings s = settings_for(m, threads, iterations);
    s.single = single;
    return graph_apps::run_pagerank(g, s).run_seconds;
  };
  all.push_back({"sync_single", [&] { return run(mode::sync, true); }, edges});
  add_modes(all, edges, [&](mode m) { return run(m, false); });
  compare("pagerank", on, std::move(all), rounds);
}

void compare_paths(graph::csr g, const situation& on, int rounds) {
  const rank_t threads = on.threads;
  if (!g.weighted()) graph::set_random_weights(g, graph::weight_kind::integer, 1, 255, 1);
  const double edges = static_cast<double>(g.edges());
  const graph::vertex_t hub = hub_of(g);
  const float delta = 2.0f * 128.0f / static_cast<float>(std::max(1.0, edges / g.vertices));
  team workers(threads);
  std::vector<contender> all;
  all.push_back({"delta_stepping",
                 [&] {
                   const graph_apps::stopwatch watch;
                   graph_apps::ceiling::stepping_paths(g, hub, delta, workers);
                   return watch.seconds();
                 },
                 edges, true});
  add_modes(all, edges, [&](mode m) {
    graph_apps::settings s = settings_for(m, threads, 0);
    s.sources = {hub};
    return graph_apps::run_shortest_paths(g, s).run_seconds;
  });
  compare("sssp", on, std::move(all), rounds);
}

int number(int argc, char** argv, int index, int usual) {
  return argc > index ? std::atoi(argv[index]) : usual;
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = number(argc, argv, 2, 2), iterations = number(argc, argv, 3, 10),
            rounds = number(argc, argv, 4, 5);
  if (argc < 2 || threads < 1 || iterations < 1 || rounds < 1) {
    std::fprintf(stderr, "usage: tutti-graph-compare GRAPH [THREADS [ITERATIONS [ROUNDS]]]\n");
    return 2;
  }
  try {
    const std::string what = argv[1];
    const auto t = static_cast<rank_t>(threads);
    const bool is_rule = what.find(':') != std::string::npos;
    graph::csr g = is_rule ? graph::generate(what, t) : graph::load(what, {.threads = t});
    const situation on{what, g.vertices, g.edges(), t};
    compare_pagerank(g, on, static_cast<std::uint64_t>(iterations), rounds);
    compare_paths(std::move(g), on, rounds);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tutti-graph-compare: %s\n", e.what());
    return 1;
  }
}
