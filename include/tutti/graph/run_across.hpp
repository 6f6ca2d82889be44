// SPDX-License-Identifier: Apache-2.0
// Runs a vertex program across processes. Every process calls run_across() with the same program,
// graphs and owners.
//
//   tutti::mpi::communicator comm(mpi, world, {.threads = 2});
//   auto result = tutti::graph::run_across(shortest_paths{.source = 0}, pins, owners, comm);
//   // The process of participant 0 has the messages to the host; or each process has those of its
//   // own vertices (engine_options::own_results).
//   if (comm.first_rank() == 0) ... result.host ...
//
// Every process has the whole graph while it cuts its own shards from it; afterwards it may free
// the graph. Or each process has loaded only its share (share.hpp):
//
//   auto result = tutti::graph::run_across(program, std::move(part), comm);
//
// This function needs the compiled library tutti.
#pragma once

#include <exception>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tutti/graph/combine.hpp"
#include "tutti/graph/run.hpp"
#include "tutti/graph/run_result.hpp"
#include "tutti/graph/share.hpp"
#include "tutti/graph/vertex_engine.hpp"
#include "tutti/reduce/operations.hpp"
#include "tutti/team/team.hpp"

namespace tutti::graph {

// The options of a run across processes.
struct across_options {
  engine_options engine = {};
  // Called on the thread of the first participant of this process that has failed, before the
  // others are told. It may end all processes, so that they need not report that they were told.
  // Afterwards, or without it, the participant leaves: the others, in this process and elsewhere,
  // get a std::runtime_error that names it where they wait, and the exception is thrown when those
  // of this process have ended.
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
  for (std::uint64_t* number :
       {&mine.sends, &mine.local, &mine.remote, &mine.packets, &mine.combined,
        &mine.combined_packets, &mine.host, &mine.blocked, &mine.refutations})
    add(*number);
  add(mine.idle_seconds);
  return mine;
}

// Tells the other participants where their lists begin among those that lead to this one, and hears
// the same from them. Returns the edges of all participants.
template <class Endpoint, class Edge>
edge_t agree_on_lists(Endpoint& me, shards<Edge>& cut) {
  std::vector<std::uint32_t> by_receiver(me.size(), 0);
  const auto take = [&](const received& message_in) {
    by_receiver[message_in.source] = message_in.as<std::uint32_t>();
  };
  const auto firsts = cut.first_lists(me.rank());
  for (rank_t to = 0; to < me.size(); ++to)
    if (to != me.rank()) me.send_wait(to, firsts[to], take);
  edge_t edges = 0;
  for (const std::uint32_t degree : cut[me.rank()].out_degrees) edges += degree;
  for (;;) {
    const auto now = me.idle(true, edges, plus{});
    if (now.result != idle_result::message) {
      cut.number_routes(me.rank(), by_receiver);
      return now.value;
    }
    const received message_in = me.recv();
    take(message_in);
    me.release(message_in);
  }
}

// Says in a handler what has been thrown.
inline std::string what_failed() {
  try {
    throw;
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

// Tells the others, who wait for this participant. If another process has died, they have failed,
// too, and what this participant has met first counts.
template <class Endpoint>
void leave_after_failure(Endpoint& me) noexcept {
  try {
    me.leave();
  } catch (const std::exception&) {
  }
}

// Runs the program on the shards of this process. `prepare(endpoint)` comes first on each thread.
template <class Program, class Communicator, class Prepare>
void run_shards(const Program& program, shards<typename Program::edge>& cut, Communicator& comm,
                const across_options& options, run_result<Program>& result, Prepare prepare) {
  const rank_t here = comm.threads();
  std::vector<collecting_host<typename Program::message>> hosts(here);
  first_failure failure;
  engine_options engine = options.engine;
  engine.cancelled = failure.flag();
  result.of_participants.resize(here);
  team workers(team_options{.threads = here, .place = platform::placement::none});
  auto contents = shared_contents<Program>(cut, comm.first_rank(), here, engine.combine);
  // It is part of the cut.
  double preparing = 0;
  const auto start = clock::now();
  workers.run([&](member& me) {
    auto& mine = comm.local(me.rank());
    try {
      const auto begin = clock::now();
      prepare(mine);
      if constexpr (combining_program<Program>) {
        if (options.engine.combine) combine_messages(mine, cut, gathers_by_vertex<Program>);
      }
      if (me.rank() == 0) preparing = seconds_since(begin);
      vertex_engine part(program, cut[mine.rank()], cut.vertices(), mine, hosts[me.rank()], engine,
                         contents.get());
      part.run();
      const engine_statistics of_this = part.statistics();
      const engine_statistics of_all = added_up(mine, of_this);
      result.of_participants[me.rank()] = of_this;
      if (me.rank() == 0) result.statistics = of_all;
    } catch (...) {
      if (failure.note() && options.on_failure) options.on_failure(what_failed());
      leave_after_failure(mine);
    }
  });
  result.run_seconds = seconds_since(start) - preparing;
  result.cut_seconds += preparing;
  failure.rethrow();
  result.host = std::remove_reference_t<decltype(hosts[0])>::take_all(hosts);
}

}  // namespace detail

// `Communicator` has size(), threads(), first_rank() and local(thread); see mpi/communicator.hpp.
// In the result, `statistics` covers all processes and `of_participants` covers this one. Throws
// what run() throws, and std::runtime_error if another process has died or has a participant that
// has failed.
template <vertex_program Program, class Communicator>
run_result<Program> run_across(const Program& program,
                               std::span<const edge_set<typename Program::edge>> pins,
                               std::span<const rank_t> owners, Communicator& comm,
                               const across_options& options = {}) {
  detail::require_graph_for<Program>(pins);
  run_result<Program> result;
  const auto begin = detail::clock::now();
  const bool combine = detail::combines_messages<Program>(options.engine);
  shards<typename Program::edge> cut(pins, owners, comm.size(), {comm.first_rank(), comm.threads()},
                                     comm.threads(), detail::gathers_by_vertex<Program> && !combine,
                                     combine);
  result.cut_seconds = detail::seconds_since(begin);
  detail::run_shards(program, cut, comm, options, result, [](auto&) {});
  return result;
}

// The same for a process that has only its share of the graph: that of its participants
// comm.first_rank() .. + comm.threads() - 1 of comm.size(). The result is the same, bit by bit.
// `of_weight` makes what an edge carries of its weight; edges that carry nothing, or the weight
// itself, need no such function.
// Throws std::invalid_argument also for a share of other participants, and for programs whose
// vertices wait for their neighbours: no process sees whether each edge has its reverse.
template <vertex_program Program, class Communicator>
run_result<Program> run_across(const Program& program, graph_share&& part, Communicator& comm,
                               const across_options& options = {},
                               edge_of_weight<typename Program::edge> of_weight = nullptr) {
  require(!needs_symmetric_graph<Program>(),
          "a program whose vertices wait for their neighbours needs the whole graph");
  if (part.participants() != comm.size() || part.first != comm.first_rank() ||
      part.parts.size() != comm.threads())
    refuse("the share is that of " + std::to_string(part.parts.size()) + " of " +
           std::to_string(part.participants()) + " participants from " +
           std::to_string(part.first) + " on, but this process has " +
           std::to_string(comm.threads()) + " of " + std::to_string(comm.size()) + " from " +
           std::to_string(comm.first_rank()) + " on");
  run_result<Program> result;
  const auto begin = detail::clock::now();
  const bool combine = detail::combines_messages<Program>(options.engine);
  shards<typename Program::edge> cut(std::move(part),
                                     detail::gathers_by_vertex<Program> && !combine, of_weight);
  result.cut_seconds = detail::seconds_since(begin);
  detail::run_shards(program, cut, comm, options, result, [&](auto& mine) {
    const edge_t edges = detail::agree_on_lists(mine, cut);
    if (mine.rank() == comm.first_rank()) result.edges = edges;
  });
  return result;
}

}  // namespace tutti::graph
