// SPDX-License-Identifier: Apache-2.0
// What the applications are asked, and what they answer.
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
  sync,   // a time step ends when everybody is idle and no message is on its way
  async,  // no steps: neighbours wait for each other (GALS), or nobody for anybody (shortest paths)
  sequential,  // a plain loop of one thread, without messages: what the others are compared with
};

struct settings {
  graph_apps::mode mode = mode::sync;
  graph::run_options run;
  // Runs on the participants of all processes instead; each process calls the application with the same graph and settings.
  mpi::communicator* across = nullptr;
  std::function<void(const std::string& what)> on_failure = {};  // see graph::across_options
  std::uint64_t steps =
      20;  // iterations of PageRank, steps of heat, milliseconds of the spiking network
  std::vector<graph::vertex_t> sources;  // of the shortest paths; the hot vertices of heat
  std::uint64_t seed = 1;                // of what is random: noise, currents, temperatures
  double damping = 0.85;                 // PageRank
  double tolerance =
      0;  // PageRank, sync and sequential: ends when no rank changes by more, times 1/n
  std::uint32_t block = 16;     // multi-source, async: steps between two looks whether that was all
  double step = 0;              // heat: of time; 0: half of what is stable
  double noise = 1, input = 0;  // spiking network: times the paper's noise; a constant current
  double variety = 1;           // 0: neurons of one kind are all alike
  double coupling = 1;          // times all currents
  bool euler = false;           // spiking network
  bool record = false;          // keep each spike
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
  std::vector<column> columns;  // each with a value for every vertex
  std::vector<spike> spikes;    // by step, then by neuron; if they were recorded
  std::vector<std::pair<std::string, double>> summary;  // a few numbers for people
  double prepare_seconds = 0;  // before the shards: symmetric graphs, currents
  double cut_seconds = 0;      // into shards
  double run_seconds = 0;
  graph::edge_t edges = 0;  // that messages went along, added ones included
  graph::engine_statistics statistics;
  std::vector<graph::engine_statistics> of_participants;
};

struct application {
  std::string name;
  std::string meaning;
  std::string steps_meaning;  // empty: it has no steps
  std::uint64_t usual_steps = 0;
  bool takes_weights =
      false;  // uses them; negative ones are refused unless it is the spiking network
  std::function<outcome(const graph::csr&, const settings&)> run;
};

// pagerank, sssp, mssp, spiking, heat.
const std::vector<application>& applications();

}  // namespace tutti::graph_apps
