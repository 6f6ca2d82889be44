// SPDX-License-Identifier: Apache-2.0
// Graphs from files. docs/graph-files.md says exactly how each format is read.
//
//   tutti::graph::csr g = tutti::graph::load("web.mtx");
//   tutti::graph::csr h = tutti::graph::load(
//       "roads.gr.gz",
//       {.format = graph::file_format::weighted_edge_list, .negative_weights = false});
//
// A file is read completely or not at all: any error in it throws a file_error that names the file,
// the line and the error. A compressed file (gzip) is recognised by its first bytes. Files are
// mapped into memory, so no program may shorten one while it is read.
// These functions need the compiled library tutti::graph_data. They may be called by several
// threads at once.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tutti/export.h"
#include "tutti/graph/csr.hpp"

namespace tutti::graph {

// The formats of docs/graph-files.md.
enum class file_format {
  // Chosen by the first line, the end of the name, or the number of columns of the first line.
  automatic,
  // .el: "from to" on each line, numbered from 0.
  edge_list,
  // .wel: "from to weight" on each line, numbered from 0.
  weighted_edge_list,
  // .mtx: coordinate; pattern, real or integer; general or symmetric; numbered from 1.
  matrix_market,
  // .sg, .wsg: the rows of the GAP benchmark suite, binary.
  gap,
  // .graph: one line per vertex; undirected; numbered from 1.
  metis,
};

// The format called "auto", "el", "wel", "mtx", "gap" or "metis". For another name it throws
// std::invalid_argument, which lists the known names.
TUTTI_API file_format format_named(std::string_view name);
// The name of a format, as format_named() takes it.
TUTTI_API std::string_view name_of(file_format format);

// An error in a file. Its text begins with file and line, as in "roads.wel:17: ..."; there is no
// line for binary files and for errors of the file as a whole.
class TUTTI_API file_error : public std::runtime_error {
 public:
  file_error(const std::string& file, std::uint64_t line, const std::string& what);
  const std::string& file() const noexcept { return file_; }
  // Counted from 1; 0: no line.
  std::uint64_t line() const noexcept { return line_; }

 private:
  std::string file_;
  std::uint64_t line_;
};

// How a file is read.
struct load_options {
  file_format format = file_format::automatic;
  // Whether negative weights are allowed. Dijkstra's algorithm, for example, does not work with
  // them.
  bool negative_weights = true;
  // The largest number of vertices. Without this limit one line with a large number would request 8
  // bytes times that number. 2^28 vertices have 2 GiB of offsets.
  vertex_t vertices_at_most = vertex_t{1} << 28;
  // The largest size of a compressed file after decompression.
  std::uint64_t bytes_at_most = std::uint64_t{1} << 36;
  // The number of threads that build the rows; 0: one per core. Parsing uses one thread.
  unsigned threads = 1;
};

// Throws file_error. A weight in text is rounded to the nearest float.
TUTTI_API csr load(const std::string& path, const load_options& options = {});

// The same for a file's bytes in memory. `name` is used as the file's name: its end chooses the
// format, and errors begin with it.
TUTTI_API csr load_from(std::string_view bytes, const std::string& name,
                        const load_options& options = {});

}  // namespace tutti::graph
