// SPDX-License-Identifier: Apache-2.0
// Runs a vertex program across processes. Every process calls run_across() with the same program,
// graphs and owners.
//
//   tutti::mpi::communicator comm(mpi, world, {.threads = 2});
//   auto result = tutti::graph::run_across(shortest_paths{.source = 0}, pins, owners, comm);
//   // The process of participant 0 has the messages to the host.
//   if (comm.first_rank() == 0) ... result.host ...
//
// Every process has the whole graph while it cuts its own shards from it; afterwards it may free
// the graph.
// This function needs the compiled library tutti.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tutti/graph/run.hpp"
#include "tutti/graph/run_result.hpp"
#include "tutti/graph/vertex_engine.hpp"
#include "tutti/reduce/operations.hpp"
#include "tutti/team/team.hpp"

namespace tutti::graph {

// The options of a run across processes.
struct across_options {
  engine_options engine = {};
  // Called on the thread of a participant that has failed, before anybody waits for it: the other
  // processes cannot know of the failure. It is expected to end them all. Without it, the exception
  // is thrown when the participants of this process have ended.
  std::function<void(const std::string& what)> on_failure = {};
};

namespace detail {

// Adds up the statistics of all participants; every participant gets the sums.
template <class Endpoint>
engine_statistics added_up(Endpoint& me, engine_statistics mine) {
  const auto add = [&](auto& number) {
    for (;;) {
      const auto now = me.idle(true, number, plus{});
      if (now.result == idle_result::message) continue;
      number = now.value;
      return;
    }
  };
  for (std::uint64_t* number : {&mine.sends, &mine.local, &mine.remote, &mine.packets, &mine.host,
                                &mine.blocked, &mine.refutations})
    add(*number);
  add(mine.idle_seconds);
  return mine;
}

}  // namespace detail

// `Communicator` has size(), threads(), first_rank() and local(thread); see mpi/communicator.hpp.
// In the result, `statistics` covers all processes and `of_participants` covers this one. Throws
// what run() throws, and std::runtime_error if another process has died.
template <vertex_program Program, class Communicator>
run_result<Program> run_across(const Program& program,
                               std::span<const edge_set<typename Program::edge>> pins,
                               std::span<const rank_t> owners, Communicator& comm,
                               const across_options& options = {}) {
  detail::require_graph_for<Program>(pins);
  const rank_t here = comm.threads();
  run_result<Program> result;
  const auto begin = detail::clock::now();
  const shards<typename Program::edge> cut(pins, owners, comm.size(), {comm.first_rank(), here},
                                           here, detail::gathers_by_vertex<Program>);
  result.cut_seconds = detail::seconds_since(begin);

  collecting_host<typename Program::message> host;
  detail::first_failure failure;
  engine_options engine = options.engine;
  engine.cancelled = failure.flag();
  result.of_participants.resize(here);
  team workers(team_options{.threads = here, .place = platform::placement::none});
  const auto start = detail::clock::now();
  workers.run([&](member& me) {
    auto& mine = comm.local(me.rank());
    try {
      vertex_engine part(program, cut[mine.rank()], cut.vertices(), mine, host, engine);
      part.run();
      const engine_statistics of_this = part.statistics();
      const engine_statistics of_all = detail::added_up(mine, of_this);
      result.of_participants[me.rank()] = of_this;
      if (me.rank() == 0) result.statistics = of_all;
    } catch (const std::exception& e) {
      failure.note();
      if (options.on_failure) options.on_failure(e.what());
    }
  });
  result.run_seconds = detail::seconds_since(start);
  failure.rethrow();
  result.host = host.take();
  return result;
}

}  // namespace tutti::graph
