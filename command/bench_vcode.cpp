// SPDX-License-Identifier: Apache-2.0
// `tutti bench vcode`: options into a plan.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>

#include "bench/vcode/program_suite.hpp"
#include "cli/errors.hpp"
#include "cli/lists.hpp"
#include "command/bench_options.hpp"
#include "command/measured.hpp"
#include "command/subcommands.hpp"

namespace tutti::command {
namespace {

struct options {
  std::vector<std::string> files;
  std::string threads = "1,2";
  std::string engines = "lazy";
  std::string memory = "kept";
  std::string rounds = "7";
  bool counts = false;
  bool json = false;
};

bench::named_program load(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file))
    throw std::invalid_argument(fmt::format("{}: cannot be opened", file));
  const std::string text(std::istreambuf_iterator<char>(in), {});
  vcode::program code = vcode::compile(text, file);
  vcode::require_no_inputs(code);
  return {std::filesystem::path(file).stem(), code};
}

std::vector<bench::engine_setting> settings_of(const options& o) {
  const std::map<std::string, vcode::engine> known{{"lazy", vcode::engine::lazy},
                                                   {"workers", vcode::engine::workers},
                                                   {"spmd", vcode::engine::spmd}};
  const std::vector<bool> is_kept = parse_either("--memory", o.memory, "fresh", "kept");
  std::vector<bench::engine_setting> made;
  for (const auto& name : cli::split("--engines", o.engines)) {
    const auto found = known.find(name);
    if (found == known.end()) {
      throw std::invalid_argument(
          fmt::format("--engines: '{}' is not one of lazy, workers, spmd", name));
    }
    for (const unsigned n : cli::parse_counts("--threads", o.threads, most_threads)) {
      for (const bool kept : is_kept) made.push_back({found->second, name, n, kept});
    }
  }
  return made;
}

int run(const options& o) {
  try {
    bench::program_plan plan;
    for (const auto& file : o.files) plan.programs.push_back(load(file));
    if (o.counts) {
      fmt::print("{}", bench::table_of_counts(plan.programs));
      return cli::success;
    }
    plan.settings = settings_of(o);
    plan.length.rounds = cli::parse_integer("--rounds", o.rounds, 1, 100'000);
    bench::program_suite suite(std::move(plan));
    const auto machine = machine_during_run(suite);
    fmt::print("{}", o.json ? json_lines(suite, machine) : table(suite, machine));
    return cli::success;
  } catch (const vcode::source_error& e) {
    fmt::print(stderr, "tutti: {}\n", e.what());
  } catch (const vcode::run_error& e) {
    fmt::print(stderr, "tutti: {}\n", e.what());
  }
  return cli::failed;
}

}  // namespace

void add_bench_vcode(cli::command& bench, action& chosen) {
  auto o = std::make_shared<options>();
  cli::command app = bench.add_subcommand(
      "vcode", "Programs for the vector machine: engines, threads, and plain loops beside them");
  app.add_option("files", o->files, "Programs, as the NESL compiler writes them").required();
  app.add_option("--threads", o->threads, "List of numbers of threads").show_default();
  app.add_option("--engines", o->engines, "List of lazy, workers, spmd").show_default();
  app.add_option(
         "--memory", o->memory,
         "List of kept (touched by an earlier run), fresh (as for a process that has just begun)")
      .show_default();
  app.add_option("--rounds", o->rounds, "Runs of each, in turn").show_default();
  app.add_flag("--counts", o->counts,
               "No times: a table of bytes moved and barriers, lazy against spmd, on two threads");
  app.add_flag("--json", o->json, "One JSON object a line instead of the table");
  app.when_used([o, &chosen] { chosen = [o] { return run(*o); }; });
}

}  // namespace tutti::command
