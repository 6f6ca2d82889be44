// SPDX-License-Identifier: Apache-2.0
// tutti-graph-compare: message passing and shared memory on the same graphs, taking turns: PageRank
// and shortest paths in the modes of the applications, and the ceiling's pull PageRank and
// delta-stepping. It prints lines of JSON, or a table of docs/graphs.md.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/harness/machine.hpp"
#include "bench/harness/page_heading.hpp"
#include "cli/errors.hpp"
#include "cli/lists.hpp"
#include "cli/options.hpp"
#include "cli/result_line.hpp"
#include "graph_apps/program/contest.hpp"
#include "graph_apps/program/page_tables.hpp"
#include "tutti/graph/generate.hpp"

namespace {

using namespace tutti;
using graph_apps::contender;

// The graph, and how many threads work on it.
struct situation {
  std::string name;
  std::uint64_t vertices, edges;
  rank_t threads;
};

void compare(const std::string& what, const situation& on, std::vector<contender> all,
             std::uint64_t rounds) {
  graph_apps::take_turns(all, rounds);
  const double best = all[0].median();
  for (const auto& each : all) {
    const double mid = each.median();
    const auto [least, most] = std::minmax_element(each.times.begin(), each.times.end());
    fmt::print("{}", cli::result_line({{"benchmark", what},
                                       {"provider", each.is_ceiling ? "ceiling" : "tutti"},
                                       {"name", each.name},
                                       {"graph", on.name},
                                       {"vertices", on.vertices},
                                       {"edges", on.edges},
                                       {"threads", on.threads},
                                       {"metric", "wall"},
                                       {"min", *least * 1e9},
                                       {"median", mid * 1e9},
                                       {"max", *most * 1e9},
                                       {"samples", each.times.size()},
                                       {"edges_per_second", each.edges / mid},
                                       {"of_ceiling", best / mid}}));
  }
}

void print_lines(const graph_apps::page_plan& plan) {
  for (const auto& name : plan.graphs) {
    graph::csr g = graph_apps::graph_of(name, plan.threads);
    const situation on{name, g.vertices, g.edges(), plan.threads};
    compare("pagerank", on, graph_apps::pagerank_contenders(g, plan.threads, plan.iterations),
            plan.rounds);
    if (!g.weighted()) graph::set_random_weights(g, graph::weight_kind::integer, 1, 255, 1);
    compare("sssp", on, graph_apps::paths_contenders(g, plan.threads), plan.rounds);
  }
}

void print_page(const graph_apps::page_plan& plan,
                std::string (*table)(const graph_apps::page_plan&)) {
  cli::json machine = bench::describe_machine();
  const auto begin = bench::read_processor_time();
  const std::string text = table(plan);
  machine["foreign_load"] = bench::noise_between(begin, bench::read_processor_time()).foreign_load;
  fmt::print("{}\n{}", bench::page_heading(machine), text);
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::string (*)(const graph_apps::page_plan&)> tables{
      {"pagerank", graph_apps::pagerank_table},
      {"paths", graph_apps::paths_table},
      {"applications", graph_apps::applications_table},
      {"combining", graph_apps::combining_table}};
  graph_apps::page_plan plan;
  std::string table;
  cli::program program(
      "PageRank and shortest paths by messages beside loops in shared memory, taking turns",
      "tutti-graph-compare");
  program.add_option("graphs", plan.graphs, "Files, or rules such as kron:scale=16,degree=16")
      .required();
  program.add_option("--threads", plan.threads, "Number of threads")
      .show_default()
      .between(1, 4096);
  program.add_option("--iterations", plan.iterations, "Iterations of PageRank")
      .show_default()
      .between(1, 1'000'000);
  program.add_option("--rounds", plan.rounds, "Runs of each").show_default().between(1, 1'000'000);
  program
      .add_option("--table", table,
                  "A table of the documentation instead of lines of JSON; applications and "
                  "combining take one graph")
      .one_of({"pagerank", "paths", "applications", "combining"});
  program.add_flag("--form", plan.is_form, "With --table: without figures; nothing is measured");
  return program.run(argc, argv, [&] {
    table.empty() ? print_lines(plan) : print_page(plan, tables.at(table));
    return cli::success;
  });
}
