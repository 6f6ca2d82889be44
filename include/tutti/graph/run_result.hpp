// SPDX-License-Identifier: Apache-2.0
// What a vertex program leaves behind: its messages to the host, and what the run took.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tutti/graph/csr.hpp"
#include "tutti/graph/engine_options.hpp"
#include "tutti/graph/program.hpp"
#include "tutti/graph/shards.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph {

template <class Message>
struct host_message {
  vertex_t vertex;
  std::uint64_t time;  // the vertex's time() when it was sent
  Message content;
};

// A host that keeps everything.
template <class Message>
class collecting_host {
 public:
  void operator()(vertex_t vertex, std::uint64_t time, const Message& content) {
    messages_.push_back({vertex, time, content});
  }

  // That many more may come.
  void expect(vertex_t count) { messages_.reserve(messages_.size() + count); }

  // By time, then by vertex, those of one vertex and time as they were sent: the same for any number of participants.
  std::vector<host_message<Message>> take() {
    std::stable_sort(messages_.begin(), messages_.end(), [](const auto& a, const auto& b) {
      return std::pair(a.time, a.vertex) < std::pair(b.time, b.vertex);
    });
    return std::move(messages_);
  }

 private:
  std::vector<host_message<Message>> messages_;
};

template <vertex_program Program>
struct run_result {
  std::vector<host_message<typename Program::message>> host;
  engine_statistics statistics;                    // added up
  std::vector<engine_statistics> of_participants;  // by rank
  double cut_seconds = 0;                          // to cut the graph into shards
  double run_seconds = 0;                          // from the first init() to the last finish()
};

namespace detail {

using clock = std::chrono::steady_clock;
inline double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

template <vertex_program Program>
void require_graph_for(std::span<const edge_set<typename Program::edge>> pins) {
  if constexpr (needs_symmetric_graph<Program>()) {
    for (const auto& set : pins) {
      if (set.edges == nullptr) continue;
      if (const auto edge = find_one_way(*set.edges))
        refuse(
            "this program's vertices wait for their neighbours, which needs a symmetric graph: the "
            "edge from " +
            std::to_string(edge->from) + " to " + std::to_string(edge->to) +
            " has no reverse (symmetrized(graph, 0.0f) adds them)");
    }
  }
}

}  // namespace detail
}  // namespace tutti::graph
