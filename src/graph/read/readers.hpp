// SPDX-License-Identifier: Apache-2.0
// One function per format. It takes all bytes of a file and throws a file_error for anything that
// it does not understand.
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

// `columns` is 2, 3 with weights, or 0 for as many as the first line has.
csr read_edge_list(const input& in, unsigned columns);
csr read_matrix_market(const input& in);
// `weighted` decides where the size does not tell: in a file without edges.
csr read_gap(const input& in, bool weighted);
csr read_metis(const input& in);

// Throws file_error if the caller does not allow that many vertices.
void check_vertices(const input& in, std::uint64_t line, std::uint64_t vertices);

// The number of lines of a text, whether or not the last one has a line end. Errors such as ", but
// the file ends" need it.
std::uint64_t lines_in(std::string_view bytes) noexcept;

}  // namespace tutti::graph
