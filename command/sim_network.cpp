// SPDX-License-Identifier: Apache-2.0
// `tutti sim network`: barriers in networks of up to a million nodes.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/harness/statistics.hpp"
#include "cli/errors.hpp"
#include "cli/json.hpp"
#include "cli/lists.hpp"
#include "command/sim.hpp"
#include "network/simulate.hpp"

namespace tutti::command {
namespace {

struct network_options {
  std::string topologies = "all";
  std::string nodes = "8,64,1024";
  network::simulation_plan plan{.episodes = 10};
  bool markdown = false;
  bool json = false;
};

std::vector<unsigned> topologies_of(const std::string& text) {
  std::vector<unsigned> found;
  if (text == "all") {
    for (unsigned t = network::first_topology; t <= network::last_topology; ++t) found.push_back(t);
    return found;
  }
  for (const std::string& name : cli::split("--topology", text))
    found.push_back(network::topology_named(name));
  return found;
}

bench::summary times_of(const network::simulated_barrier& run) {
  return bench::summarize({run.last_in_to_last_out.begin(), run.last_in_to_last_out.end()});
}

void print_line(const network_options& o, const network::simulation_plan& plan,
                const network::simulated_barrier& run) {
  const bench::summary s = times_of(run);
  const std::string topology(network::topology_names[plan.topology]);
  if (o.json) {
    fmt::print("{}\n", cli::json{{"type", "sim_network"},
                                 {"topology", topology},
                                 {"nodes", plan.nodes},
                                 {"episodes", plan.episodes},
                                 {"overhead_ns", plan.overhead},
                                 {"latency_ns", plan.latency},
                                 {"jitter_ns", plan.jitter},
                                 {"imbalance_ns", plan.imbalance},
                                 {"late_ns", plan.late},
                                 {"lose", plan.lose},
                                 {"repeat_after_ns", plan.repeat_after},
                                 {"seed", plan.seed},
                                 {"least_ns", s.min},
                                 {"median_ns", s.median},
                                 {"most_ns", s.max},
                                 {"packets", run.packets},
                                 {"lost", run.lost},
                                 {"repeated_calls", run.repeated_calls},
                                 {"events", run.events}}
                           .dump());
  } else {
    fmt::print("{:<14} {:>8} {:>13.1f} {:>13.1f} {:>13.1f} {:>13} {:>11} {:>11}\n", topology,
               plan.nodes, s.min / 1e3, s.median / 1e3, s.max / 1e3, run.packets, run.lost,
               run.repeated_calls);
  }
  std::fflush(stdout);
}

void print_header() {
  fmt::print(
      "µs from the last call to the last release; each node executes its table by the state "
      "machine of the kernel's programs\n{:<14} {:>8} {:>13} {:>13} {:>13} {:>13} {:>11} {:>11}\n",
      "topology", "nodes", "least µs", "median µs", "most µs", "packets", "lost", "calls again");
}

void print_refusal(const network_options& o, const network::simulation_plan& plan,
                   const std::string& reason) {
  const std::string topology(network::topology_names[plan.topology]);
  if (o.json)
    fmt::print("{}\n", cli::json{{"type", "skipped"},
                                 {"benchmark", "sim_network"},
                                 {"topology", topology},
                                 {"nodes", plan.nodes},
                                 {"reason", reason}}
                           .dump());
  else
    fmt::print("{:<14} {:>8} not possible: {}\n", topology, plan.nodes, reason);
}

// Medians in a table of the documentation, a row for each topology.
void print_markdown(const std::vector<std::uint32_t>& counts,
                    const std::vector<unsigned>& topologies,
                    const std::vector<std::string>& cells) {
  fmt::print("| µs |");
  for (const std::uint32_t nodes : counts) fmt::print(" {} nodes |", nodes);
  fmt::print("\n|---|");
  for (std::size_t i = 0; i < counts.size(); ++i) fmt::print("--:|");
  auto cell = cells.begin();
  for (const unsigned topology : topologies) {
    fmt::print("\n| {} |", network::topology_names[topology]);
    for (std::size_t i = 0; i < counts.size(); ++i) fmt::print(" {} |", *cell++);
  }
  fmt::print("\n");
}

int run_network(const network_options& o) {
  const std::vector<unsigned> topologies = topologies_of(o.topologies);
  const auto counts = cli::parse_counts("--nodes", o.nodes, 1'000'000);
  if (!o.json && !o.markdown) print_header();
  std::vector<std::string> cells;
  bool any = false;
  for (const unsigned topology : topologies) {
    for (const std::uint32_t nodes : counts) {
      network::simulation_plan plan = o.plan;
      plan.topology = topology;
      plan.nodes = nodes;
      try {
        const network::simulated_barrier run = network::barrier_simulation(plan).run();
        any = true;
        if (o.markdown)
          cells.push_back(fmt::format("{:.1f}", times_of(run).median / 1e3));
        else
          print_line(o, plan, run);
      } catch (const std::invalid_argument& e) {
        if (o.markdown)
          cells.push_back("-");
        else
          print_refusal(o, plan, e.what());
      }
    }
  }
  if (o.markdown) print_markdown(counts, topologies, cells);
  return any ? cli::success : cli::failed;
}

}  // namespace

void add_sim_network(cli::command& sim) {
  auto o = std::make_shared<network_options>();
  cli::command c =
      sim.add_subcommand("network", "Barriers in the network, with up to a million nodes");
  c.runs([o] { return run_network(*o); });
  const cli::option json =
      c.add_flag("--json", o->json, "One JSON object a line instead of the table");
  c.add_flag("--markdown", o->markdown, "The medians as a table of the documentation")
      .excludes(json);
  c.add_option("--topology", o->topologies,
               "all, or some of ring, tree, star, butterfly, dissemination, switch")
      .value_name("LIST")
      .show_default();
  c.add_option("--nodes", o->nodes, "Numbers of nodes, up to 1000000")
      .value_name("LIST")
      .show_default();
  c.add_option("--episodes", o->plan.episodes, "Barriers").between(1u, 1'000'000u).show_default();
  const auto add_time = [&](const char* name, sim::sim_time& value, const char* what,
                            sim::sim_time least = 0) {
    c.add_option(name, value, what)
        .value_name("NS")
        .between(least, sim::sim_time{10'000'000'000})
        .show_default();
  };
  add_time("--overhead", o->plan.overhead,
           "ns that a node takes for each packet that it receives or sends");
  add_time("--latency", o->plan.latency, "ns of a packet's way");
  add_time("--jitter", o->plan.jitter, "A packet's way takes up to so many ns more, at random");
  add_time("--imbalance", o->plan.imbalance,
           "A host calls up to so many ns after its last release, at random");
  add_time("--late", o->plan.late, "The last host calls so many ns after the others");
  add_time("--repeat-after", o->plan.repeat_after,
           "If packets are lost, a host repeats its call after so many ns, and then each time "
           "after twice as many",
           1);
  c.add_option("--lose", o->plan.lose, "Part of the packets that are lost")
      .between(0.0, 0.9)
      .show_default();
  c.add_option("--seed", o->plan.seed, "Seed of all that is random").show_default();
}

}  // namespace tutti::command
