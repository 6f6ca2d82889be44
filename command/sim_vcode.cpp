// SPDX-License-Identifier: Apache-2.0
// `tutti sim vcode`: a program of the vector machine on a simulated machine.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/errors.hpp"
#include "cli/lists.hpp"
#include "cli/result_line.hpp"
#include "command/sim.hpp"
#include "command/vcode_file.hpp"
#include "sim/vector_program.hpp"

namespace tutti::command {
namespace {

// Lists of algorithms leave out the papers' regions.
std::vector<sim::contender> chosen(const sim_options& o, const sim::machine& m) {
  const std::vector<std::string> names = cli::split("--algorithms", o.barriers);
  std::vector<sim::contender> all = sim::barriers(names, cli::split("--wait", o.waits));
  sim::remove_without_part(all, names, m);
  std::string regions;
  std::erase_if(all, [&](const sim::contender& c) {
    if (c.is_barrier) return false;
    if (std::find(names.begin(), names.end(), c.name) != names.end()) regions = c.name;
    return true;
  });
  if (!regions.empty())
    throw std::invalid_argument(
        fmt::format("--algorithms: '{}' is a region with a master, and the threads of a program "
                    "meet in a barrier",
                    regions));
  return all;
}

void print_json(const sim_options& o, const sim::machine& m, const sim::contender& who,
                rank_t threads, const sim::vector_run& run) {
  fmt::print("{}", cli::result_line(
                       with_set(o, {{"benchmark", "sim_vcode"},
                                    {"provider", who.family},
                                    {"name", who.name},
                                    {"wait", who.wait},
                                    {"threads", threads},
                                    {"program", std::filesystem::path(o.file).stem().string()},
                                    {"metric", "wall"},
                                    {"median", run.ns},
                                    {"samples", 1},
                                    {"instructions", run.done.instructions},
                                    {"barriers", run.done.barriers},
                                    {"in_barriers", run.in_barriers},
                                    {"instruction_ns", o.instruction},
                                    {"element_ns", o.element},
                                    {"poll_gap_ns", poll_gap_of(o, m)},
                                    {"seed", o.seed},
                                    {"machine", m.name}})));
}

}  // namespace

int run_vcode(const sim_options& o) try {
  const sim::machine m = sim::find_machine(o.machine, settings_of(o));
  const std::vector<sim::contender> all = chosen(o, m);
  const std::vector<std::uint32_t> counts = counts_of(o, "--threads", m.cpus());
  const sim::interpreting how{o.instruction, o.element, o.most_instructions};
  const vcode::program code = read_vcode(o.file);
  const sim::vector_run alone = sim::run_alone(code, how);
  if (!o.json)
    fmt::print(
        "{}: {}\n{}: {} instructions, {} elements; one thread without barriers: {:.3f} ms\n"
        "{:>7}  {:<24} {:<9} {:>10} {:>9} {:>12} {:>14}\n",
        m.name, m.description, o.file, alone.done.instructions, alone.done.elements, alone.ns / 1e6,
        "threads", "name", "wait", "ms", "speed-up", "barriers", "in barriers, %");
  for (const std::uint32_t threads : counts) {
    for (const sim::contender& who : all) {
      const sim::vector_run run = sim::run_program(
          m, who, {.threads = threads, .seed = o.seed, .poll_gap_ns = o.poll_gap}, code, how);
      if (run.result != alone.result)
        throw std::logic_error(
            fmt::format("{} threads with the barrier '{}' have another result than one thread",
                        threads, who.name));
      if (o.json)
        print_json(o, m, who, threads, run);
      else
        fmt::print("{:>7}  {:<24} {:<9} {:>10.3f} {:>9.2f} {:>12} {:>14.1f}\n", threads, who.name,
                   who.wait, run.ns / 1e6, alone.ns / run.ns, run.done.barriers,
                   100 * run.in_barriers);
      std::fflush(stdout);
    }
  }
  return cli::success;
} catch (const vcode::source_error& e) {
  fmt::print(stderr, "tutti: {}\n", e.what());
  return cli::failed;
} catch (const vcode::run_error& e) {
  fmt::print(stderr, "tutti: {}\n", e.what());
  return cli::failed;
}

}  // namespace tutti::command
