// SPDX-License-Identifier: Apache-2.0
// `tutti bench barrier`: options into a plan, the plan into a run, the run into lines or a table.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>

#include "barrier/report.hpp"
#include "barrier/suite.hpp"
#include "errors.hpp"
#include "lists.hpp"
#include "progress.hpp"
#include "subcommands.hpp"

namespace tutti::command {
namespace {

using bench::barrier_plan;

constexpr std::uint32_t most_threads = 1024;

struct options {
  using text = std::optional<std::string>;
  text threads, scenarios, imbalances, neighbours, metrics, rounds, seconds;
  std::string algorithms = "default,default_rankless,dissemination";
  std::string waits = "adaptive";
  std::string peers = "all";
  std::string pins = "core";
  std::string seed = "1";
  bool json = false;
};

// Two threads, one for each core, and twice as many.
std::vector<rank_t> default_threads() {
  const auto cores = static_cast<rank_t>(bench::make_placement("core").cpus.size());
  std::vector<rank_t> threads{2, cores, 2 * cores};
  std::erase_if(threads, [](rank_t n) { return n < 2; });
  std::sort(threads.begin(), threads.end());
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  return threads;
}

// A list of names, or one list of CPUs.
std::vector<bench::placement> parse_pins(const std::string& text) {
  const auto names = split("--pin", text);
  const auto is_name = [](const std::string& item) {
    return item.find_first_of("0123456789") == std::string::npos;
  };
  std::vector<bench::placement> placements;
  try {
    if (!std::all_of(names.begin(), names.end(), is_name)) return {bench::make_placement(text)};
    for (const auto& name : names) placements.push_back(bench::make_placement(name));
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument(fmt::format("--pin: {}", e.what()));
  }
  return placements;
}

void add_scenario(std::vector<bench::scenario>& scenarios, const std::string& name) {
  bench::scenario s = bench::parse_scenario(name);
  const auto same = [&](const bench::scenario& known) { return known.name == s.name; };
  if (std::none_of(scenarios.begin(), scenarios.end(), same)) scenarios.push_back(std::move(s));
}

std::vector<bench::scenario> parse_scenarios(const options& o) {
  std::vector<bench::scenario> scenarios;
  if (o.scenarios) {
    for (const auto& name : split("--scenario", *o.scenarios)) add_scenario(scenarios, name);
  }
  if (o.neighbours) {
    for (const auto& kind : split("--neighbour", *o.neighbours)) {
      if (kind != "none" && kind != "one" && kind != "all") {
        throw std::invalid_argument(fmt::format("--neighbour: '{}' is not none, one or all", kind));
      }
      add_scenario(scenarios, kind == "none" ? "free" : "neighbour_" + kind);
    }
  }
  if (o.imbalances) {
    for (const auto& time : split("--imbalance", *o.imbalances)) {
      try {
        add_scenario(scenarios, "imbalance_" + time);
      } catch (const std::invalid_argument&) {
        throw std::invalid_argument(fmt::format(
            "--imbalance: '{}' is not a time such as 500ns, 10us or 1ms (at most 1000ms)", time));
      }
    }
  }
  if (scenarios.empty()) add_scenario(scenarios, "free");
  return scenarios;
}

barrier_plan make_plan(const options& o) {
  barrier_plan plan;
  plan.threads =
      o.threads ? parse_counts("--threads", *o.threads, most_threads) : default_threads();
  plan.placements = parse_pins(o.pins);
  plan.scenarios = parse_scenarios(o);
  if (o.metrics) {
    for (const auto& name : split("--metric", *o.metrics)) {
      plan.metrics.push_back(bench::parse_metric(name));
    }
  }
  if (o.rounds) plan.rounds = parse_integer("--rounds", *o.rounds, 1, 1000000);
  plan.seconds = o.seconds ? parse_number("--time", *o.seconds, 0.1, 86400) : 12;
  plan.seed = parse_integer("--seed", o.seed, 0, UINT64_MAX);
  plan.providers =
      bench::choose_tutti(split("--algorithms", o.algorithms), split("--wait", o.waits));
  for (auto& peer : bench::choose_peers(split("--peers", o.peers))) {
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
  const bench::processor_time begin = bench::read_processor_time();
  bench::ordered_json machine = bench::describe_machine();
  bench::suite suite(plan);
  {
    progress_line line;
    suite.run([&](const std::string& what, double fraction) { line.update(what, fraction); });
  }
  const bench::noise others = bench::noise_between(begin, bench::read_processor_time());
  machine["foreign_load"] = others.foreign_load;
  machine["steal"] = others.steal;
  fmt::print("{}",
             o.json ? bench::json_lines(plan, suite, machine) : bench::table(plan, suite, machine));
  for (const auto& failure : suite.failures()) {
    fmt::print(stderr, "tutti: {} {} with {} threads was not measured: {}\n", failure.who->family,
               failure.who->name, failure.threads, failure.reason);
  }
  return suite.failures().empty() ? success : failed;
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
  add("--scenario", o->scenarios, "LIST",
      "free, skew_TIME, imbalance_TIME, neighbour_one, neighbour_all (default: free)");
  add("--imbalance", o->imbalances, "TIMES",
      "The last rank is late by this in every episode, e.g. 10us,1ms");
  add("--neighbour", o->neighbours, "LIST",
      "A busy process beside the run: none, one (on the first CPU used), all (on each)");
  add("--metric", o->metrics, "LIST",
      "loop, last_in_last_out, cpu_time (default: what suits the scenario)");
  auto* rounds =
      add("--rounds", o->rounds, "N", "Rounds of each barrier (default: as many as --time allows)");
  add("--time", o->seconds, "SECONDS", "To measure, after the calibration (default: 12)")
      ->excludes(rounds);
  add("--seed", o->seed, "N", "Of the random order and of the random skew")->capture_default_str();
  app->add_flag("--json", o->json, "One JSON object a line instead of the table");
  app->callback([o, &chosen] { chosen = [o] { return run(*o); }; });
}

}  // namespace tutti::command
