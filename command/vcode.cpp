// SPDX-License-Identifier: Apache-2.0
// `tutti vcode`: runs a VCODE program.
#include "vcode/vcode.hpp"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>

#include "cli/errors.hpp"
#include "cli/lists.hpp"
#include "command/subcommands.hpp"
#include "command/vcode_file.hpp"
#include "tutti/platform/usable_cpus.hpp"
#include "tutti/registry.hpp"

namespace tutti::command {
namespace {

struct vcode_options {
  std::string file;
  std::string threads = "auto";
  std::string ranks = "0";
  std::string engine = "lazy";
  std::string barrier;
  std::string memory = "0";
  std::string most_instructions = "0";
  std::string most_seconds = "0";
  std::string vector_unit;
  std::string share_from = "16384";
  std::string defer_from = "4096";
  bool check = false;
  bool strict = false;
  bool zero_timers = false;
  bool statistics = false;
  bool trace = false;
  bool time = false;
};

constexpr std::uint64_t most_threads = 4096;

vcode::engine engine_of(const std::string& name) {
  if (name == "lazy") return vcode::engine::lazy;
  if (name == "workers") return vcode::engine::workers;
  if (name == "spmd") return vcode::engine::spmd;
  throw std::invalid_argument(
      fmt::format("--engine: '{}' is not one of lazy, workers, spmd", name));
}

void require_barrier(const std::string& name) {
  if (name.empty() || is_barrier_name(name)) return;
  throw std::invalid_argument(
      fmt::format("--barrier: '{}' is not an algorithm; see `tutti info`", name));
}

vcode::run_options run_options_of(const vcode_options& o) {
  vcode::run_options made;
  // Engine lazy creates no thread before a vector is long enough, and leaves threads alone that
  // turn out to have no core.
  made.threads =
      o.threads == "auto"
          ? 0
          : static_cast<unsigned>(cli::parse_integer("--threads", o.threads, 0, most_threads));
  made.ranks = static_cast<unsigned>(cli::parse_integer("--ranks", o.ranks, 0, most_threads));
  made.memory = cli::parse_bytes("--memory", o.memory, 0, UINT64_MAX >> 16);
  made.most_instructions =
      cli::parse_integer("--most-instructions", o.most_instructions, 0, UINT64_MAX);
  made.most_seconds = cli::parse_number("--most-seconds", o.most_seconds, 0, 1e9);
  made.share_from = cli::parse_integer("--share-from", o.share_from, 1, UINT64_MAX);
  made.defer_from = cli::parse_integer("--defer-from", o.defer_from, 1, UINT64_MAX);
  made.engine = engine_of(o.engine);
  require_barrier(o.barrier);
  made.barrier = o.barrier;
  made.check = o.check;
  made.strict = o.strict;
  made.zero_timers = o.zero_timers;
  if (o.trace) made.trace = stderr;
  made.result = stdout;
  return made;
}

void warn_of_too_many_threads(const vcode::run_options& o) {
  const unsigned cpus = platform::usable_cpus();
  if (o.engine != vcode::engine::spmd || o.threads <= cpus) return;
  fmt::print(stderr,
             "tutti: warning: {} threads of engine spmd share {} CPUs: every instruction waits for "
             "threads without a CPU, so the run will be slow\n",
             o.threads, cpus);
}

void choose_vector_unit(const std::string& name) {
  if (name.empty()) return;
  try {
    vcode::force_vector_unit(name);
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument(fmt::format("--vector-unit: {}", e.what()));
  }
}

void print_statistics(const vcode::run_statistics& s) {
  const auto line = [](const char* name, std::uint64_t value) {
    fmt::print(stderr, "  {:<34} {:>16}\n", name, value);
  };
  line("instructions", s.instructions);
  line("of them on elements of vectors", s.vector_instructions);
  line("elements computed", s.elements);
  line("bytes of vectors read and written", s.bytes);
  line("passes over memory", s.passes);
  line("instructions without a pass", s.fused);
  line("barrier episodes or regions", s.barriers);
  line("peak of the arena, bytes", s.arena_peak);
  fmt::print(stderr, "  {:<34} {:>16}\n", "vector unit", vcode::vector_unit());
}

int run_program(const vcode_options& o) {
  const vcode::run_options options = run_options_of(o);
  choose_vector_unit(o.vector_unit);
  // A write to a program that has ended must fail as an instruction and not end this process.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    const vcode::program program = read_vcode(o.file);
    warn_of_too_many_threads(options);
    const auto before = std::chrono::steady_clock::now();
    const vcode::run_result result = vcode::run(program, {}, options);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      throw std::runtime_error("standard output cannot be written");
    }
    if (o.time) fmt::print(stderr, "time: {:.6f} s\n", took.count());
    if (o.statistics) print_statistics(result.statistics);
    return cli::success;
  } catch (const vcode::source_error& e) {
    return cli::complain("tutti", e.what(), cli::failed);
  } catch (const vcode::run_error& e) {
    std::fflush(stdout);
    return cli::complain("tutti", e.what(), cli::failed);
  }
}

}  // namespace

void add_vcode(cli::command& program) {
  cli::subcommand<vcode_options> app(program, "vcode",
                                     "Run a program for the vector machine of NESL", run_program);
  app.add_option("file", app->file, "A VCODE program, as the NESL compiler writes it").required();
  app.add_option("--threads", app->threads,
                 "Number of threads; auto (default) or 0: as many as the process may use CPUs, if "
                 "that pays")
      .value_name("N");
  app.add_option("--ranks", app->ranks, "Number of virtual ranks; default: one for each thread")
      .value_name("N");
  app.add_option("--engine", app->engine,
                 "lazy (default), workers (one region for each instruction), spmd (every thread "
                 "interprets)")
      .value_name("ENGINE");
  app.add_option("--barrier", app->barrier,
                 "An algorithm that `tutti info` lists; default: tutti chooses")
      .value_name("NAME");
  app.add_option("--memory", app->memory,
                 "Bytes for vectors, such as 4G; 0 (default): as much as the machine has and the "
                 "process's control groups allow")
      .value_name("BYTES");
  app.add_option("--most-instructions", app->most_instructions,
                 "The program fails if it executes more instructions; 0 (default): no limit")
      .value_name("N");
  app.add_option("--most-seconds", app->most_seconds,
                 "The program fails if it runs longer; 0 (default): no limit")
      .value_name("SECONDS");
  app.add_option("--vector-unit", app->vector_unit,
                 "Use this unit instead of the widest, to compare: AVX3, AVX2, SSE4, baseline")
      .value_name("UNIT");
  app.add_option("--share-from", app->share_from,
                 "Engine lazy: number of elements from which all threads share an instruction")
      .value_name("N")
      .show_default();
  app.add_option("--defer-from", app->defer_from,
                 "Engine lazy: number of elements from which elementwise instructions are deferred")
      .value_name("N")
      .show_default();
  app.add_flag("--check", app->check,
               "Also check what memory safety does not need: the flag of IF is one element, "
               "PERMUTE has no index twice, DFPERMUTE has as many indices as places");
  app.add_flag("--strict", app->strict,
               "Combine FLOAT sums and products strictly from left to right");
  app.add_flag("--zero-timers", app->zero_timers, "STOP_TIMER pushes 0.0");
  app.add_flag("--stats", app->statistics, "Print counts of the work on standard error");
  app.add_flag("--trace", app->trace, "Print a line for each instruction on standard error");
  app.add_flag(
      "--time", app->time,
      "Print the seconds that the program ran, printing its stack included, on standard error");
}

}  // namespace tutti::command
