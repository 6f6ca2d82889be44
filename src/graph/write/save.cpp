// SPDX-License-Identifier: Apache-2.0
// Chooses the format to write and checks that the graph fits it.
#include "tutti/graph/save.hpp"

#include <ostream>

#include "src/graph/write/atomic_file.hpp"
#include "src/graph/write/writers.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph {

namespace {

file_format by_ending(const std::string& path) {
  const auto ends = [&](const char* ending) { return path.ends_with(ending); };
  if (ends(".el")) return file_format::edge_list;
  if (ends(".wel")) return file_format::weighted_edge_list;
  if (ends(".mtx")) return file_format::matrix_market;
  if (ends(".sg") || ends(".wsg")) return file_format::gap;
  if (ends(".graph") || ends(".metis")) return file_format::metis;
  refuse("the name '" + path +
         "' does not name a format: it must end in .el, .wel, .mtx, .sg, .wsg, .graph or .metis, "
         "or the "
         "format must be given");
}

void check(const csr& graph, file_format format) {
  validate(graph);
  switch (format) {
    case file_format::edge_list:
      if (graph.weighted())
        refuse("a graph with weights does not fit into an unweighted edge list");
      return;
    case file_format::weighted_edge_list:
      if (!graph.weighted() && graph.edges() != 0)
        refuse("a graph without weights cannot be a weighted edge list");
      return;
    case file_format::matrix_market: return;
    case file_format::gap: return check_gap(graph);
    case file_format::metis: return check_metis(graph);
    case file_format::automatic: break;
  }
  refuse("a stream has no name, so its format must be given");
}

void write(std::ostream& out, const csr& graph, file_format format) {
  switch (format) {
    case file_format::automatic:
    case file_format::edge_list:
    case file_format::weighted_edge_list: return write_edge_list(out, graph);
    case file_format::matrix_market: return write_matrix_market(out, graph);
    case file_format::gap: return write_gap(out, graph);
    case file_format::metis: return write_metis(out, graph);
  }
}

}  // namespace

void save_to(std::ostream& out, const csr& graph, file_format format) {
  check(graph, format);
  write(out, graph, format);
}

void save(const csr& graph, const std::string& path, file_format format) {
  if (format == file_format::automatic) format = by_ending(path);
  const bool in_name = path.ends_with(".sg") || path.ends_with(".wsg");
  if (format == file_format::gap && in_name && graph.weighted() != path.ends_with(".wsg") &&
      graph.edges() != 0)
    refuse("a GAP file with weights must end in .wsg, one without in .sg; '" + path + "' does not");
  check(graph, format);
  atomic_file file(path);
  write(file.stream(), graph, format);
  file.commit();
}

}  // namespace tutti::graph
