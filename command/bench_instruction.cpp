// SPDX-License-Identifier: Apache-2.0
// `tutti bench instruction`: options into a plan.
#include <fmt/format.h>

#include <memory>

#include "bench/vcode/instruction_suite.hpp"
#include "cli/errors.hpp"
#include "cli/lists.hpp"
#include "command/bench_options.hpp"
#include "command/print_page.hpp"
#include "command/subcommands.hpp"

namespace tutti::command {
namespace {

struct options {
  contender_options who;
  std::string count = "20000";
  std::string rounds = "15";
  std::string time = "900";
  bool markdown = false;
  bool form = false;
  bool json = false;
};

bench::instruction_plan make_plan(const options& o) {
  bench::instruction_plan plan;
  plan.count = cli::parse_integer("--count", o.count, 100, 10'000'000);
  plan.length.rounds = cli::parse_integer("--rounds", o.rounds, 1, 100'000);
  plan.length.seconds = cli::parse_number("--time", o.time, 0.1, 86400);
  plan.length.bounds_rounds = true;
  plan.threads = o.who.threads ? cli::parse_counts("--threads", *o.who.threads, most_threads)
                               : default_counts({2});
  plan.contenders = bench::choose_tutti(cli::split("--algorithms", o.who.algorithms),
                                        cli::split("--wait", o.who.waits));
  for (auto& peer : bench::choose(bench::peers_of(bench::operation::barrier),
                                  cli::split("--peers", o.who.peers))) {
    plan.contenders.push_back(std::move(peer));
  }
  return plan;
}

int run(const options& o) {
  if (!o.markdown) return run_and_print(bench::instruction_suite(make_plan(o)), o.json);
  print_page(bench::instruction_suite(make_plan(o)), o.form);
  return cli::success;
}

}  // namespace

void add_bench_instruction(cli::command& bench) {
  cli::subcommand<options> app(
      bench, "instruction",
      "Instructions of the vector machine in engine spmd, with every barrier and with none", run);
  app->who.algorithms = "all";
  add_contender_options(app, app->who);
  app.add_option("--count", app->count, "Instructions of a round").value_name("N").show_default();
  app.add_option("--rounds", app->rounds, "Rounds, in random order").value_name("N").show_default();
  app.add_option("--time", app->time,
                 "For everything, checks and calibration included; where it is too short, there "
                 "are fewer rounds, or fewer instructions in a round")
      .value_name("SECONDS")
      .show_default();
  const cli::option markdown =
      app.add_flag("--markdown", app->markdown, "A table of the documentation");
  app.add_flag("--form", app->form, "The table without figures; nothing is measured")
      .needs(markdown);
  app.add_flag("--json", app->json, "One JSON object a line instead of the table")
      .excludes(markdown);
}

}  // namespace tutti::command
