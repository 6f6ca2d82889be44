// SPDX-License-Identifier: Apache-2.0
// `tutti bench vcode`: options into a plan.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "bench/vcode/processes.hpp"
#include "bench/vcode/program_suite.hpp"
#include "cli/errors.hpp"
#include "cli/lists.hpp"
#include "command/bench_options.hpp"
#include "command/print_page.hpp"
#include "command/subcommands.hpp"
#include "vcode/language/random_chain.hpp"

namespace tutti::command {
namespace {

struct options {
  std::vector<std::string> files;
  std::string threads = "1,2";
  std::string engines = "lazy";
  std::string memory = "kept";
  std::string share_from;
  std::string defer_from;
  std::string rounds = "7";
  std::string time = "0";
  std::string busy = "1";
  std::string python = "python3";
  std::string chains = "0";
  bool processes = false;
  bool counts = false;
  bool markdown = false;
  bool form = false;
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

// Each setting with each of the limits in a list, or as it is if the list is empty.
std::vector<bench::engine_setting> with_limits(const std::vector<bench::engine_setting>& settings,
                                               const std::string& option, const std::string& list,
                                               std::size_t bench::engine_setting::*limit) {
  if (list.empty()) return settings;
  std::vector<bench::engine_setting> made;
  for (const auto& each : settings)
    for (const unsigned n : cli::parse_counts(option, list, 1u << 30)) {
      made.push_back(each);
      made.back().*limit = n;
      made.back().name += fmt::format(" {} {}", option, n);
    }
  return made;
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
  made = with_limits(made, "--share-from", o.share_from, &bench::engine_setting::share_from);
  return with_limits(made, "--defer-from", o.defer_from, &bench::engine_setting::defer_from);
}

// A folder for programs that are drawn at random; it goes away with this object.
class folder_of_chains {
 public:
  folder_of_chains()
      : path_(std::filesystem::temp_directory_path().string() + "/tutti-chains-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr)
      throw std::runtime_error(fmt::format("{} cannot be made", path_));
  }
  ~folder_of_chains() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  folder_of_chains(const folder_of_chains&) = delete;
  folder_of_chains& operator=(const folder_of_chains&) = delete;

  std::string write(std::uint32_t seed) const {
    std::string file = fmt::format("{}/chain_{}.vcode", path_, seed);
    std::ofstream(file) << vcode::random_chain(seed, 4'000'000, 12);
    return file;
  }

 private:
  std::string path_;
};

int run_processes(const options& o) {
  bench::process_plan plan;
  plan.files = o.files;
  for (const auto& file : o.files) load(file);
  plan.rounds = cli::parse_integer("--rounds", o.rounds, 1, 100'000);
  plan.seconds = cli::parse_number("--time", o.time, 0, 86'400);
  plan.busy = static_cast<unsigned>(cli::parse_integer("--busy", o.busy, 0, 1000));
  plan.python = o.python;
  plan.is_form = o.form;
  const auto chains = static_cast<std::uint32_t>(cli::parse_integer("--chains", o.chains, 0, 1000));
  std::optional<folder_of_chains> folder;
  if (chains > 0) folder.emplace();
  for (std::uint32_t i = 1; i <= chains; ++i) plan.files.push_back(folder->write(i));
  std::string tables;
  const auto machine = machine_during([&] { tables = bench::measure_processes(plan); });
  fmt::print("{}\n{}", bench::page_heading(machine), tables);
  return cli::success;
}

int run(const options& o) {
  if (o.form && !o.processes && !o.counts && !o.markdown)
    throw std::invalid_argument("--form requires --processes, --counts or --markdown");
  if (o.files.empty() && (!o.processes || o.chains == "0")) {
    throw std::invalid_argument("files: name at least one program");
  }
  try {
    if (o.processes) return run_processes(o);
    bench::program_plan plan;
    for (const auto& file : o.files) plan.programs.push_back(load(file));
    if (o.counts) {
      std::string counts;
      const auto machine =
          machine_during([&] { counts = bench::table_of_counts(plan.programs, o.form); });
      fmt::print("{}\n{}", bench::page_heading(machine), counts);
      return cli::success;
    }
    plan.settings = settings_of(o);
    plan.length.rounds = cli::parse_integer("--rounds", o.rounds, 1, 100'000);
    if (!o.markdown) return run_and_print(bench::program_suite(std::move(plan)), o.json);
    print_page(bench::program_suite(std::move(plan)), o.form);
    return cli::success;
  } catch (const vcode::source_error& e) {
    return cli::complain("tutti", e.what(), cli::failed);
  } catch (const vcode::run_error& e) {
    return cli::complain("tutti", e.what(), cli::failed);
  }
}

}  // namespace

void add_bench_vcode(cli::command& bench) {
  cli::subcommand<options> app(
      bench, "vcode",
      "Programs for the vector machine: engines, threads, and plain loops beside them", run);
  app.add_option("files", app->files, "Programs, as the NESL compiler writes them");
  const cli::option processes = app.add_flag(
      "--processes", app->processes,
      "Whole processes, start and threads included, beside the plain interpreter, fused loops and "
      "NumPy: two tables, free and beside busy processes");
  const cli::option counts =
      app.add_flag("--counts", app->counts,
                   "No times: a table of bytes moved and barriers, lazy against spmd, on two "
                   "threads")
          .excludes(processes);
  // What the processes and the counts have of their own.
  const auto add_setting = [&](const char* name, std::string& value, const char* help) {
    return app.add_option(name, value, help).excludes(processes).excludes(counts);
  };
  add_setting("--threads", app->threads, "List of numbers of threads")
      .value_name("LIST")
      .show_default();
  add_setting("--engines", app->engines, "List of lazy, workers, spmd")
      .value_name("LIST")
      .show_default();
  add_setting("--memory", app->memory,
              "List of kept (touched by an earlier run), fresh (as for a process that has just "
              "begun)")
      .value_name("LIST")
      .show_default();
  add_setting("--share-from", app->share_from, "List of limits of `tutti vcode --share-from`")
      .value_name("LIST");
  add_setting("--defer-from", app->defer_from, "List of limits of `tutti vcode --defer-from`")
      .value_name("LIST");
  app.add_option("--rounds", app->rounds, "Runs of each, in turn")
      .value_name("N")
      .show_default()
      .excludes(counts);
  app.add_option("--time", app->time,
                 "Seconds for all programs, each an equal share and at least three rounds; 0: "
                 "--rounds counts")
      .value_name("SECONDS")
      .show_default()
      .needs(processes);
  app.add_option("--busy", app->busy, "Number of busy processes")
      .value_name("N")
      .show_default()
      .needs(processes);
  app.add_option("--python", app->python, "The Python that has NumPy")
      .value_name("PROGRAM")
      .show_default()
      .needs(processes);
  app.add_option("--chains", app->chains,
                 "Also so many chains of 12 elementwise instructions, drawn at random from the "
                 "instruction table, on 4 million elements")
      .value_name("N")
      .show_default()
      .needs(processes);
  const cli::option markdown =
      app.add_flag("--markdown", app->markdown,
                   "The least times as a table of the documentation, in milliseconds")
          .excludes(processes)
          .excludes(counts);
  app.add_flag("--form", app->form,
               "With --processes, --counts or --markdown: the tables without figures; nothing is "
               "measured");
  app.add_flag("--json", app->json, "One JSON object a line instead of the table")
      .excludes(processes)
      .excludes(counts)
      .excludes(markdown);
}

}  // namespace tutti::command
