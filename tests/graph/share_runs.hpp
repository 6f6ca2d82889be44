// SPDX-License-Identifier: Apache-2.0
// Runs on shares of a graph, in processes that are threads of the test.
#pragma once

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tutti/graph/generate.hpp"
#include "tutti/graph/run_across.hpp"

namespace tutti::test {

// A process, as run_across() sees it.
struct process {
  communicator& all;
  rank_t first, count;
  rank_t size() const { return all.size(); }
  rank_t threads() const { return count; }
  rank_t first_rank() const { return first; }
  endpoint& local(rank_t thread) { return all[first + thread]; }
};

// The result of each process.
template <class Program>
std::vector<graph::run_result<Program>> run_on_shares(const Program& program,
                                                      const std::string& rule, rank_t processes,
                                                      rank_t threads,
                                                      const graph::engine_options& engine = {}) {
  communicator comm(processes * threads);
  std::vector<graph::run_result<Program>> found(processes);
  std::vector<std::thread> all;
  for (rank_t p = 0; p < processes; ++p)
    all.emplace_back([&, p] {
      process mine{comm, p * threads, threads};
      found[p] = graph::run_across(
          program,
          graph::generate_share(
              rule, {.participants = mine.size(), .first = mine.first, .count = threads}),
          mine, {.engine = engine});
    });
  for (std::thread& each : all) each.join();
  return found;
}

}  // namespace tutti::test
