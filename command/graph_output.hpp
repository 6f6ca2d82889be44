// SPDX-License-Identifier: Apache-2.0
// What `tutti graph` writes: files, a table for people, JSON lines.
#pragma once

#include "command/graph_options.hpp"
#include "tutti/graph/csr.hpp"

namespace tutti::command {

// Throws std::invalid_argument for a name that ends in neither .csv nor .npy, and for a file that
// cannot be written or that would replace another one of the command line; before anything is
// computed. `reads_file`: the graph is a file.
void require_writable(const graph_command& o, bool reads_file);
// Whole files or none. If each process has the results of its own vertices, all processes call this
// with `across`, and the first one writes.
void write_output(const graph_command& o, const graph_apps::outcome& outcome,
                  graph::vertex_t vertices, mpi::communicator* across);

// What is said of the graph.
struct graph_facts {
  graph::vertex_t vertices = 0;
  graph::edge_t edges = 0;
  bool weighted = false;
  // Whether each process has only its share.
  bool in_shares = false;
};

void print_table(const graph_command& o, const graph_apps::application& app,
                 const graph_apps::settings& s, const graph_facts& graph,
                 const graph_apps::outcome& outcome);
void print_json(const graph_command& o, const graph_apps::application& app,
                const graph_apps::settings& s, const graph_facts& graph,
                const graph_apps::outcome& outcome);

}  // namespace tutti::command
