// SPDX-License-Identifier: Apache-2.0
// `tutti bench idle`: episodes of idle() and hops of a token.
#include "command/bench_idle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "bench/harness/names.hpp"
#include "bench/idle/report.hpp"
#include "bench/idle/suite.hpp"
#include "cli/errors.hpp"
#include "cli/lists.hpp"
#include "cli/progress.hpp"
#include "command/bench_options.hpp"
#include "command/measured.hpp"
#include "src/mpi/launch.hpp"

namespace tutti::command {
namespace {

struct options {
  optional_text threads, fibers, rounds, seconds;
  std::string detectors;
  std::string peers = "all";
  std::string pins = "core";
  std::string seed = "1";
  bool json = false;
};

const std::vector<std::string>& known_detectors() {
  static const std::vector<std::string> names{"default", "counter", "snapshot", "star",
                                              "tree",    "ring",    "waves"};
  return names;
}

bool is_asked_for(const bench::trial& peer, const std::vector<std::string>& names) {
  const auto is_it = [&](const std::string& name) {
    return name == "all" || name == peer.provider || name == peer.provider + ":" + peer.name;
  };
  return std::any_of(names.begin(), names.end(), is_it);
}

// The trials of peers whose family, or family:name, is asked for.
std::vector<bench::trial> chosen_peers(const std::vector<bench::trial>& all,
                                       const std::vector<std::string>& names) {
  std::vector<bench::trial> chosen;
  for (const auto& name : names) {
    if (name == "none") continue;
    const auto before = chosen.size();
    std::vector<std::string> known;
    for (const bench::trial& t : all) {
      known.push_back(t.provider + ":" + t.name);
      if (is_asked_for(t, {name})) chosen.push_back(t);
    }
    if (chosen.size() > before || name == "all") continue;
    known.erase(std::unique(known.begin(), known.end()), known.end());
    throw std::invalid_argument(
        fmt::format("--peers: '{}' is not all, none or one of {}", name, fmt::join(known, ", ")));
  }
  return chosen;
}

bench::idle_plan make_plan(const options& o, const idle_benchmark& what) {
  bench::idle_plan plan;
  std::vector<rank_t> threads, fibers;
  if (o.fibers) fibers = cli::parse_counts("--fibers", *o.fibers, 1024);
  if (o.threads)
    threads = cli::parse_counts("--threads", *o.threads, 64);
  else if (!o.fibers)
    threads = default_counts({2, 4});
  const auto detectors =
      bench::choose_names(cli::split("--detectors", o.detectors), known_detectors(), "detector");
  const auto peers = cli::split("--peers", o.peers);
  for (const rank_t n : threads) {
    if (n < 2) throw std::invalid_argument("--threads: messages need two participants");
    for (auto& t : what.own(n, detectors)) plan.trials.push_back(std::move(t));
    for (auto& t : chosen_peers(what.peers(n), peers)) plan.trials.push_back(std::move(t));
  }
  for (const rank_t n : fibers) {
    if (n < 2) throw std::invalid_argument("--fibers: messages need two participants");
    std::vector<bench::trial> all = what.own(n, detectors);
    for (auto& t : what.fiber_peers(n))
      if (is_asked_for(t, peers)) all.push_back(std::move(t));
    for (auto& t : all) {
      t.fibers = true;
      plan.trials.push_back(std::move(t));
    }
  }
  if (plan.trials.empty())
    throw std::invalid_argument("nothing to measure: --detectors and --peers are both none");
  const auto pins = parse_pins(o.pins);
  if (pins.size() != 1) throw std::invalid_argument("--pin: one placement at a time");
  plan.where = pins[0];
  plan.length = parse_length(o.rounds, o.seconds, o.seed);
  return plan;
}

int run(const options& o, const idle_benchmark& what) {
  bench::idle_suite suite(make_plan(o, what));
  const bench::ordered_json machine = machine_during([&] {
    cli::progress_line line;
    suite.run([&](const std::string& text, double fraction) { line.update(text, fraction); });
  });
  fmt::print("{}", o.json ? bench::json_lines(suite, machine) : bench::table(suite, machine));
  return cli::success;
}

// Under mpirun: goes on as the program that is linked to that MPI, which measures its own operations beside.
void measure_processes(const mpi::launch& how, const CLI::App& app, const options& o,
                       const idle_benchmark& what) {
  for (const char* one_process :
       {"--threads", "--fibers", "--detectors", "--peers", "--pin", "--time", "--seed"})
    if (app.count(one_process) != 0)
      throw std::invalid_argument(fmt::format(
          "{} is for one process; under mpirun there are --rounds and --json", one_process));
  std::vector<std::string> arguments = what.across_processes;
  if (o.rounds) arguments.insert(arguments.end(), {"--rounds", *o.rounds});
  if (o.json) arguments.emplace_back("--json");
  mpi::become_bench_program(how, arguments);
}

}  // namespace

void add_bench_idle(CLI::App& bench, action& chosen, const idle_benchmark& what) {
  auto o = std::make_shared<options>();
  o->detectors = what.detectors;
  CLI::App* app = bench.add_subcommand(what.subcommand, what.description);
  const auto add = [app](const char* name, auto& value, const char* kind, const char* help) {
    return app->add_option(name, value, help)->type_name(kind);
  };
  add("--threads", o->threads, "LIST",
      "Participants, e.g. 2,4 (default: 2, the cores, twice and four times the cores)");
  add("--fibers", o->fibers, "LIST",
      "Participants that are virtual ranks on one thread a core, e.g. 8,64; alone or beside "
      "--threads");
  add("--detectors,--algorithms", o->detectors, "LIST",
      "default, counter, snapshot, star, tree, ring, waves; all or none")
      ->capture_default_str();
  add("--peers", o->peers, "LIST",
      "What to compare with: all, none, or some, as std or boost:lockfree_spsc")
      ->capture_default_str();
  add("--pin", o->pins, "PLACE",
      "Where the threads are: core (one a core, round robin), compact, spread, none; or CPUs as "
      "0,2-3")
      ->capture_default_str();
  auto* rounds =
      add("--rounds", o->rounds, "N", "Rounds of each series (default: as many as --time allows)");
  add("--time", o->seconds, "SECONDS", "For everything, calibration included (default: 12)")
      ->excludes(rounds);
  add("--seed", o->seed, "N", "Of the random order")->capture_default_str();
  app->add_flag("--json", o->json, "One JSON object a line instead of the table");
  app->callback([o, what, app, &chosen] {
    chosen = [o, what, app] {
      const auto how = mpi::find_launch();
      if (how && how->size > 1) measure_processes(*how, *app, *o, what);
      return run(*o, what);
    };
  });
}

void add_bench_idle(CLI::App& bench, action& chosen) {
  const auto peers = [](rank_t n) {
    auto all = bench::barrier_trials(n);
    for (auto& t : bench::clock_tree_trials(n)) all.push_back(std::move(t));
    for (auto& t : bench::queue_trials(n))
      if (t.benchmark == "hop") all.push_back(std::move(t));
    return all;
  };
  add_bench_idle(bench, chosen,
                 {.subcommand = "idle",
                  .description = "The refutable barrier: empty episodes, episodes with a message "
                                 "each, hops of a token",
                  .detectors = "all",
                  .own = bench::idle_trials,
                  .peers = peers,
                  .fiber_peers = bench::clock_tree_trials,
                  .across_processes = {"idle", "hop"}});
}

}  // namespace tutti::command
