// SPDX-License-Identifier: Apache-2.0
// Runs a vertex program on the threads of this process.
//
//   auto result = tutti::graph::run(shortest_paths{.source = 0}, graph, {.threads = 4});
//   for (const auto& [vertex, time, distance] : result.host) ...
//
// run_alone.hpp runs the same program, unchanged, sequentially; run_across.hpp runs it across
// processes.
// These functions need the compiled libraries tutti and tutti::graph_data.
#pragma once

#include <atomic>
#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tutti/comm/communicator.hpp"
#include "tutti/graph/combine.hpp"
#include "tutti/graph/partition.hpp"
#include "tutti/graph/run_alone.hpp"
#include "tutti/graph/run_result.hpp"
#include "tutti/graph/vertex_engine.hpp"
#include "tutti/team/team.hpp"

namespace tutti::graph {

// The options of a run on threads; the defaults suit most programs.
struct run_options {
  // 0: one thread per core.
  rank_t threads = 0;
  // Participants. More than threads: virtual ranks. 0: as many as threads.
  rank_t ranks = 0;
  // A name of partition_methods(). The default balances edges, because they are the work.
  std::string partition = "edge-blocks";
  // See communicator_options, also for the two members that follow.
  std::string detector = {};
  std::string wait = "adaptive";
  bool time_idle = false;
  engine_options engine = {};
};

namespace detail {

// The first exception of any participant. The others fail because that one has failed.
class first_failure {
 public:
  // Returns whether the current exception is the first.
  bool note() {
    // acq_rel: a reader of the exception has joined the thread that wrote it; this only decides who
    // is first.
    if (any_.exchange(true, acq_rel)) return false;
    why_ = std::current_exception();
    return true;
  }
  void rethrow() const {
    if (why_) std::rethrow_exception(why_);
  }
  const std::atomic<bool>* flag() const noexcept { return &any_; }

 private:
  std::atomic<bool> any_{false};
  std::exception_ptr why_;
};

template <vertex_program Program>
run_result<Program> run_on_team(const Program& program,
                                std::span<const edge_set<typename Program::edge>> pins,
                                std::span<const rank_t> owners, team& workers,
                                const run_options& options) {
  const rank_t n = workers.size();
  run_result<Program> result;
  const auto begin = clock::now();
  const bool combine = combines_messages<Program>(options.engine);
  shards<typename Program::edge> cut(pins, owners, n, {}, workers.threads(),
                                     gathers_by_vertex<Program> && !combine, combine);
  result.cut_seconds = seconds_since(begin);

  communicator comm(
      n, {.detector = options.detector, .wait = options.wait, .time_idle = options.time_idle});
  using host = collecting_host<typename Program::message>;
  std::vector<host> hosts(n);
  first_failure failure;
  engine_options engine = options.engine;
  engine.cancelled = failure.flag();
  // No message to the host travels: each participant collects those of its vertices.
  engine.own_results = true;
  result.of_participants.resize(n);

  auto contents = shared_contents<Program>(cut, 0, n, combine);
  // It is part of the cut.
  double combining = 0;
  const auto start = clock::now();
  workers.run([&](member& me) {
    endpoint& mine = comm[me.rank()];
    try {
      if constexpr (combining_program<Program>) {
        const auto begin_of_combining = clock::now();
        if (combine) combine_messages(mine, cut, gathers_by_vertex<Program>);
        if (me.rank() == 0) combining = seconds_since(begin_of_combining);
      }
      // On the stack, so that no two participants write to one cache line.
      host own;
      // It also gets what the others have.
      if (me.rank() == 0) own.expect(cut.vertices());
      vertex_engine part(program, cut[me.rank()], cut.vertices(), mine, own, engine,
                         contents.get());
      part.run();
      hosts[me.rank()] = std::move(own);
      result.of_participants[me.rank()] = part.statistics();
    } catch (...) {
      static_cast<void>(failure.note());
      mine.leave();
    }
  });
  failure.rethrow();
  result.host = host::take_all(hosts);
  result.run_seconds = seconds_since(start) - combining;
  result.cut_seconds += combining;
  for (const auto& each : result.of_participants) result.statistics += each;
  return result;
}

}  // namespace detail

// `owners` has the participant of each vertex; if it is empty, options.partition decides. Throws
// std::invalid_argument for options and graphs that are not valid, run_late if a deadline passes,
// and whatever a handler throws.
template <vertex_program Program>
run_result<Program> run(const Program& program,
                        std::span<const edge_set<typename Program::edge>> pins,
                        const run_options& options = {}, std::span<const rank_t> owners = {}) {
  detail::require_graph_for<Program>(pins);
  require(!pins.empty() && pins[0].edges != nullptr, "a vertex program needs a graph");
  team workers(team_options{.threads = options.threads, .ranks = options.ranks});
  if (workers.size() == 1 && owners.empty()) return run_alone(program, pins, options.engine);
  if (!owners.empty()) return detail::run_on_team(program, pins, owners, workers, options);
  const std::vector<rank_t> made = partition(*pins[0].edges, workers.size(), options.partition);
  return detail::run_on_team(program, pins, made, workers, options);
}

template <vertex_program Program>
run_result<Program> run(const Program& program, const csr& graph, const run_options& options = {},
                        std::span<const rank_t> owners = {}) {
  const edge_set<typename Program::edge> all{&graph, {}};
  return run(program, std::span(&all, 1), options, owners);
}

}  // namespace tutti::graph
