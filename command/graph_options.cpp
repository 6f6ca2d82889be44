// SPDX-License-Identifier: Apache-2.0
// The options of `tutti graph`, read and checked.
#include "command/graph_options.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <stdexcept>

#include "cli/lists.hpp"
#include "graph_apps/programs/noise.hpp"
#include "tutti/graph/load.hpp"
#include "tutti/platform/names.hpp"
#include "tutti/termination/list.hpp"

namespace tutti::command {
namespace {

using graph_apps::mode;

constexpr std::uint64_t most_threads = 4095;
constexpr double any = 1e300;

mode mode_named(const std::string& name) {
  if (name == "sync") return mode::sync;
  if (name == "async") return mode::async;
  if (name == "sequential") return mode::sequential;
  throw std::invalid_argument(
      fmt::format("--mode: '{}' is not one of sync, async, sequential", name));
}

graph::send_order order_named(const std::string& name) {
  if (name == "fifo") return graph::send_order::first_in_first_out;
  if (name == "lifo") return graph::send_order::last_in_first_out;
  throw std::invalid_argument(fmt::format("--order: '{}' is not one of fifo, lifo", name));
}

// Whether a list such as "sync, async" has this name.
bool names(std::string_view list, std::string_view name) {
  return fmt::format(" {},", list).find(fmt::format(" {},", name)) != std::string::npos;
}

// What an option is of no use for is refused: nobody should think that it had an effect.
void require_useful(const graph_command& o, const graph_apps::application& app) {
  struct particular {
    std::string_view option, of;
  };
  constexpr particular applications[] = {
      {"--source", "sssp, bfs, mssp, heat"},
      {"--sources", "mssp"},
      {"--damping", "pagerank"},
      {"--tolerance", "pagerank"},
      {"--single", "pagerank"},
      {"--block", "mssp"},
      {"--step", "heat"},
      {"--noise", "spiking"},
      {"--input", "spiking"},
      {"--variety", "spiking"},
      {"--coupling", "spiking"},
      {"--euler", "spiking"},
      {"--spikes", "spiking"},
      {"--combine", "pagerank, sssp, bfs, components"},
      {"--seed", "spiking, heat"},
  };
  // A plain loop has no participants that send messages.
  constexpr particular modes[] = {
      {"--ranks", "sync, async"},     {"--detector", "sync, async"},
      {"--partition", "sync, async"}, {"--order", "sync, async"},
      {"--combine", "sync, async"},   {"--timeout", "sync, async"},
      {"--stats", "sync, async"},     {"--processes-per-node", "sync, async"},
      {"--block", "async"},
  };
  const auto check = [&o](const auto& all, std::string_view what, std::string_view name) {
    for (const auto& given : o.given)
      for (const auto& each : all)
        if (each.option == given && !names(each.of, name))
          throw std::invalid_argument(
              fmt::format("{}: an option of {}{}, not of {}", given, what, each.of, name));
  };
  check(applications, "", app.name);
  check(modes, "--mode ", o.mode);
}

// "3", "3,5,8"; or, for mssp, the first so many vertices.
std::vector<graph::vertex_t> sources_of(const graph_command& o,
                                        const graph_apps::application& app) {
  std::vector<graph::vertex_t> made;
  if (app.name == "heat" && o.source.empty()) return made;
  if (!o.source.empty() && !o.sources.empty())
    throw std::invalid_argument("--source, --sources: only one of them");
  if (app.name == "mssp" && !o.sources.empty()) {
    const auto count = cli::parse_integer("--sources", o.sources, 1, 1u << 20);
    for (std::uint64_t i = 0; i < count; ++i) made.push_back(static_cast<graph::vertex_t>(i));
    return made;
  }
  for (const auto& item : cli::split("--source", o.source.empty() ? "0" : o.source))
    made.push_back(static_cast<graph::vertex_t>(
        cli::parse_integer("--source", item, 0, graph::most_vertices)));
  return made;
}

}  // namespace

void add_graph_options(cli::command& app, graph_command& o) {
  app.add_option("application", o.application,
                 "pagerank, sssp, bfs, components, mssp, spiking, heat");
  app.add_option("graph", o.graph,
                 "A file, or a generator such as kron:scale=16,degree=16; see --list");
  app.add_option("--format", o.format, "Format of a file: auto (default), el, wel, mtx, gap, metis")
      .value_name("FORMAT");
  app.add_option("--vertices-at-most", o.vertices_at_most,
                 "Refuse a file of more vertices, which take 8 bytes each; default 268435456")
      .value_name("N");
  app.add_option("--mode", o.mode,
                 "sync (default), async (a vertex waits for its neighbours only; sssp, bfs, "
                 "components: for none), sequential")
      .value_name("MODE");
  app.add_option("--threads", o.threads,
                 "Number of threads; 0, the default: one for each core; under mpirun 1 for each "
                 "process; in the mode sequential those that read or make the graph")
      .value_name("N");
  app.add_option("--ranks", o.ranks,
                 "Number of participants; if there are more than threads, they are virtual ranks")
      .value_name("N");
  app.add_option("--detector", o.detector,
                 "Termination detector: " + tutti::detail::names_of(detectors) +
                     "; under mpirun one of " + tutti::detail::names_of(protocol::algorithms) +
                     "; default: tutti chooses")
      .value_name("NAME");
  app.add_option("--partition", o.partition,
                 "edge-blocks (default), blocks, random, streaming (fennel), ldg, metis")
      .value_name("NAME");
  app.add_option("--order", o.order, "Order in which vertices send: fifo (default), lifo")
      .value_name("ORDER");
  app.add_flag(
      "--combine", o.combine,
      "pagerank (sync), sssp, bfs, components: combines messages to the same vertex before "
      "they are sent, where that makes fewer of them");
  app.add_option("--iterations,--time", o.iterations,
                 "Number of iterations, steps or milliseconds; see --list")
      .value_name("N");
  app.add_option("--source", o.source,
                 "sssp, bfs: one vertex; mssp, heat (hot vertices): several, separated by commas")
      .value_name("LIST");
  app.add_option("--sources", o.sources, "mssp: start from vertices 0 to this number minus one")
      .value_name("N");
  app.add_option("--damping", o.damping, "pagerank: damping factor; default 0.85")
      .value_name("NUMBER");
  app.add_option("--tolerance", o.tolerance,
                 "pagerank, not async: ends when no rank changes by more than this times 1/n")
      .value_name("NUMBER");
  app.add_flag("--single", o.single,
               "pagerank: messages of 4 bytes instead of 8, and ranks rounded to 24 bits");
  app.add_option("--block", o.block,
                 "mssp, async: number of steps between two checks for the end; default 16")
      .value_name("N");
  app.add_option("--step", o.step, "heat: time step; default: half of the largest stable one")
      .value_name("NUMBER");
  app.add_option("--noise", o.noise, "spiking: factor on the noise of Izhikevich 2003; default 1")
      .value_name("NUMBER");
  app.add_option("--input", o.input, "spiking: a constant current; default 0").value_name("NUMBER");
  app.add_option("--variety", o.variety, "spiking: 0 makes all neurons of a kind alike; default 1")
      .value_name("NUMBER");
  app.add_option("--coupling", o.coupling, "spiking: factor on all currents; default 1")
      .value_name("NUMBER");
  app.add_flag("--euler", o.euler,
               "spiking: one step of v and u from the old values, instead of two half ones of v");
  app.add_option("--seed", o.seed, "Seed of noise, currents and temperatures; default 1")
      .value_name("N");
  app.add_option("--timeout", o.timeout,
                 "Seconds that a participant waits for the others; 0, the default: no limit")
      .value_name("SECONDS");
  app.add_option(
         "--processes-per-node", o.processes_per_node,
         "Under mpirun: each so many processes count as a node, and nothing but packets goes "
         "from node to node, as on several machines; 0, the default: as they lie")
      .value_name("N");
  app.add_option("--output", o.output, "FILE.csv or FILE.npy: one row for each vertex")
      .value_name("FILE");
  app.add_option("--spikes", o.spikes, "spiking: FILE.csv, a line a spike").value_name("FILE");
  const cli::option stats = app.add_flag("--stats", o.stats, "What each participant did");
  const cli::option json = app.add_flag("--json", o.json, "One JSON object a line").excludes(stats);
  app.add_flag("--list", o.list, "The applications and the rules for graphs").excludes(json);
}

std::uint32_t processes_per_node_of(const graph_command& o) {
  return static_cast<std::uint32_t>(
      cli::parse_integer("--processes-per-node", o.processes_per_node, 0, 1u << 20));
}

graph::vertex_t vertices_at_most_of(const graph_command& o) {
  if (o.vertices_at_most.empty()) return graph::load_options{}.vertices_at_most;
  return static_cast<graph::vertex_t>(
      cli::parse_integer("--vertices-at-most", o.vertices_at_most, 0, graph::most_vertices));
}

graph_apps::settings settings_of(const graph_command& o, const graph_apps::application& app) {
  graph_apps::settings s;
  s.mode = mode_named(o.mode);
  require_useful(o, app);
  processes_per_node_of(o);
  vertices_at_most_of(o);
  s.run.threads = static_cast<rank_t>(cli::parse_integer("--threads", o.threads, 0, most_threads));
  s.run.ranks = static_cast<rank_t>(cli::parse_integer("--ranks", o.ranks, 0, most_threads));
  s.run.partition = o.partition;
  s.run.detector = o.detector;
  s.run.time_idle = true;
  s.run.engine.order = order_named(o.order);
  s.run.engine.combine = o.combine;
  if (o.combine && app.name == "pagerank" && s.mode == mode::async)
    throw std::invalid_argument(
        "--combine: in the mode async PageRank's vertices count their messages, so that none may "
        "be combined");
  const double timeout = cli::parse_number("--timeout", o.timeout, 0, 1e9);
  // 0 is no limit, and the least time one.
  s.run.engine.deadline =
      std::chrono::nanoseconds(static_cast<std::int64_t>(std::ceil(timeout * 1e9)));
  if (!o.iterations.empty() && app.steps_meaning.empty())
    throw std::invalid_argument(fmt::format("--iterations: {} ends by itself", app.name));
  s.steps = o.iterations.empty()
                ? app.usual_steps
                : cli::parse_integer("--iterations", o.iterations, 0, UINT64_MAX >> 1);
  s.sources = sources_of(o, app);
  s.seed = cli::parse_integer("--seed", o.seed, 0, UINT64_MAX);
  if (!cli::read_number(o.damping, s.damping) || s.damping < 0 || s.damping >= 1)
    throw std::invalid_argument(
        fmt::format("--damping: '{}' is not a number from 0 to less than 1", o.damping));
  s.single = o.single;
  if (o.combine && o.single)
    throw std::invalid_argument(
        "--combine: sums of messages with --single would depend on their order");
  s.tolerance = cli::parse_number("--tolerance", o.tolerance, 0, any);
  s.block = static_cast<std::uint32_t>(cli::parse_integer("--block", o.block, 1, UINT32_MAX));
  s.step = cli::parse_number("--step", o.step, 0, any);
  s.noise = cli::parse_number("--noise", o.noise, 0, any);
  s.input = cli::parse_number("--input", o.input, -any, any);
  s.variety = cli::parse_number("--variety", o.variety, 0, 1);
  s.coupling = cli::parse_number("--coupling", o.coupling, -any, any);
  s.euler = o.euler;
  s.record = !o.spikes.empty();
  return s;
}

}  // namespace tutti::command
