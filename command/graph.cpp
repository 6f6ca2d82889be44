// SPDX-License-Identifier: Apache-2.0
// `tutti graph`: runs one of the applications of Naylor et al. 2020 on a graph.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "cli/errors.hpp"
#include "cli/lists.hpp"
#include "cli/progress.hpp"
#include "command/graph_options.hpp"
#include "command/graph_output.hpp"
#include "command/subcommands.hpp"
#include "graph_apps/apps/processes.hpp"
#include "src/mpi/launch.hpp"
#include "tutti/comm/communicator.hpp"
#include "tutti/graph/generate.hpp"
#include "tutti/graph/load.hpp"
#include "tutti/graph/partition.hpp"
#include "tutti/graph/share.hpp"
#include "tutti/mpi/communicator.hpp"

namespace tutti::command {
namespace {

using graph_apps::application;

const application& application_named(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& each : graph_apps::applications()) {
    if (each.name == name) return each;
    known.push_back(each.name);
  }
  throw std::invalid_argument(fmt::format("'{}' is not an application; there are {}{}", name,
                                          fmt::join(known, ", "), cli::suggestion(name, known)));
}

bool is_generator(const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  for (const auto& each : graph::generators())
    if (each.name == name) return true;
  return false;
}

bool is_rule(const graph_command& o) {
  return is_generator(o.graph) && !std::filesystem::exists(o.graph);
}

// Either a rule or a file that is there.
void require_graph(const graph_command& o) {
  if (is_rule(o)) {
    for (const std::string_view option : {"--format", "--vertices-at-most"})
      if (std::find(o.given.begin(), o.given.end(), option) != o.given.end())
        throw std::invalid_argument(fmt::format("{}: {} is a rule and no file", option, o.graph));
    return;
  }
  if (std::filesystem::exists(o.graph)) return;
  std::vector<std::string> known;
  for (const auto& each : graph::generators()) known.emplace_back(each.name);
  throw std::invalid_argument(
      fmt::format("{}: there is no such file, and no such rule for a graph{}", o.graph,
                  cli::suggestion(o.graph.substr(0, o.graph.find(':')), known)));
}

// The spiking network takes weights of either sign, as does whatever ignores them.
bool takes_negative_weights(const application& app) {
  return app.name == "spiking" || !app.takes_weights;
}

graph::load_options load_options_of(const graph_command& o, const application& app,
                                    unsigned threads) {
  return {.format = graph::format_named(o.format),
          .negative_weights = takes_negative_weights(app),
          .vertices_at_most = vertices_at_most_of(o),
          .threads = threads};
}

graph::csr graph_from(const graph_command& o, const application& app, unsigned threads) {
  if (is_rule(o)) return graph::generate(o.graph, threads);
  return graph::load(o.graph, load_options_of(o, app, threads));
}

// What this process needs of the graph.
graph::graph_share share_from(const graph_command& o, const application& app,
                              const mpi::launch& where, rank_t threads) {
  const auto all = static_cast<rank_t>(where.size) * threads;
  const graph::share_request mine{.participants = all,
                                  .first = static_cast<rank_t>(where.rank) * threads,
                                  .count = threads,
                                  .partition = o.partition,
                                  .weights = app.takes_weights,
                                  .both_ways = app.both_ways,
                                  .negative_weights = takes_negative_weights(app)};
  if (is_rule(o)) return graph::generate_share(o.graph, mine, threads);
  return graph::load_share(o.graph, load_options_of(o, app, threads), mine);
}

// Everything that needs the other processes, in the order in which it must end.
struct processes {
  std::unique_ptr<mpi::library> library;
  std::unique_ptr<mpi::communicator> comm;
};

processes join(const graph_command& o, unsigned threads) {
  processes made;
  const auto how = mpi::find_launch();
  if (!how || how->size == 1) return made;
  made.library = std::make_unique<mpi::library>(*how, threads > 1);
  mpi::options chosen;
  chosen.threads = threads;
  if (!o.detector.empty()) chosen.detector = o.detector;
  chosen.processes_per_node = processes_per_node_of(o);
  chosen.time_idle = true;
  const mpi::calls& calls = made.library->functions();
  made.comm = std::make_unique<mpi::communicator>(calls, calls.world, chosen);
  return made;
}

std::string what_runs(const application& app, std::uint64_t time, std::uint64_t sends) {
  return fmt::format("{}: step {}, {} sends by the first participant", app.name, time, sends);
}

// The peaks of this process, or of the first one and of the largest other one.
void measure_memory(const graph_apps::settings& s, graph_apps::outcome& outcome) {
  outcome.megabytes = outcome.most_megabytes = graph_apps::peak_megabytes();
  if (s.across == nullptr) return;
  const double mine = outcome.megabytes;
  const bool is_first = s.across->first_rank() == 0;
  outcome.megabytes = graph_apps::over_all_processes(*s.across, is_first ? mine : 0.0, maximum{});
  outcome.most_megabytes =
      graph_apps::over_all_processes(*s.across, is_first ? 0.0 : mine, maximum{});
}

int run_application(const graph_command& o) {
  const application& app = application_named(o.application);
  graph_apps::settings s = settings_of(o, app);
  const bool many = mpi::find_launch().value_or(mpi::launch{}).size > 1;
  // Under mpirun one thread a process, unless more are asked for.
  if (many && s.run.threads == 0) s.run.threads = 1;
  if (many && s.run.ranks != 0)
    throw std::invalid_argument(
        "--ranks: virtual ranks are for one process; under mpirun ask for more processes");
  // Wrong names are refused by one thread too, which has no use for right ones.
  graph::partition(graph::csr{}, 1, o.partition);
  if (!many && !o.detector.empty()) communicator(2, {.detector = o.detector});
  require_graph(o);
  require_writable(o, !is_rule(o));
  if (many && s.mode == graph_apps::mode::sequential)
    throw std::invalid_argument(
        "--mode sequential: a loop of one thread has no use for several processes");
  const bool shares = many && app.runs_on_shares(s.mode) && graph::can_share(o.partition);
  graph::csr whole;
  graph::graph_share part;
  if (shares)
    part = share_from(o, app, *mpi::find_launch(), s.run.threads);
  else
    whole = graph_from(o, app, std::max(1u, s.run.threads));
  const auto graph = shares ? graph_apps::graph_input(part) : graph_apps::graph_input(whole);

  const processes all = join(o, s.run.threads);
  s.across = all.comm.get();
  const bool speaks = s.across == nullptr || s.across->first_rank() == 0;
  if (s.across != nullptr)
    s.on_failure = [&all](const std::string& what) {
      cli::complain("tutti", what, cli::failed);
      all.library->abort(cli::failed);
    };
  cli::progress_line line;
  if (speaks)
    s.run.engine.progress = [&](std::uint64_t time, std::uint64_t sends) {
      const double share =
          s.steps == 0 ? 0 : static_cast<double>(time) / static_cast<double>(s.steps);
      line.update(what_runs(app, time, sends), share < 1 ? share : 1);
    };
  graph_apps::outcome outcome = [&] {
    try {
      return app.run(graph, s);
    } catch (const std::bad_alloc&) {
      // The states of the vertices and the shares of the participants come on top of the graph.
      throw std::runtime_error(
          fmt::format("{}: there is not enough memory for {} on {} of its {} vertices{}", o.graph,
                      app.name, shares ? "a share" : "all", graph.vertices(),
                      shares ? std::string() : fmt::format(" and {} edges", whole.edges())));
    }
  }();
  measure_memory(s, outcome);
  const graph::vertex_t vertices = graph.vertices();
  if (shares || speaks) write_output(o, outcome, vertices, shares ? s.across : nullptr);
  if (!speaks) return cli::success;
  const graph_facts facts{graph.vertices(), shares ? outcome.graph_edges : whole.edges(),
                          graph.weighted(), shares};
  if (o.json)
    print_json(o, app, s, facts, outcome);
  else
    print_table(o, app, s, facts, outcome);
  return cli::success;
}

int run_and_explain(const graph_command& o) {
  try {
    return run_application(o);
  } catch (const std::invalid_argument&) {
    // All processes find the same mistake; the first one tells.
    if (mpi::find_launch().value_or(mpi::launch{}).rank > 0) return cli::wrong_usage;
    throw;
  }
}

int list_applications() {
  for (const auto& each : graph_apps::applications())
    fmt::print("{:<10} {}{}\n", each.name, each.meaning,
               each.steps_meaning.empty()
                   ? ""
                   : fmt::format(" ({} {} unless --iterations says otherwise)", each.usual_steps,
                                 each.steps_meaning));
  fmt::print(
      "\nA graph is a file (edge list, weighted edge list, Matrix Market, GAP, METIS) or a "
      "rule:\n{}",
      graph::generators_help());
  return cli::success;
}

}  // namespace

void add_graph(cli::command& program) {
  auto o = std::make_shared<graph_command>();
  cli::command app = program.add_subcommand(
      "graph", "Vertex-centric applications on messages and the refutable barrier");
  add_graph_options(app, *o);
  app.runs([o, app] {
    o->given = app.given();
    if (o->list) return list_applications();
    if (!o->application.empty()) application_named(o->application);
    if (o->application.empty() || o->graph.empty())
      throw std::invalid_argument(
          "graph needs an application and a graph; see `tutti graph --list`");
    return run_and_explain(*o);
  });
}

}  // namespace tutti::command
