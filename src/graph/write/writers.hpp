// SPDX-License-Identifier: Apache-2.0
// One function per format. A graph that the format cannot hold has been refused before.
#pragma once

#include <iosfwd>

#include "tutti/graph/csr.hpp"

namespace tutti::graph {

// Throws std::invalid_argument for a graph that a GAP file cannot hold.
void check_gap(const csr& graph);
void check_metis(const csr& graph);

void write_edge_list(std::ostream& out, const csr& graph);
void write_matrix_market(std::ostream& out, const csr& graph);
void write_gap(std::ostream& out, const csr& graph);
void write_metis(std::ostream& out, const csr& graph);

}  // namespace tutti::graph
