// SPDX-License-Identifier: Apache-2.0
// `tutti bench idle` and `tutti bench message`: episodes of idle(), hops of a token, and small
// messages. Under mpirun the program for processes takes their place.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>

#include "bench/contenders/contender.hpp"
#include "bench/harness/names.hpp"
#include "bench/trials/report.hpp"
#include "bench/trials/suite.hpp"
#include "cli/errors.hpp"
#include "cli/lists.hpp"
#include "command/bench_options.hpp"
#include "command/measured.hpp"
#include "command/subcommands.hpp"
#include "src/mpi/launch.hpp"

namespace tutti::command {
namespace {

using bench::trial;

struct description {
  const char* subcommand;
  const char* what;
  const char* detectors;  // the default
  std::vector<trial> (*own)(rank_t participants, const std::vector<std::string>& detectors);
  // The benchmarks of the peers' trials, and those that the program for processes measures
  // (bench/mpi/).
  std::vector<std::string> benchmarks;
};

struct options {
  optional_text threads, fibers;
  std::string detectors;
  std::string peers = "all";
  run_options run;
};

// The trials of peers whose family, or family:name, is asked for. On fibers nobody but who can has
// any, so that a name without one is no error.
std::vector<trial> chosen_peers(rank_t n, bool on_fibers, const std::vector<std::string>& names,
                                const std::vector<std::string>& benchmarks) {
  std::vector<trial> all = bench::peer_trials(n, on_fibers);
  std::erase_if(all, [&](const trial& t) {
    return std::find(benchmarks.begin(), benchmarks.end(), t.benchmark) == benchmarks.end();
  });
  std::vector<trial> chosen;
  for (const auto& name : names) {
    if (name == "none") continue;
    const auto before = chosen.size();
    std::vector<std::string> known;
    for (const trial& t : all) {
      known.push_back(t.provider + ":" + t.name);
      if (bench::is_named(name, t.provider, t.name)) chosen.push_back(t);
    }
    if (chosen.size() > before || name == "all" || on_fibers) continue;
    known.erase(std::unique(known.begin(), known.end()), known.end());
    throw std::invalid_argument(
        fmt::format("--peers: '{}' is not all, none or one of {}", name, fmt::join(known, ", ")));
  }
  return chosen;
}

bench::trial_plan make_plan(const options& o, const description& what) {
  bench::trial_plan plan;
  std::vector<rank_t> threads, fibers;
  if (o.fibers) fibers = cli::parse_counts("--fibers", *o.fibers, 1024);
  if (o.threads)
    threads = cli::parse_counts("--threads", *o.threads, 64);
  else if (!o.fibers)
    threads = default_counts({2, 4});
  const auto detectors = bench::choose_names(cli::split("--detectors", o.detectors),
                                             bench::detector_names(), "detector");
  const auto peers = cli::split("--peers", o.peers);
  const auto add = [&](const char* option, rank_t n, bool on_fibers) {
    if (n < 2)
      throw std::invalid_argument(fmt::format("{}: messages need two participants", option));
    std::vector<trial> all = what.own(n, detectors);
    for (auto& t : chosen_peers(n, on_fibers, peers, what.benchmarks)) all.push_back(std::move(t));
    for (auto& t : all) {
      t.fibers = on_fibers;
      plan.trials.push_back(std::move(t));
    }
  };
  for (const rank_t n : threads) add("--threads", n, false);
  for (const rank_t n : fibers) add("--fibers", n, true);
  if (plan.trials.empty())
    throw std::invalid_argument("nothing to measure: --detectors and --peers are both none");
  const auto pins = parse_pins(o.run.pins);
  if (pins.size() != 1) throw std::invalid_argument("--pin: one placement at a time");
  plan.where = pins[0];
  plan.length = parse_length(o.run);
  return plan;
}

int run(const options& o, const description& what) {
  return run_and_print(bench::trial_suite(make_plan(o, what)), o.run.json);
}

// Under mpirun: goes on as the program that is linked to that MPI, which measures its own
// operations beside.
void measure_processes(const mpi::launch& how, const cli::command& app, const options& o,
                       const description& what) {
  for (const char* one_process :
       {"--threads", "--fibers", "--detectors", "--peers", "--pin", "--time", "--seed"})
    if (app.is_given(one_process))
      throw std::invalid_argument(fmt::format(
          "{} is for one process; under mpirun there are --rounds and --json", one_process));
  std::vector<std::string> arguments = what.benchmarks;
  if (o.run.rounds) arguments.insert(arguments.end(), {"--rounds", *o.run.rounds});
  if (o.run.json) arguments.emplace_back("--json");
  mpi::become_bench_program(how, arguments);
}

void add(cli::command& bench, const description& what) {
  auto o = std::make_shared<options>();
  o->detectors = what.detectors;
  cli::command app = bench.add_subcommand(what.subcommand, what.what);
  const auto add_list = [&app](const char* name, auto& value, const std::string& help) {
    return app.add_option(name, value, help).value_name("LIST");
  };
  add_list("--threads", o->threads,
           "Participants, e.g. 2,4 (default: 2, the cores, twice and four times the cores)");
  add_list("--fibers", o->fibers,
           "Participants that are virtual ranks on one thread a core, e.g. 8,64; alone or beside "
           "--threads");
  add_list("--detectors,--algorithms", o->detectors,
           fmt::format("{}; all or none", fmt::join(bench::detector_names(), ", ")))
      .show_default();
  add_list("--peers", o->peers,
           "What to compare with: all, none, or some, as std or boost:lockfree_spsc")
      .show_default();
  add_run_options(app, o->run);
  app.runs([o, what, app] {
    const auto how = mpi::find_launch();
    if (how && how->size > 1) measure_processes(*how, app, *o, what);
    return run(*o, what);
  });
}

}  // namespace

void add_bench_trials(cli::command& bench) {
  add(bench,
      {.subcommand = "idle",
       .what =
           "The refutable barrier: empty episodes, episodes with a message each, hops of a token",
       .detectors = "all",
       .own = bench::idle_trials,
       .benchmarks = {"idle", "hop"}});
  add(bench,
      {.subcommand = "message",
       .what = "Small messages to random destinations (random: oneself among them; others: never)",
       .detectors = "default",
       .own = bench::message_trials,
       .benchmarks = {"message"}});
}

}  // namespace tutti::command
