// SPDX-License-Identifier: Apache-2.0
// The options of `tutti graph`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "graph_apps/settings.hpp"

namespace tutti::command {

struct graph_command {
  std::string application, graph;
  std::string format = "auto";
  // Empty: the limit of graph::load_options.
  std::string vertices_at_most;
  std::string mode = "sync";
  std::string threads = "0", ranks = "0";
  std::string detector, partition = "edge-blocks";
  std::string order = "fifo";
  std::string iterations, step = "0";
  // Empty: 0, but for heat none.
  std::string source;
  std::string sources;
  std::string damping = "0.85", tolerance = "0";
  std::string noise = "1", input = "0", variety = "1", coupling = "1";
  std::string block = "16";
  std::string seed = "1";
  std::string timeout = "0";
  std::string processes_per_node = "0";
  std::string output, spikes;
  bool euler = false;
  bool combine = false, single = false;
  bool stats = false, json = false, list = false;
  // The names of the options on the command line.
  std::vector<std::string> given;
};

void add_graph_options(cli::command& app, graph_command& o);

// The processes that count as a node. Throws std::invalid_argument.
std::uint32_t processes_per_node_of(const graph_command& o);

// The largest number of vertices of a file. Throws std::invalid_argument.
graph::vertex_t vertices_at_most_of(const graph_command& o);

// Throws std::invalid_argument that names the option.
graph_apps::settings settings_of(const graph_command& o, const graph_apps::application& app);

}  // namespace tutti::command
