// SPDX-License-Identifier: Apache-2.0
// One function a format. Each takes all bytes, and throws a file_error for anything that it does not understand.
#pragma once

#include <string>
#include <string_view>

#include "tutti/graph/csr.hpp"
#include "tutti/graph/load.hpp"

namespace tutti::graph {

struct input {
  std::string_view bytes;
  const std::string& name;
  const load_options& options;
};

// Columns: 2, 3 with weights, 0: as many as the first line has.
csr read_edge_list(const input& in, unsigned columns);
csr read_matrix_market(const input& in);
// `weighted` says what to believe where the size does not tell: in a file without edges.
csr read_gap(const input& in, bool weighted);
csr read_metis(const input& in);

// Throws if that many vertices are more than the caller wants.
void check_vertices(const input& in, std::uint64_t line, std::uint64_t vertices);

// ", but the file ends" and the like need the number of lines that a text has, the last one with or without its end.
std::uint64_t lines_in(std::string_view bytes) noexcept;

}  // namespace tutti::graph
