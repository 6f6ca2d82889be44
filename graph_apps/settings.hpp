// SPDX-License-Identifier: Apache-2.0
// The settings and the outcome of an application.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tutti/graph/csr.hpp"
#include "tutti/graph/run.hpp"

namespace tutti::mpi {
class communicator;
}

namespace tutti::graph_apps {

enum class mode : std::uint8_t {
  // A time step ends when all vertices are idle and no message is under way.
  sync,
  // There are no steps: vertices wait for their neighbours (GALS), or not at all (shortest paths).
  async,
  // A plain loop of one thread, without messages; the other modes are compared with it.
  sequential,
};

struct settings {
  graph_apps::mode mode = mode::sync;
  graph::run_options run;
  // If set, the application runs on the participants of all processes; each process calls it with
  // the same graph and settings.
  mpi::communicator* across = nullptr;
  // See graph::across_options.
  std::function<void(const std::string& what)> on_failure = {};
  // Iterations of PageRank, steps of heat, milliseconds of the spiking network.
  std::uint64_t steps = 20;
  // The sources of the shortest paths, or the hot vertices of heat.
  std::vector<graph::vertex_t> sources;
  // The seed of all random values: noise, currents, temperatures.
  std::uint64_t seed = 1;
  // The damping factor of PageRank.
  double damping = 0.85;
  // PageRank, sync and sequential: the run ends when no rank changes by more than this times 1/n.
  double tolerance = 0;
  // Multi-source, async: the number of steps between two checks for the end.
  std::uint32_t block = 16;
  // Heat: the time step; 0: half of the largest stable one.
  double step = 0;
  // Spiking network: a factor of the paper's noise, and a constant current.
  double noise = 1, input = 0;
  // 0: neurons of one kind are all alike.
  double variety = 1;
  // A factor of all currents.
  double coupling = 1;
  // Spiking network: use Euler's method (neuron.hpp).
  bool euler = false;
  // Whether to keep each spike.
  bool record = false;
};

struct column {
  std::string name;
  std::variant<std::vector<double>, std::vector<std::uint64_t>, std::vector<std::int64_t>> values;
};

struct spike {
  std::uint64_t step;
  graph::vertex_t neuron;
};

struct outcome {
  // Each column has a value for every vertex.
  std::vector<column> columns;
  // By step, then by neuron; empty unless spikes were recorded.
  std::vector<spike> spikes;
  // A few numbers for people to read.
  std::vector<std::pair<std::string, double>> summary;
  // Seconds before the shards are cut: symmetric graphs, currents.
  double prepare_seconds = 0;
  // Seconds to cut the graph into shards.
  double cut_seconds = 0;
  double run_seconds = 0;
  // The edges along which messages went, including added ones.
  graph::edge_t edges = 0;
  graph::engine_statistics statistics;
  std::vector<graph::engine_statistics> of_participants;
};

struct application {
  std::string name;
  std::string meaning;
  // Empty: the application has no steps.
  std::string steps_meaning;
  std::uint64_t usual_steps = 0;
  // Whether it uses weights. All applications but the spiking network refuse negative ones.
  bool takes_weights = false;
  std::function<outcome(const graph::csr&, const settings&)> run;
};

// The applications: pagerank, sssp, mssp, spiking, heat.
const std::vector<application>& applications();

}  // namespace tutti::graph_apps
