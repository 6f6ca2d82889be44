// SPDX-License-Identifier: Apache-2.0
// `tutti sim idle` and `tutti sim graph`: the simulated machine of Naylor et al. 2020.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cli/errors.hpp"
#include "cli/json.hpp"
#include "cli/lists.hpp"
#include "command/sim.hpp"
#include "graph_apps/settings.hpp"
#include "sim/boards.hpp"
#include "tutti/graph/generate.hpp"

namespace tutti::command {
namespace {

sim::board_machine boards_of(const sim_options& o) {
  sim::board_machine m = sim::naylor_machine();
  for (const auto& [key, value] : settings_of(o)) sim::set_number(m, key, value);
  return m;
}

struct trips {
  double hardware = 0, tree = 0;
  double ratio() const { return tree / hardware; }
};
trips trips_of(sim::board_machine m) {
  m.detector = sim::idle_detector::hardware;
  trips made{sim::round_trip(m), 0};
  m.detector = sim::idle_detector::clock_tree;
  made.tree = sim::round_trip(m);
  return made;
}

// The handler's cycles with which the clock tree takes so many times as long as the hardware.
double fitted_handler(sim::board_machine m, double ratio) {
  double least = 1, most = 1e6;
  const auto ratio_with = [&](double handler) {
    m.handler = handler;
    return trips_of(m).ratio();
  };
  if (ratio < ratio_with(least) || ratio > ratio_with(most))
    throw std::invalid_argument(
        fmt::format("--fit {}: with 1 to {} cycles for a message the clock tree takes {:.2f} to "
                    "{:.0f} times as "
                    "long as the hardware",
                    ratio, most, ratio_with(least), ratio_with(most)));
  while (most - least > 1) {
    const double middle = std::floor((least + most) / 2);
    (ratio_with(middle) < ratio ? least : most) = middle;
  }
  return most;
}

// Meshes on the way to the whole one, as figure 6 of the paper has them.
std::vector<std::pair<std::uint32_t, std::uint32_t>> meshes_of(const sim::board_machine& m) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
  for (const auto& [columns, rows] : {std::pair{2u, 2u}, {3u, 4u}, {4u, 6u}})
    if (columns < m.columns && rows < m.rows) all.emplace_back(columns, rows);
  all.emplace_back(m.columns, m.rows);
  return all;
}

constexpr std::uint32_t fans[] = {1, 2, 4, 8, 16};

void print_header(const sim_options& o, const sim::board_machine& m) {
  fmt::print("{} on {} x {} boards of {} threads\n{:<6} {:>5} {:>12} {:>14} {:>11} {:>12} {:>7}\n",
             o.application, m.columns, m.rows, m.threads, "mode", "seed", "ms", "messages",
             "detections", "ms, tree", "ratio");
}

// 0 is for an application without them.
struct graph_sizes {
  std::uint64_t iterations = 0, sources = 0;
};

graph_sizes sizes_of(const sim_options& o, const graph_apps::application& app) {
  graph_sizes made;
  const auto read = [&](const char* option, const std::string& text, bool has, std::uint64_t usual,
                        std::uint64_t most) -> std::uint64_t {
    if (!has && !text.empty())
      throw std::invalid_argument(fmt::format("{}: {} has none", option, app.name));
    if (!has) return 0;
    return text.empty() ? usual : cli::parse_integer(option, text, 1, most);
  };
  made.iterations =
      read("--iterations", o.iterations, !app.steps_meaning.empty(), 10, UINT64_MAX >> 1);
  made.sources = read("--sources", o.sources, app.name == "mssp", 64, 4096);
  return made;
}

void print_seed(const sim_options& o, const sim::board_machine& m, const graph_sizes& sizes,
                const std::string& mode, std::uint64_t seed, std::uint64_t vertices,
                const graph_apps::outcome& run, double tree_seconds) {
  const auto& counts = run.statistics;
  if (o.json) {
    cli::json line = with_set(o, {{"type", "sim_graph"},
                                  {"application", o.application},
                                  {"graph", o.graph},
                                  {"mode", mode},
                                  {"seed", seed},
                                  {"vertices", vertices},
                                  {"edges", run.edges},
                                  {"threads", m.all_threads()},
                                  {"seconds", run.run_seconds},
                                  {"seconds_with_clock_tree", tree_seconds},
                                  {"messages", counts.messages()},
                                  {"detections", counts.detections}});
    if (sizes.iterations > 0) line["iterations"] = sizes.iterations;
    if (sizes.sources > 0) line["sources"] = sizes.sources;
    fmt::print("{}\n", line.dump());
  } else {
    fmt::print("{:<6} {:>5} {:>12.3f} {:>14} {:>11} {:>12.3f} {:>7.2f}\n", mode, seed,
               1e3 * run.run_seconds, counts.messages(), counts.detections, 1e3 * tree_seconds,
               tree_seconds / run.run_seconds);
  }
}

// The sources of shortest paths: evenly spread.
std::vector<graph::vertex_t> sources_of(const graph::csr& graph, std::uint64_t count) {
  std::vector<graph::vertex_t> made;
  for (std::uint64_t i = 0; i < count; ++i)
    made.push_back(static_cast<graph::vertex_t>(i * graph.vertices / count));
  return made;
}

}  // namespace

int run_idle(const sim_options& o) {
  const sim::settings with = settings_of(o);
  if (with.contains("step"))
    throw std::invalid_argument("--set step has no use here: no vertex takes a step");
  if (with.contains("fan") && o.fit == 0)
    throw std::invalid_argument("--set fan needs --fit: each row has trees of several fans");
  if (with.contains("handler") && o.fit > 0)
    throw std::invalid_argument("--set handler has no use with --fit, which searches it");
  sim::board_machine m = boards_of(o);
  if (o.fit > 0) m.handler = fitted_handler(m, o.fit);
  if (!o.json) {
    if (o.show)
      for (const sim::board_number& n : sim::numbers_of(m))
        fmt::print("{:<10} {:>10g}  {} ({})\n", n.key, n.value, n.meaning, n.source);
    if (o.fit > 0) fmt::print("handler = {:g}\n", m.handler);
    fmt::print("{:>7} {:>9} {:>9}", "mesh", "cycles", "a second");
    for (const std::uint32_t fan : fans) fmt::print("{:>18}", fmt::format("tree of fan {}", fan));
    fmt::print("\n");
  }
  for (const auto& [columns, rows] : meshes_of(m)) {
    sim::board_machine part = m;
    part.columns = columns;
    part.rows = rows;
    bool is_first = true;
    for (const std::uint32_t fan : fans) {
      part.fan = fan;
      const trips t = trips_of(part);
      if (o.json) {
        fmt::print("{}\n", with_set(o, {{"type", "sim_idle"},
                                        {"columns", columns},
                                        {"rows", rows},
                                        {"threads", part.all_threads()},
                                        {"fan", fan},
                                        {"handler", m.handler},
                                        {"link", m.link},
                                        {"clock_mhz", m.clock_mhz},
                                        {"hardware_cycles", t.hardware},
                                        {"tree_cycles", t.tree}})
                               .dump());
        continue;
      }
      if (std::exchange(is_first, false))
        fmt::print("{:>7} {:>9.0f} {:>9.0f}", fmt::format("{} x {}", columns, rows), t.hardware,
                   1 / m.seconds(t.hardware));
      fmt::print("{:>18}", fmt::format("{:.0f} ({:.1f})", t.tree, t.ratio()));
    }
    if (!o.json) fmt::print("\n");
  }
  return cli::success;
}

int run_boards_graph(const sim_options& o) {
  sim::board_machine m = boards_of(o);
  const auto& known = graph_apps::applications();
  const auto application = std::find_if(known.begin(), known.end(),
                                        [&](const auto& a) { return a.name == o.application; });
  if (application == known.end()) {
    std::string names;
    for (const auto& a : known) names += " " + a.name;
    throw std::invalid_argument("there is no application '" + o.application +
                                "'; applications are:" + names);
  }
  const graph_sizes sizes = sizes_of(o, *application);
  const std::vector<std::string> modes = cli::names("--mode", o.modes);
  for (const std::string& mode : modes)
    if (mode != "sync" && mode != "async")
      throw std::invalid_argument("--mode must be sync or async, not '" + mode + "'");
  const trips t = trips_of(m);
  bool has_header = o.json;
  for (const std::string& mode : modes) {
    for (std::uint64_t seed = 1; seed <= o.seeds; ++seed) {
      const bool has_keys = o.graph.find(':') != std::string::npos;
      const graph::csr graph =
          graph::generate(fmt::format("{}{}seed={}", o.graph, has_keys ? "," : ":", seed));
      graph_apps::settings s;
      s.mode = mode == "sync" ? graph_apps::mode::sync : graph_apps::mode::async;
      s.steps = sizes.iterations;
      s.seed = seed;
      s.boards = &m;
      if (sizes.sources > 0)
        s.sources = sources_of(graph, sizes.sources);
      else if (o.application == "sssp" || o.application == "bfs")
        s.sources = {0};
      const graph_apps::outcome run = application->run(graph, s);
      // Each detection takes three round trips.
      const double more = 3 * m.seconds(t.tree - t.hardware);
      if (!std::exchange(has_header, true)) print_header(o, m);
      print_seed(o, m, sizes, mode, seed, graph.vertices, run,
                 run.run_seconds + static_cast<double>(run.statistics.detections) * more);
      std::fflush(stdout);
    }
  }
  return cli::success;
}

}  // namespace tutti::command
