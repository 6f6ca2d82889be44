// SPDX-License-Identifier: Apache-2.0
// `tutti bench barrier`, `team` and `reduce`: options into a plan, the plan into a run, the run
// into lines or a table. They differ in what is repeated, by whom, and in which scenarios.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "bench/suite/report.hpp"
#include "bench/suite/suite.hpp"
#include "cli/errors.hpp"
#include "cli/lists.hpp"
#include "command/bench_options.hpp"
#include "command/measured.hpp"
#include "command/subcommands.hpp"

namespace tutti::command {
namespace {

struct description {
  const char* subcommand;
  const char* what;
  const char* benchmark;   // in the lines of --json
  const char* algorithms;  // the default of --algorithms
  bench::operation operation;
  std::vector<bench::episode_kind> kinds;
  scenario_kinds scenarios;
  decltype(bench::choose_tutti)& choose_tutti;

  bool of_barriers() const { return operation == bench::operation::barrier; }
};

struct options {
  optional_text ranks, kinds, elements, metrics;
  scenario_options scenarios;
  contender_options who;
  run_options run;
};

// Each number of fibers runs on as many threads as there are cores.
std::vector<bench::shape> shapes_of(const options& o, const description& what) {
  std::vector<bench::shape> shapes;
  const auto usual = what.of_barriers() ? std::vector<rank_t>{2} : std::vector<rank_t>{2, 4};
  const auto threads = o.who.threads ? cli::parse_counts("--threads", *o.who.threads, most_threads)
                                     : default_counts(usual);
  for (const rank_t n : threads) shapes.push_back({n, n});
  if (what.of_barriers()) return shapes;
  const auto cores = static_cast<rank_t>(bench::make_placement("core").cpus.size());
  std::vector<rank_t> ranks{4 * cores, 32 * cores};
  if (o.ranks && *o.ranks == "none") ranks.clear();
  if (o.ranks && *o.ranks != "none") ranks = cli::parse_counts("--ranks", *o.ranks, most_threads);
  for (const rank_t n : ranks) {
    if (n <= cores) {
      throw std::invalid_argument(fmt::format(
          "--ranks: {} ranks on {} cores need no fibers: use --threads, or more ranks", n, cores));
    }
    shapes.push_back({cores, n});
  }
  return shapes;
}

constexpr const char* loop_name = "axpy";

std::vector<bench::episode_kind> loops_of(const options& o) {
  std::vector<bench::episode_kind> kinds;
  const auto add = [&](std::uint64_t n) { kinds.push_back({bench::operation::region, 0, n}); };
  if (!o.elements) {
    for (const std::uint64_t n : bench::elements_of_loops) add(n);
    return kinds;
  }
  for (const auto& text : cli::split("--elements", *o.elements)) {
    add(cli::parse_integer("--elements", text, 1, 1'000'000'000));
  }
  return kinds;
}

std::vector<bench::episode_kind> kinds_of(const options& o, const description& what) {
  const auto names = o.kinds ? cli::split("--kind", *o.kinds) : std::vector<std::string>{};
  if (o.elements && std::count(names.begin(), names.end(), loop_name) == 0) {
    throw std::invalid_argument("--elements: only `--kind axpy` has elements");
  }
  if (!o.kinds) return what.kinds;
  const bool has_loops = what.operation == bench::operation::region;
  std::vector<std::string> known;
  for (const auto& kind : what.kinds) known.push_back(name_of(kind));
  if (has_loops) known.emplace_back(loop_name);
  std::vector<bench::episode_kind> kinds;
  for (const auto& name : names) {
    if (has_loops && name == loop_name) {
      for (const auto& each : loops_of(o)) kinds.push_back(each);
      continue;
    }
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) {
      throw std::invalid_argument(
          fmt::format("--kind: '{}' is not one of {}", name, fmt::join(known, ", ")));
    }
    kinds.push_back(what.kinds[static_cast<std::size_t>(found - known.begin())]);
  }
  return kinds;
}

bench::plan make_plan(const options& o, const description& what, const bench::peer_list& peers) {
  bench::plan plan;
  plan.benchmark = what.benchmark;
  plan.kinds = kinds_of(o, what);
  plan.shapes = shapes_of(o, what);
  plan.placements = parse_pins(o.run.pins);
  plan.scenarios = parse_scenarios(o.scenarios, what.scenarios);
  if (o.metrics) {
    for (const auto& name : cli::split("--metric", *o.metrics)) {
      plan.metrics.push_back(bench::parse_metric(name));
    }
  }
  plan.length = parse_length(o.run);
  plan.contenders = what.choose_tutti(cli::split("--algorithms", o.who.algorithms),
                                      cli::split("--wait", o.who.waits));
  for (auto& peer : bench::choose(peers, cli::split("--peers", o.who.peers))) {
    plan.contenders.push_back(std::move(peer));
  }
  if (plan.contenders.empty()) {
    throw std::invalid_argument("nothing to measure: --algorithms and --peers are both none");
  }
  const bool measures =
      std::any_of(plan.scenarios.begin(), plan.scenarios.end(), [&](const auto& s) {
        return !bench::metrics_of(plan, plan.kinds.front(), s, false).empty();
      });
  if (!measures) {
    throw std::invalid_argument(
        fmt::format("--metric {}: not measured in any of the scenarios chosen", *o.metrics));
  }
  return plan;
}

int run(const options& o, const description& what) {
  const bench::peer_list peers = bench::peers_of(what.operation);
  const bench::plan plan = make_plan(o, what, peers);
  bench::suite suite(plan);
  const auto machine = machine_during_run(suite);
  fmt::print("{}", o.run.json ? bench::json_lines(plan, suite, machine, peers.missing)
                              : bench::table(plan, suite, machine));
  return complain_of_failures(suite);
}

void add(cli::command& bench, const description& what) {
  cli::subcommand<options> app(bench, what.subcommand, what.what,
                               [what](const options& o) { return run(o, what); });
  app->who.algorithms = what.algorithms;
  const auto add_list = [&app](const char* name, auto& value, const char* help) {
    return app.add_option(name, value, help).value_name("LIST");
  };
  add_contender_options(app, app->who);
  if (!what.of_barriers()) {
    add_list("--ranks", app->ranks,
             "Ranks of tutti on as many threads as cores, or none (default: 4 and 32 times the "
             "cores)");
    const bool has_loops = what.operation == bench::operation::region;
    add_list("--kind", app->kinds,
             has_loops ? "What is repeated: empty, reduce2, axpy (default: empty, reduce2)"
                       : "What is repeated (default: everything)");
    if (has_loops) {
      add_list("--elements", app->elements,
               "Elements of axpy, y += a x by all threads (default: 1000,10000,100000,1000000)");
    }
  }
  add_scenario_options(app, app->scenarios, what.scenarios);
  if (what.of_barriers()) {
    add_list("--metric", app->metrics,
             "loop, last_in_last_out, cpu_time (of a waiter, an episode), episode (lateness and "
             "work included; with --imbalance or --work), recover (default: what suits the "
             "scenario)");
  }
  add_run_options(app, app->run);
}

}  // namespace

void add_bench_suites(cli::command& bench) {
  add(bench, {.subcommand = "barrier",
              .what = "Barriers: tutti's and what you use today, interleaved in one run",
              .benchmark = "barrier",
              .algorithms = "default,default_rankless,dissemination",
              .operation = bench::operation::barrier,
              .kinds = {{bench::operation::barrier, 0}},
              .scenarios = {.gaps = false, .waits = true, .phases = true},
              .choose_tutti = bench::choose_tutti});
  add(bench,
      {.subcommand = "team",
       .what = "Parallel regions, empty and with a sum of two doubles, and loops: tutti's teams "
               "and what you "
               "use today, interleaved in one run",
       .benchmark = "region",
       .algorithms = "default,flags,flags_padded,recursive,recursive_padded,atomic,mutex",
       .operation = bench::operation::region,
       .kinds = bench::kinds_of_regions(),
       .scenarios = {.gaps = true, .waits = false, .phases = false},
       .choose_tutti = bench::choose_teams});
  add(bench,
      {.subcommand = "reduce",
       .what =
           "Sums of doubles to all ranks, beside the same barrier alone: tutti's teams and what "
           "you use today, interleaved in one run",
       .benchmark = "reduce",
       .algorithms = "default,flags,recursive",
       .operation = bench::operation::collective,
       .kinds = bench::kinds_of_reductions(),
       .scenarios = {.gaps = true, .waits = false, .phases = false},
       .choose_tutti = bench::choose_teams});
}

}  // namespace tutti::command
