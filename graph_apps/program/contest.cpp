// SPDX-License-Identifier: Apache-2.0
#include "graph_apps/program/contest.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "bench/harness/statistics.hpp"
#include "graph_apps/apps/common.hpp"
#include "graph_apps/ceiling/ceiling.hpp"
#include "tutti/graph/generate.hpp"
#include "tutti/graph/load.hpp"

namespace tutti::graph_apps {
namespace {

settings settings_for(mode m, rank_t threads, std::uint64_t steps) {
  settings s;
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

}  // namespace

double contender::median() const { return bench::median_of(times); }

void take_turns(std::vector<contender>& all, std::uint64_t rounds) {
  for (std::uint64_t round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < all.size(); ++i) {
      contender& each = all[(round + i) % all.size()];
      each.times.push_back(each.seconds());
    }
}

std::vector<contender> pagerank_contenders(const graph::csr& graph, rank_t threads,
                                           std::uint64_t iterations) {
  const double edges = static_cast<double>(graph.edges()) * static_cast<double>(iterations);
  const auto transposed = std::make_shared<graph::csr>(graph::transpose(graph, threads));
  const auto workers = std::make_shared<team>(threads);
  std::vector<contender> all;
  all.push_back({"pull",
                 [=, &graph] {
                   const stopwatch watch;
                   ceiling::pull_pagerank(graph, *transposed, iterations, 0.85f, *workers);
                   return watch.seconds();
                 },
                 edges, true});
  const auto run = [=, &graph](mode m, bool single) {
    settings s = settings_for(m, threads, iterations);
    s.single = single;
    return run_pagerank(graph, s).run_seconds;
  };
  all.push_back({"sync_single", [=] { return run(mode::sync, true); }, edges});
  add_modes(all, edges, [=](mode m) { return run(m, false); });
  return all;
}

std::vector<contender> paths_contenders(const graph::csr& graph, rank_t threads) {
  const auto edges = static_cast<double>(graph.edges());
  const graph::vertex_t hub = hub_of(graph);
  const float delta = 2.0f * 128.0f / static_cast<float>(std::max(1.0, edges / graph.vertices));
  const auto workers = std::make_shared<team>(threads);
  std::vector<contender> all;
  all.push_back({"delta_stepping",
                 [=, &graph] {
                   const stopwatch watch;
                   ceiling::stepping_paths(graph, hub, delta, *workers);
                   return watch.seconds();
                 },
                 edges, true});
  add_modes(all, edges, [=, &graph](mode m) {
    settings s = settings_for(m, threads, 0);
    s.sources = {hub};
    return run_shortest_paths(graph, s).run_seconds;
  });
  return all;
}

graph::csr graph_of(const std::string& file_or_rule, rank_t threads) {
  const bool is_rule = file_or_rule.find(':') != std::string::npos;
  return is_rule ? graph::generate(file_or_rule, threads)
                 : graph::load(file_or_rule, {.threads = threads});
}

}  // namespace tutti::graph_apps
