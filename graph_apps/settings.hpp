// SPDX-License-Identifier: Apache-2.0
// The graph, the settings and the outcome of an application.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tutti/graph/csr.hpp"
#include "tutti/graph/run.hpp"
#include "tutti/graph/share.hpp"

namespace tutti::mpi {
class communicator;
}
namespace tutti::sim {
struct board_machine;
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

// What an application runs on: a whole graph, or this process's share of one. It refers to its
// argument.
class graph_input {
 public:
  graph_input(const graph::csr& whole) noexcept : whole_(&whole) {}
  // The application may take the share's arrays.
  explicit graph_input(graph::graph_share& part) noexcept : share_(&part) {}

  bool is_whole() const noexcept { return whole_ != nullptr; }
  // Precondition: is_whole().
  const graph::csr& whole() const noexcept { return *whole_; }
  // Precondition: not is_whole().
  graph::graph_share& share() const noexcept { return *share_; }

  graph::vertex_t vertices() const noexcept {
    return is_whole() ? whole_->vertices : share_->vertices;
  }
  bool weighted() const noexcept { return is_whole() ? whole_->weighted() : share_->weighted; }

 private:
  const graph::csr* whole_ = nullptr;
  graph::graph_share* share_ = nullptr;
};

struct settings {
  graph_apps::mode mode = mode::sync;
  graph::run_options run;
  // If set, the application runs on the participants of all processes; each process calls it with
  // the same graph, or its own share of it, and the same settings.
  mpi::communicator* across = nullptr;
  // If set, the application runs on this simulated machine, and its time is simulated.
  const sim::board_machine* boards = nullptr;
  // See graph::across_options.
  std::function<void(const std::string& what)> on_failure = {};
  // Iterations of PageRank, steps of heat, milliseconds of the spiking network.
  std::uint64_t steps = 20;
  // The sources of the shortest paths and of bfs, or the hot vertices of heat.
  std::vector<graph::vertex_t> sources;
  // The seed of all random values: noise, currents, temperatures.
  std::uint64_t seed = 1;
  // The damping factor of PageRank.
  double damping = 0.85;
  // PageRank, sync and sequential: the run ends when no rank changes by more than this times 1/n.
  double tolerance = 0;
  // PageRank: messages of 4 bytes, ranks of 24 bits.
  bool single = false;
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
  // Each column has a value for every vertex. Across processes the first one has them; in a run on
  // shares each process has those of its own vertices.
  std::vector<column> columns;
  // By step, then by neuron; empty unless spikes were recorded.
  std::vector<spike> spikes;
  // A few numbers for people to read.
  std::vector<std::pair<std::string, double>> summary;
  // The megabytes of this process at its peak; across processes those of the first one, and of the
  // largest other one.
  double megabytes = 0, most_megabytes = 0;
  // Seconds before the shards are cut: symmetric graphs, currents.
  double prepare_seconds = 0;
  // Seconds to cut the graph into shards.
  double cut_seconds = 0;
  double run_seconds = 0;
  // The edges along which messages went, including added ones.
  graph::edge_t edges = 0;
  // The edges of the graph itself.
  graph::edge_t graph_edges = 0;
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
  std::function<outcome(const graph_input&, const settings&)> run;
  // Whether it runs on shares in this mode; otherwise each process needs the whole graph.
  bool shares_sync = false, shares_async = false;
  // Whether its messages go both ways along an edge.
  bool both_ways = false;

  bool runs_on_shares(mode m) const noexcept {
    return (m == mode::sync && shares_sync) || (m == mode::async && shares_async);
  }
};

// The applications: pagerank, sssp, bfs, components, mssp, spiking, heat.
const std::vector<application>& applications();

}  // namespace tutti::graph_apps
