// SPDX-License-Identifier: Apache-2.0
// What the processes of a run tell each other about its results. All processes call these functions
// in the same order, after the run.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "graph_apps/settings.hpp"
#include "tutti/mpi/communicator.hpp"
#include "tutti/reduce/operations.hpp"

namespace tutti::graph_apps {

// Calls body(thread, endpoint) on a thread for each participant of this process.
void on_each_thread(mpi::communicator& comm,
                    const std::function<void(rank_t thread, mpi::endpoint& me)>& body);

// Combines the values of all processes, which are not negative; all get the result.
template <class T, class Operation>
T over_all_processes(mpi::communicator& comm, T mine, Operation op) {
  T all{};
  on_each_thread(comm, [&](rank_t thread, mpi::endpoint& me) {
    for (;;) {
      const auto now = me.idle(true, thread == 0 ? mine : T{}, op);
      if (now.result == idle_result::message) continue;
      if (thread == 0) all = now.value;
      return;
    }
  });
  return all;
}
// The same if each process has the results of its own vertices; otherwise `mine` is of all.
template <class T, class Operation>
T over_processes(const graph_input& graph, const settings& s, T mine, Operation op) {
  return graph.is_whole() ? mine : over_all_processes(*s.across, mine, op);
}

struct vertex_number {
  graph::vertex_t vertex;
  std::uint32_t number;
};

// Brings each number to the process that has the vertex, which calls take(number) on one thread.
// `blocks` are those of the share.
void bring_to_owners(mpi::communicator& comm, std::span<const graph::vertex_t> blocks,
                     std::span<const vertex_number> numbers,
                     const std::function<void(const vertex_number&)>& take);

// Calls take(columns) in the first process, with the rows of all processes in the order of their
// vertices: first its own, then portions of a few thousand rows. So no process needs memory for the
// rows of all. Each process gives those of its own vertices. An exception of take() comes out of
// the call when all rows have come.
void gather_rows(mpi::communicator& comm, const std::vector<column>& mine,
                 const std::function<void(const std::vector<column>&)>& take);

// The megabytes of this process at its peak.
double peak_megabytes();

}  // namespace tutti::graph_apps
