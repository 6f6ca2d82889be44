// SPDX-License-Identifier: Apache-2.0
// The result of a vertex program: its messages to the host, and the counts and times of the run.
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

// A message of a vertex to the host.
template <class Message>
struct host_message {
  vertex_t vertex;
  // The vertex's time() when it sent the message.
  std::uint64_t time;
  Message content;
};

// A host that keeps all messages.
template <class Message>
class collecting_host {
 public:
  void operator()(vertex_t vertex, std::uint64_t time, const Message& content) {
    messages_.push_back({vertex, time, content});
  }

  // Announces `count` more messages.
  void expect(vertex_t count) { messages_.reserve(messages_.size() + count); }

  // What all hosts together have, in the order of take(). Afterwards they are empty.
  static std::vector<host_message<Message>> take_all(std::span<collecting_host> hosts) {
    std::size_t count = 0;
    for (const collecting_host& each : hosts) count += each.messages_.size();
    collecting_host& all = hosts[0];
    all.messages_.reserve(count);
    for (collecting_host& each : hosts.subspan(1)) {
      all.messages_.insert(all.messages_.end(), each.messages_.begin(), each.messages_.end());
      std::vector<host_message<Message>>().swap(each.messages_);
    }
    return all.take();
  }

  // The messages by time, then by vertex; those of one vertex and time in the order of sending. The
  // order is the same for any number of participants.
  std::vector<host_message<Message>> take() {
    const auto is_before = [](const auto& a, const auto& b) {
      return std::pair(a.time, a.vertex) < std::pair(b.time, b.vertex);
    };
    // Sorting needs half as much memory again.
    if (!std::is_sorted(messages_.begin(), messages_.end(), is_before))
      std::stable_sort(messages_.begin(), messages_.end(), is_before);
    return std::move(messages_);
  }

 private:
  std::vector<host_message<Message>> messages_;
};

// The result of a run.
template <vertex_program Program>
struct run_result {
  // Across processes the first one has those of all vertices, or each has those of its own vertices
  // (engine_options::own_results).
  std::vector<host_message<typename Program::message>> host;
  // The sum over all participants.
  engine_statistics statistics;
  // By rank.
  std::vector<engine_statistics> of_participants;
  // The edges of the graph, of all processes together, if each had only its share; otherwise 0.
  edge_t edges = 0;
  // Seconds to cut the graph into shards.
  double cut_seconds = 0;
  // Seconds from the first init() to the last finish(), in one process until the host has all
  // messages.
  double run_seconds = 0;
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

// Whether messages are to be combined; only where the program says how.
template <vertex_program Program>
bool combines_messages(const engine_options& options) {
  if (options.combine && !combining_program<Program>)
    refuse("messages of this program cannot be combined: it has no combine()");
  return options.combine;
}

}  // namespace detail
}  // namespace tutti::graph
