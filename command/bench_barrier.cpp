// SPDX-License-Identifier: Apache-2.0
// `tutti bench barrier`: options into a plan, the plan into a run, the run into lines or a table.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "bench/barrier/report.hpp"
#include "bench/barrier/suite.hpp"
#include "cli/errors.hpp"
#include "cli/lists.hpp"
#include "cli/progress.hpp"
#include "command/bench_options.hpp"
#include "command/measured.hpp"
#include "command/subcommands.hpp"

namespace tutti::command {
namespace {

using bench::barrier_plan;

struct options {
  optional_text threads, metrics, rounds, seconds;
  scenario_options scenarios;
  std::string algorithms = "default,default_rankless,dissemination";
  std::string waits = "adaptive";
  std::string peers = "all";
  std::string pins = "core";
  std::string seed = "1";
  bool json = false;
};

constexpr scenario_kinds kinds_here{.waits = true, .phases = true};

barrier_plan make_plan(const options& o) {
  barrier_plan plan;
  plan.threads =
      o.threads ? cli::parse_counts("--threads", *o.threads, most_threads) : default_counts({2});
  plan.placements = parse_pins(o.pins);
  plan.scenarios = parse_scenarios(o.scenarios, kinds_here);
  if (o.metrics) {
    for (const auto& name : cli::split("--metric", *o.metrics)) {
      plan.metrics.push_back(bench::parse_metric(name));
    }
  }
  plan.length = parse_length(o.rounds, o.seconds, o.seed);
  plan.providers =
      bench::choose_tutti(cli::split("--algorithms", o.algorithms), cli::split("--wait", o.waits));
  for (auto& peer : bench::choose_peers(cli::split("--peers", o.peers))) {
    plan.providers.push_back(std::move(peer));
  }
  if (plan.providers.empty()) {
    throw std::invalid_argument("nothing to measure: --algorithms and --peers are both none");
  }
  const bool measures =
      std::any_of(plan.scenarios.begin(), plan.scenarios.end(),
                  [&](const bench::scenario& s) { return !bench::metrics_of(plan, s).empty(); });
  if (!measures) {
    throw std::invalid_argument(
        fmt::format("--metric {}: not measured in any of the scenarios chosen", *o.metrics));
  }
  return plan;
}

int run(const options& o) {
  const barrier_plan plan = make_plan(o);
  bench::suite suite(plan);
  const bench::ordered_json machine = machine_during([&] {
    cli::progress_line line;
    suite.run([&](const std::string& what, double fraction) { line.update(what, fraction); });
  });
  fmt::print("{}",
             o.json ? bench::json_lines(plan, suite, machine) : bench::table(plan, suite, machine));
  for (const auto& failure : suite.failures()) {
    fmt::print(stderr, "tutti: {} {} with {} threads, {}, was not measured: {}\n",
               failure.who->family, failure.who->name, failure.threads, words_of(*failure.when),
               failure.reason);
  }
  for (const auto& impossible : suite.impossible()) {
    fmt::print(stderr, "tutti: {} is not measured: {}\n", impossible.when->name, impossible.reason);
  }
  return suite.failures().empty() ? cli::success : cli::failed;
}

}  // namespace

void add_bench_barrier(CLI::App& bench, action& chosen) {
  auto o = std::make_shared<options>();
  CLI::App* app = bench.add_subcommand(
      "barrier", "Barriers: tutti's and what you use today, interleaved in one run");
  const auto add = [app](const char* name, auto& value, const char* kind, const char* help) {
    return app->add_option(name, value, help)->type_name(kind);
  };
  add("--threads", o->threads, "LIST",
      "Participants, e.g. 2,4 (default: 2, the cores, and twice the cores)");
  add("--algorithms", o->algorithms, "LIST",
      "tutti's algorithms (`tutti info` lists them), all or none")
      ->capture_default_str();
  add("--wait", o->waits, "LIST",
      "Their wait policies, or all; default and default_rankless always wait adaptively")
      ->capture_default_str();
  add("--peers", o->peers, "LIST",
      "What to compare with: all, none, or some that `tutti info` lists, as std or libomp:tree")
      ->capture_default_str();
  add("--pin", o->pins, "LIST",
      "Where the threads are: core (one a core, round robin), compact, spread, none; or CPUs as "
      "0,2-3")
      ->capture_default_str();
  add_scenario_options(*app, o->scenarios, kinds_here);
  add("--metric", o->metrics, "LIST",
      "loop, last_in_last_out, cpu_time (of a waiter, an episode), episode (lateness and work "
      "included), recover (default: what suits the scenario)");
  auto* rounds =
      add("--rounds", o->rounds, "N", "Rounds of each barrier (default: as many as --time allows)");
  add("--time", o->seconds, "SECONDS",
      "For everything, checks and calibration included (default: 12)")
      ->excludes(rounds);
  add("--seed", o->seed, "N", "Of the random order and of what is random in the scenarios")
      ->capture_default_str();
  app->add_flag("--json", o->json, "One JSON object a line instead of the table");
  app->callback([o, &chosen] { chosen = [o] { return run(*o); }; });
}

}  // namespace tutti::command
