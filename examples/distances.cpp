// SPDX-License-Identifier: Apache-2.0
// Shortest paths as a vertex program (docs/graphs.md). The same class runs sequentially and on
// threads.
//   distances [THREADS]

#include <cstdio>
#include <cstdlib>
#include <limits>

#include "tutti/graph/generate.hpp"
#include "tutti/graph/run.hpp"

namespace {

using tutti::graph::no_pin;
using tutti::graph::pin;

// A vertex that finds a shorter path sends its distance to its neighbours. The program ends when no
// vertex has anything to send.
struct shortest_paths {
  struct state {
    float distance = std::numeric_limits<float>::infinity();
  };
  using edge = float;
  using message = float;
  using vertex = tutti::graph::vertex<shortest_paths>;

  tutti::graph::vertex_t source = 0;

  void init(vertex& v) const {
    if (v.id() != source) return;
    v->distance = 0;
    v.ready_to_send(pin(0));
  }
  void send(vertex& v, message& m) const {
    m = v->distance;
    v.ready_to_send(no_pin);
  }
  void recv(vertex& v, const message& m, const edge& e) const {
    if (!(m + e < v->distance)) return;
    v->distance = m + e;
    v.ready_to_send(pin(0));
  }
  bool step(vertex&) const { return false; }
  bool finish(vertex& v, message& m) const {
    m = v->distance;
    return true;
  }
};

}  // namespace

int main(int argc, char** argv) {
  const int asked = argc > 1 ? std::atoi(argv[1]) : 2;
  if (asked < 1 || asked > 1000) {
    std::fprintf(stderr, "distances: THREADS must be 1 to 1000, not '%s'\n", argv[1]);
    return 2;
  }
  const auto threads = static_cast<tutti::rank_t>(asked);
  const auto graph =
      tutti::graph::generate("kron:scale=12,degree=8,weights=integer,low=1,high=255");

  const auto alone = tutti::graph::run_alone(shortest_paths{}, graph);
  const auto together = tutti::graph::run(shortest_paths{}, graph, {.threads = threads});
  bool same = alone.host.size() == together.host.size();
  for (std::size_t i = 0; same && i < alone.host.size(); ++i)
    same = alone.host[i].content == together.host[i].content;

  std::printf("1 thread   %8llu messages along edges\n%u threads  %8llu   %s\n",
              static_cast<unsigned long long>(alone.statistics.messages()), threads,
              static_cast<unsigned long long>(together.statistics.messages()),
              same ? "the same distances" : "DIFFERENT");
  return same ? 0 : 1;
}
