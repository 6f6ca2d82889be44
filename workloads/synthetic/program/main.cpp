// SPDX-License-Identifier: Apache-2.0
// The program tutti-synthetic: its options, and how it reports errors.
#include <fmt/format.h>

#include <algorithm>

#include "cli/errors.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "workloads/synthetic/program/report.hpp"

namespace {

using namespace tutti::synthetic;
namespace bench = tutti::bench;
namespace cli = tutti::cli;

int run(const request& r, bool json) {
  const plan p = make_plan(r);
  const bench::processor_time begin = bench::read_processor_time();
  cli::json machine = bench::describe_machine();
  sweeps s;
  {
    cli::progress_line line;
    s = run_plan(p, [&](const std::string& what, double part) { line.update(what, part); });
  }
  const bench::noise others = bench::noise_between(begin, bench::read_processor_time());
  machine["foreign_load"] = others.foreign_load;
  machine["steal"] = others.steal;
  fmt::print("{}", json ? json_lines(p, s, machine) : table(p, s, machine));
  for (const failure& f : s.failures) {
    cli::complain("tutti-synthetic",
                  fmt::format("{} with {} threads was not measured: {}", name_of(*f.who), f.threads,
                              f.reason),
                  cli::failed);
  }
  return s.failures.empty() ? cli::success : cli::failed;
}

void add_options(cli::command& app, request& r) {
  const auto add = [&app](const char* name, std::string& value, const char* kind,
                          const char* help) {
    return app.add_option(name, value, help).value_name(kind);
  };
  add("--regions", r.regions, "N",
      "Number of parallel regions whose time is reported (default: the paper's, 10000000, or "
      "100000 with a length)");
  add("--length", r.length, "M", "Doubles in each of a rank's three vectors; 0: empty regions")
      .show_default();
  add("--set", r.sets, "LIST",
      "Sets of cache lines that each rank reads and writes in every region: none, l1, l2, l3 (half "
      "of that cache), memory, or bytes such as 256K")
      .show_default();
  add("--access", r.access, "LIST", "How it goes through a set: stream (line by line), random")
      .show_default();
  add("--lines", r.lines, "N", "Lines of a set that it reads and writes in a region")
      .show_default();
  add("--threads", r.threads, "LIST", "Numbers of threads, e.g. 2,4 (default: one per core)");
  add("--barrier", r.barriers, "LIST",
      "Barriers that end tutti's regions: default, names that `tutti info` lists, all or none")
      .show_default();
  add("--wait", r.waits, "LIST",
      "Wait policies of these barriers, or all; default always waits adaptively")
      .show_default();
  add("--peers", r.peers, "LIST",
      "Peers to compare with: all, none, or some, for example libgomp:active")
      .show_default();
  add("--pin", r.pin, "NAME",
      "Placement of the threads: core (one per core, round robin), compact, spread, none; or CPUs "
      "such as 0,2-3")
      .show_default();
  add("--seconds", r.seconds, "SECONDS", "Time to measure; all series take turns").show_default();
  add("--seed", r.seed, "N", "Seed of the numbers and of the order").show_default();
}

}  // namespace

int main(int argc, char** argv) {
  cli::program program(
      "Measures parallel regions that multiply vectors, and what it costs to open and end them: "
      "the synthetic benchmark of Berger and Stamatakis 2010",
      "tutti-synthetic");
  request r;
  r.threads = std::to_string(bench::allowed_cores().size());
  bool json = false;
  add_options(program, r);
  program.add_flag("--json", json, "Print one JSON object per line instead of the table");
  return program.run(argc, argv, [&] { return run(r, json); });
}
