// SPDX-License-Identifier: Apache-2.0
// Options into a plan, the plan into a run, the run into lines or a table.
#include "command/bench_crews.hpp"

#include <fmt/format.h>

#include <memory>
#include <stdexcept>

#include "bench/crew/report.hpp"
#include "bench/crew/suite.hpp"
#include "cli/errors.hpp"
#include "cli/lists.hpp"
#include "cli/progress.hpp"
#include "command/bench_options.hpp"
#include "command/measured.hpp"

namespace tutti::command {
namespace {

using bench::crew_plan;

struct options {
  optional_text threads, ranks, kinds, elements, rounds, seconds;
  scenario_options scenarios;
  std::string algorithms;
  std::string waits = "adaptive";
  std::string peers = "all";
  std::string pins = "core";
  std::string seed = "1";
  bool json = false;
};

// As many threads as cores for each number of fibers.
std::vector<bench::crew_shape> shapes_of(const options& o) {
  std::vector<bench::crew_shape> shapes;
  const auto threads =
      o.threads ? cli::parse_counts("--threads", *o.threads, most_threads) : default_counts({2, 4});
  for (const rank_t n : threads) shapes.push_back({n, n});
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

constexpr scenario_kinds kinds_here{.gaps = true};

constexpr const char* loop_name = "axpy";

std::vector<bench::episode_kind> loops_of(const options& o) {
  std::vector<bench::episode_kind> kinds;
  if (!o.elements)
    for (const std::uint64_t n : bench::elements_of_loops) kinds.push_back({false, 0, n});
  else
    for (const auto& text : cli::split("--elements", *o.elements))
      kinds.push_back({false, 0, cli::parse_integer("--elements", text, 1, 1'000'000'000)});
  return kinds;
}

std::vector<bench::episode_kind> kinds_of(const options& o, const crew_benchmark& what) {
  if (!o.kinds) return what.kinds;
  std::vector<bench::episode_kind> kinds;
  for (const auto& name : cli::split("--kind", *o.kinds)) {
    if (what.has_loops && name == loop_name) {
      for (const auto& each : loops_of(o)) kinds.push_back(each);
      continue;
    }
    const auto before = kinds.size();
    for (const auto& kind : what.kinds) {
      if (name_of(kind) == name) kinds.push_back(kind);
    }
    if (kinds.size() > before) continue;
    std::vector<std::string> known;
    for (const auto& kind : what.kinds) known.push_back(name_of(kind));
    if (what.has_loops) known.emplace_back(loop_name);
    throw std::invalid_argument(
        fmt::format("--kind: '{}' is not one of {}", name, fmt::join(known, ", ")));
  }
  return kinds;
}

crew_plan make_plan(const options& o, const crew_benchmark& what) {
  crew_plan plan;
  plan.benchmark = what.benchmark;
  plan.kinds = kinds_of(o, what);
  plan.shapes = shapes_of(o);
  plan.placements = parse_pins(o.pins);
  plan.scenarios = parse_scenarios(o.scenarios, kinds_here);
  plan.length = parse_length(o.rounds, o.seconds, o.seed);
  plan.providers =
      bench::choose_teams(cli::split("--algorithms", o.algorithms), cli::split("--wait", o.waits));
  for (auto& peer : bench::choose(what.peers(), what.missing(), cli::split("--peers", o.peers))) {
    plan.providers.push_back(std::move(peer));
  }
  if (plan.providers.empty()) {
    throw std::invalid_argument("nothing to measure: --algorithms and --peers are both none");
  }
  return plan;
}

int run(const options& o, const crew_benchmark& what) {
  const crew_plan plan = make_plan(o, what);
  bench::crew_suite suite(plan);
  const bench::ordered_json machine = machine_during([&] {
    cli::progress_line line;
    suite.run([&](const std::string& text, double fraction) { line.update(text, fraction); });
  });
  fmt::print("{}", o.json ? bench::json_lines(plan, suite, machine, what.missing())
                          : bench::table(plan, suite, machine));
  for (const auto& failure : suite.failures()) {
    fmt::print(stderr, "tutti: {}, {} with {} ranks, {}, was not measured: {}\n",
               name_of(*failure.who), name_of(failure.kind), failure.shape.ranks,
               words_of(*failure.when), failure.reason);
  }
  for (const auto& impossible : suite.impossible()) {
    fmt::print(stderr, "tutti: {} is not measured: {}\n", impossible.when->name, impossible.reason);
  }
  return suite.failures().empty() ? cli::success : cli::failed;
}

}  // namespace

void add_bench_crews(CLI::App& bench, action& chosen, const crew_benchmark& what) {
  auto o = std::make_shared<options>();
  o->algorithms = what.algorithms;
  CLI::App* app = bench.add_subcommand(what.subcommand, what.description);
  const auto add = [app](const char* name, auto& value, const char* kind, const char* help) {
    return app->add_option(name, value, help)->type_name(kind);
  };
  add("--threads", o->threads, "LIST",
      "Kernel threads, e.g. 2,4 (default: 2, the cores, twice and four times the cores)");
  add("--ranks", o->ranks, "LIST",
      "Ranks of tutti on as many threads as cores, or none (default: 4 and 32 times the cores)");
  auto* kinds =
      add("--kind", o->kinds, "LIST",
          what.has_loops ? "What is repeated: empty, reduce2, axpy (default: empty, reduce2)"
                         : "What is repeated (default: everything)");
  if (what.has_loops)
    add("--elements", o->elements, "LIST",
        "Of axpy, y += a x by all threads (default: 1000,10000,100000,1000000)")
        ->needs(kinds);
  add("--algorithms", o->algorithms, "LIST",
      "Barriers of tutti's teams: default, those that `tutti info` lists, all or none")
      ->capture_default_str();
  add("--wait", o->waits, "LIST", "Their wait policies, or all; default always waits adaptively")
      ->capture_default_str();
  add("--peers", o->peers, "LIST", "What to compare with: all, none, or some, as libomp:active")
      ->capture_default_str();
  add("--pin", o->pins, "LIST",
      "Where the threads are: core (one a core, round robin), compact, spread, none; or CPUs as "
      "0,2-3")
      ->capture_default_str();
  add_scenario_options(*app, o->scenarios, kinds_here);
  auto* rounds =
      add("--rounds", o->rounds, "N", "Rounds of each series (default: as many as --time allows)");
  add("--time", o->seconds, "SECONDS",
      "For everything, checks and calibration included (default: 12)")
      ->excludes(rounds);
  add("--seed", o->seed, "N", "Of the random order and of what is random in the scenarios")
      ->capture_default_str();
  app->add_flag("--json", o->json, "One JSON object a line instead of the table");
  app->callback([o, what, &chosen] { chosen = [o, what] { return run(*o, what); }; });
}

}  // namespace tutti::command
