// SPDX-License-Identifier: Apache-2.0
// One function per format. It takes all bytes of a file and throws a file_error for anything that
// it does not understand.
#pragma once

#include <string>
#include <string_view>

#include "src/graph/edge_sink.hpp"
#include "src/graph/read/bytes.hpp"
#include "tutti/graph/csr.hpp"
#include "tutti/graph/load.hpp"

namespace tutti::graph {

struct input {
  std::string_view bytes;
  const std::string& name;
  const load_options& options;
  // The file whose bytes need not stay in memory after they are read; null if they are not those of
  // a mapped file, or are not worth it.
  const file_bytes* file = nullptr;
  // The most vertices that a reader has seen so far; an error tells it if the graph does not fit.
  mutable std::uint64_t vertices = 0;

  // Says that no byte before `at` will be read soon.
  void forget_before(const char* at) const {
    if (file != nullptr) file->forget_before(at);
  }
};

// These pass the edges on to a sink in the order in which the rows have them. `columns` is 2, 3
// with weights, or 0 for as many as the first line has.
listed_graph list_edge_list(const input& in, unsigned columns, edge_sink& to);
listed_graph list_matrix_market(const input& in, edge_sink& to);
// `weighted` decides where the size does not tell: in a file without edges.
listed_graph list_gap(const input& in, bool weighted, edge_sink& to);
listed_graph list_metis(const input& in, edge_sink& to);

// These two have rows in the file, so the whole graph is made without a list of edges.
csr read_gap(const input& in, bool weighted);
csr read_metis(const input& in);

// Notes how many vertices the graph has at least. Throws file_error if the caller does not allow
// that many.
void check_vertices(const input& in, std::uint64_t line, std::uint64_t vertices);

// The number of lines of the rest of a file, whether or not the last one has a line end. Errors
// such as ", but the file ends" need it.
std::uint64_t lines_in(const input& in, std::string_view rest);

}  // namespace tutti::graph
