// SPDX-License-Identifier: Apache-2.0
// The C interface of graphs and of four applications on them.
#define TUTTI_CHECKS 0

#include "tutti/graph.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <new>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "graph_apps/arguments.hpp"
#include "graph_apps/programs/breadth_first.hpp"
#include "graph_apps/programs/breadth_first_sync.hpp"
#include "graph_apps/programs/components.hpp"
#include "graph_apps/programs/components_sync.hpp"
#include "graph_apps/programs/pagerank.hpp"
#include "graph_apps/programs/pagerank_gals.hpp"
#include "graph_apps/programs/shortest_paths.hpp"
#include "graph_apps/programs/shortest_paths_sync.hpp"
#include "src/later_members.hpp"
#include "tutti/graph/generate.hpp"
#include "tutti/graph/load.hpp"
#include "tutti/graph/run.hpp"
#include "tutti/platform/names.hpp"
#include "tutti/termination/list.hpp"
#include "tutti/wait/list.hpp"

struct tutti_graph {
  tutti::graph::csr object;
};

namespace {

using namespace tutti;
using namespace tutti::graph_apps;

// The last error of this thread. It needs no memory but its own.
thread_local char last_error[1024];

int fail(int error, std::string_view sentence) noexcept {
  const std::size_t length = std::min(sentence.size(), sizeof last_error - 1);
  sentence.copy(last_error, length);
  last_error[length] = '\0';
  return error;
}

// An error of the caller, with its sentence.
struct failure {
  int error;
  std::string sentence;
};
[[noreturn]] void refuse_with(int error, std::string sentence) {
  throw failure{error, std::move(sentence)};
}
void require_that(bool holds, int error, const char* sentence) {
  if (!holds) refuse_with(error, sentence);
}

// Calls call() and turns exceptions into errors.
template <class Call>
int guarded(Call call) noexcept {
  try {
    call();
    return TUTTI_OK;
  } catch (const failure& e) {
    return fail(e.error, e.sentence);
  } catch (const std::bad_alloc&) {
    return fail(TUTTI_ENOMEM, "there is not enough memory");
  } catch (const graph::memory_error& e) {
    return fail(TUTTI_ENOMEM, e.what());
  } catch (const graph::file_error& e) {
    return fail(TUTTI_EFILE, e.what());
  } catch (const graph::run_late& e) {
    return fail(TUTTI_ETIMEDOUT, e.what());
  } catch (const std::logic_error& e) {
    return fail(TUTTI_EINVAL, e.what());
  } catch (const std::system_error& e) {
    return fail(TUTTI_ETHREAD, e.what());
  } catch (const std::exception& e) {
    return fail(TUTTI_ESYSTEM, e.what());
  }
}

template <class Make>
int make_graph(tutti_graph** out, Make make) noexcept {
  if (out == nullptr) return fail(TUTTI_EINVAL, "the address for the graph is NULL");
  *out = nullptr;
  return guarded([&] { *out = new tutti_graph{make()}; });
}

// Refuses an unknown name with TUTTI_ENAME. The library would refuse it as well, but with an
// exception that does not tell names from other arguments.
template <class List>
const auto& entry_of(const List& list, std::string_view name, const char* of_what) {
  const auto* const found = detail::find_by_name(list, name);
  if (found == nullptr)
    refuse_with(TUTTI_ENAME, std::string(of_what) + " has the name '" + std::string(name) + "'");
  return *found;
}

// NULL and "" leave the default.
template <class Name>
void set_name(Name& chosen, const char* given) {
  if (given != nullptr && *given != '\0') chosen = given;
}

// Refuses the size of an older version, and what only a later one knows. It comes before any other
// member is read.
template <class Options>
void require_known(const Options* options, const char* type) {
  if (options == nullptr) return;
  if (options->size < sizeof *options)
    refuse_with(TUTTI_EINVAL,
                std::string("the size of ") + type + " is not set, or is that of an older version");
  if (c_abi::sets_later_members(*options))
    refuse_with(TUTTI_ENOTSUP,
                std::string(type) + " sets a member of a later version, which this one lacks");
}
void require_known(const tutti_graph_options* options) {
  require_known(options, "tutti_graph_options");
}

graph::run_options options_of(const tutti_graph_options* in) {
  graph::run_options chosen;
  if (in == nullptr) return chosen;
  require_known(in);
  require_that(in->mode == TUTTI_GRAPH_SYNC || in->mode == TUTTI_GRAPH_ASYNC, TUTTI_EINVAL,
               "the mode is neither TUTTI_GRAPH_SYNC nor TUTTI_GRAPH_ASYNC");
  chosen.threads = in->threads;
  chosen.ranks = in->ranks;
  set_name(chosen.partition, in->partition);
  set_name(chosen.detector, in->detector);
  set_name(chosen.wait, in->wait);
  if (!chosen.detector.empty()) entry_of(detectors, chosen.detector, "no detector of termination");
  require_that(entry_of(wait_policies, chosen.wait, "no wait policy").available(), TUTTI_ENOTSUP,
               "this machine lacks what the wait policy needs");
  chosen.engine.combine = in->combine != 0;
  chosen.engine.limit =
      std::chrono::nanoseconds(std::min<std::uint64_t>(in->limit_ns, INT64_MAX / 2));
  // Refuses an unknown method, at which a run with a single participant would not look.
  try {
    graph::partition(graph::csr{}, 1, chosen.partition);
  } catch (const std::runtime_error& e) {
    refuse_with(TUTTI_ENOTSUP, e.what());
  }
  return chosen;
}
bool is_async(const tutti_graph_options* options) {
  require_known(options);
  return options != nullptr && options->mode == TUTTI_GRAPH_ASYNC;
}

const graph::csr& graph_of(const tutti_graph* graph, const void* results, std::size_t count) {
  require_that(graph != nullptr, TUTTI_EINVAL, "the graph is NULL");
  require_that(results != nullptr || graph->object.vertices == 0, TUTTI_EINVAL,
               "the array for the results is NULL");
  if (count != graph->object.vertices)
    refuse_with(TUTTI_EINVAL, "the arrays have " + std::to_string(count) +
                                  " elements, but the graph has " +
                                  std::to_string(graph->object.vertices) + " vertices");
  return graph->object;
}
void require_no_negative_weight(const graph::csr& graph) {
  if (const auto edge = negative_edge(graph))
    refuse_with(TUTTI_EINVAL,
                "shortest paths need nonnegative weights; the weight of the edge from " +
                    std::to_string(edge->from) + " to " + std::to_string(edge->to) + " is " +
                    std::to_string(edge->weight));
}

void require_room(const tutti_graph_statistics* statistics) {
  require_that(statistics == nullptr || statistics->size >= sizeof *statistics, TUTTI_EINVAL,
               "the size of tutti_graph_statistics is not set, or is that of an older version");
}

// Runs the program and calls take(vertex, content) for each vertex at the end.
template <class Program, class Take>
void run(const Program& program, const graph::csr& graph, const tutti_graph_options* options,
         tutti_graph_statistics* statistics, Take take) {
  require_room(statistics);
  const graph::run_options chosen = options_of(options);
  require_that(!chosen.engine.combine || graph::combining_program<Program>, TUTTI_ENOTSUP,
               "PageRank's vertices without steps count their messages, so that none may be "
               "combined");
  const auto result = graph::run(program, graph, chosen);
  for (const auto& m : result.host) take(m.vertex, m.content);
  if (statistics == nullptr) return;
  const graph::engine_statistics& all = result.statistics;
  *statistics = {statistics->size,   all.time,          all.messages(),
                 all.packets,        all.combined,      all.combined_packets,
                 result.cut_seconds, result.run_seconds};
}

}  // namespace

const char* tutti_graph_error(void) { return last_error; }

int tutti_graph_load(tutti_graph** out, const char* path, const tutti_graph_load_options* options) {
  return make_graph(out, [&] {
    require_that(path != nullptr, TUTTI_EINVAL, "the path is NULL");
    graph::load_options chosen;
    if (options != nullptr) {
      require_known(options, "tutti_graph_load_options");
      if (options->format != nullptr) try {
          chosen.format = graph::format_named(options->format);
        } catch (const std::invalid_argument& e) {
          refuse_with(TUTTI_ENAME, e.what());
        }
      if (options->vertices_at_most != 0) chosen.vertices_at_most = options->vertices_at_most;
      if (options->bytes_at_most != 0) chosen.bytes_at_most = options->bytes_at_most;
      if (options->threads != 0) chosen.threads = options->threads;
    }
    return graph::load(path, chosen);
  });
}

int tutti_graph_generate(tutti_graph** out, const char* rule) {
  return make_graph(out, [&] {
    require_that(rule != nullptr, TUTTI_EINVAL, "the rule is NULL");
    return graph::generate(rule);
  });
}

int tutti_graph_from_edges(tutti_graph** out, uint32_t vertices, const uint32_t* sources,
                           const uint32_t* targets, const float* weights, uint64_t edges) {
  return make_graph(out, [&] {
    require_that(edges == 0 || (sources != nullptr && targets != nullptr), TUTTI_EINVAL,
                 "the array of sources or that of targets is NULL");
    graph::edge_list list;
    list.vertices = vertices;
    if (edges != 0) {
      list.sources.assign(sources, sources + edges);
      list.targets.assign(targets, targets + edges);
      if (weights != nullptr) list.weights.assign(weights, weights + edges);
    }
    graph::csr made = graph::from_edges(std::move(list));
    graph::validate(made);
    return made;
  });
}

void tutti_graph_destroy(tutti_graph* graph) { delete graph; }

uint32_t tutti_graph_vertices(const tutti_graph* graph) {
  return graph == nullptr ? 0 : graph->object.vertices;
}
uint64_t tutti_graph_edges(const tutti_graph* graph) {
  return graph == nullptr ? 0 : graph->object.edges();
}
int tutti_graph_is_weighted(const tutti_graph* graph) {
  return graph != nullptr && graph->object.weighted() ? 1 : 0;
}

int tutti_graph_pagerank(const tutti_graph* graph, uint64_t iterations, double damping,
                         double tolerance, const tutti_graph_options* options, double* ranks,
                         size_t count, tutti_graph_statistics* statistics) {
  return guarded([&] {
    const graph::csr& g = graph_of(graph, ranks, count);
    const pagerank_setting p = pagerank_setting_of(g.vertices, iterations, damping, tolerance);
    require_that(tolerance == 0 || !is_async(options), TUTTI_ENOTSUP,
                 "PageRank's vertices cannot check a tolerance without steps");
    std::vector<share_t> found(g.vertices);
    if (is_async(options)) {
      run(pagerank_gals{p.iterations, p.damping, p.first, p.base, false, &g},
          neighbours_of(g, false), options, statistics,
          [&](graph::vertex_t v, const auto& m) { found[v] = m.share; });
    } else {
      run(pagerank{p.iterations, p.damping, p.first, p.base, p.tolerance}, g, options, statistics,
          [&](graph::vertex_t v, share_t rank) { found[v] = rank; });
    }
    divide_by_sum(found, std::accumulate(found.begin(), found.end(), share_t{0}), ranks);
  });
}

int tutti_graph_bfs(const tutti_graph* graph, uint32_t source, const tutti_graph_options* options,
                    int64_t* distances, int64_t* parents, size_t count,
                    tutti_graph_statistics* statistics) {
  return guarded([&] {
    const graph::csr& g = graph_of(graph, distances, count);
    require_vertex(source, g.vertices);
    const auto take = [&](graph::vertex_t v, const way& found) {
      distances[v] = found.is_found() ? std::int64_t{found.distance} : -1;
      if (parents != nullptr) parents[v] = found.is_found() ? std::int64_t{found.parent} : -1;
    };
    is_async(options) ? run(breadth_first{source}, g, options, statistics, take)
                      : run(breadth_first_sync{source}, g, options, statistics, take);
  });
}

int tutti_graph_components(const tutti_graph* graph, const tutti_graph_options* options,
                           uint32_t* lowest, size_t count, tutti_graph_statistics* statistics) {
  return guarded([&] {
    const graph::csr& g = graph_of(graph, lowest, count);
    std::optional<graph::csr> both_ways;
    if (!graph::is_symmetric(g)) both_ways = graph::symmetrized(g);
    const graph::csr& neighbours = both_ways ? *both_ways : g;
    const auto take = [&](graph::vertex_t v, graph::vertex_t found) { lowest[v] = found; };
    is_async(options) ? run(components{}, neighbours, options, statistics, take)
                      : run(components_sync{}, neighbours, options, statistics, take);
  });
}

int tutti_graph_sssp(const tutti_graph* graph, uint32_t source, const tutti_graph_options* options,
                     float* distances, size_t count, tutti_graph_statistics* statistics) {
  return guarded([&] {
    const graph::csr& g = graph_of(graph, distances, count);
    require_vertex(source, g.vertices);
    require_no_negative_weight(g);
    const auto take = [&](graph::vertex_t v, float distance) { distances[v] = distance; };
    is_async(options) ? run(shortest_paths{source}, g, options, statistics, take)
                      : run(shortest_paths_sync{source}, g, options, statistics, take);
  });
}
