// SPDX-License-Identifier: Apache-2.0
// The result of a vertex program: its messages to the host, and the counts and times of the run.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tutti/graph/csr.hpp"
#include "tutti/graph/engine_options.hpp"
#include "tutti/graph/host_messages.hpp"
#include "tutti/graph/list_contents.hpp"
#include "tutti/graph/program.hpp"
#include "tutti/graph/shards.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph {

// A host that keeps all messages.
template <class Message>
class collecting_host {
 public:
  void operator()(vertex_t vertex, std::uint64_t time, const Message& content) {
    messages_.add(vertex, time, content);
  }

  // Announces `count` more messages.
  void expect(vertex_t count) { messages_.reserve(messages_.size() + count); }

  // What all hosts together have, in the order of take(). Afterwards they are empty.
  static host_messages<Message> take_all(std::span<collecting_host> hosts) {
    std::size_t count = 0;
    for (const collecting_host& each : hosts) count += each.messages_.size();
    collecting_host& all = hosts[0];
    all.messages_.reserve(count);
    for (collecting_host& each : hosts.subspan(1)) {
      all.messages_.append(each.messages_);
      each.messages_ = {};
    }
    return all.take();
  }

  // The messages by time, then by vertex; those of one vertex and time in the order of sending. The
  // order is the same for any number of participants.
  host_messages<Message> take() {
    messages_.sort();
    return std::exchange(messages_, {});
  }

 private:
  host_messages<Message> messages_;
};

// The result of a run.
template <vertex_program Program>
struct run_result {
  // Across processes the first one has those of all vertices, or each has those of its own vertices
  // (engine_options::own_results).
  host_messages<typename Program::message> host;
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

// The contents of the lists of participants that share memory, if the program gathers; otherwise
// null. Combined messages change the lists later, so then each participant has its own.
template <vertex_program Program>
std::unique_ptr<list_contents<typename Program::message>> shared_contents(
    const shards<typename Program::edge>& cut, rank_t first, rank_t count, bool combine) {
  if (!gathering_program<Program> || combine) return nullptr;
  std::vector<std::uint32_t> lists;
  for (rank_t i = 0; i < count; ++i) lists.push_back(cut[first + i].lists());
  return std::make_unique<list_contents<typename Program::message>>(first, lists);
}

}  // namespace detail
}  // namespace tutti::graph
