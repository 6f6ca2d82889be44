// SPDX-License-Identifier: Apache-2.0
// Graphs from files: docs/graph-files.md says exactly what each format is taken to be.
//
//   tutti::graph::csr g = tutti::graph::load("web.mtx");
//   tutti::graph::csr h = tutti::graph::load("roads.gr.gz", {.format = graph::file_format::weighted_edge_list,
//                                                            .negative_weights = false});
//
// A file is taken whole or not at all: whatever is wrong with it throws a file_error, whose sentence names file, line and
// what is wrong. A compressed file (gzip) is recognised by its first bytes. Files are mapped into memory: nobody may
// shorten one while it is being read. Needs the compiled library tutti::graph_data.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tutti/export.h"
#include "tutti/graph/csr.hpp"

namespace tutti::graph {

enum class file_format {
  automatic,  // by its first line, or by the end of its name, or by the columns of its first line
  edge_list,  // .el       "from to" a line, numbered from 0
  weighted_edge_list,  // .wel      "from to weight"
  matrix_market,  // .mtx      coordinate; pattern, real or integer; general or symmetric; numbered from 1
  gap,            // .sg, .wsg the GAP benchmark suite's rows, binary
  metis,          // .graph    a line a vertex; undirected; numbered from 1
};

// "auto", "el", "wel", "mtx", "gap", "metis". Throws std::invalid_argument for another name, with the known ones.
TUTTI_API file_format format_named(std::string_view name);
TUTTI_API std::string_view name_of(file_format format);

// "roads.wel:17: ..."; without a line for binary files and for what is wrong with the file as a whole.
class TUTTI_API file_error : public std::runtime_error {
 public:
  file_error(const std::string& file, std::uint64_t line, const std::string& what);
  const std::string& file() const noexcept { return file_; }
  std::uint64_t line() const noexcept { return line_; }  // from 1; 0: none

 private:
  std::string file_;
  std::uint64_t line_;
};

struct load_options {
  file_format format = file_format::automatic;
  // Shortest paths by Dijkstra's rule, for instance, forbid them.
  bool negative_weights = true;
  // A guard: one line with a large number would ask for 8 bytes times that number. 2^28 is 2 GiB of offsets.
  vertex_t vertices_at_most = vertex_t{1} << 28;
  // Of a compressed file, when it is unpacked.
  std::uint64_t bytes_at_most = std::uint64_t{1} << 36;
  // For the rows; parsing is one thread's work.
  unsigned threads = 1;
};

// Throws file_error. Text weights become the nearest float.
TUTTI_API csr load(const std::string& path, const load_options& options = {});

// The same for what lies in memory; `name` is used as the file's: its end chooses the format, errors begin with it.
TUTTI_API csr load_from(std::string_view bytes, const std::string& name,
                        const load_options& options = {});

}  // namespace tutti::graph
