// SPDX-License-Identifier: Apache-2.0
// Programs whose every barrier is a barrier unit that Verilator made a model of: empty regions and
// regions with work, StreamCluster, and the vector machine. Prints whether each program finds what
// it finds with tutti's own barrier, and how often it asked the unit. The times are those of the
// model on this machine, not those of a unit.
// Source: Hetland et al. 2019, figures 6 (b) and 6 (c).
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "Vtutti_cosim_harp.h"
#include "Vtutti_cosim_hbs.h"
#include "Vtutti_cosim_mask.h"
#include "cli/errors.hpp"
#include "cli/lists.hpp"
#include "cli/options.hpp"
#include "cli/result_line.hpp"
#include "hardware/cosim/simulated_device.hpp"
#include "hardware/driver/providers.hpp"
#include "tutti/team/team.hpp"
#include "vcode/io/written_text.hpp"
#include "vcode/vcode.hpp"
#include "workloads/streamcluster/streamcluster.hpp"
#include "workloads/synthetic/workload.hpp"

namespace tutti::hardware {
namespace {

struct plan {
  std::string threads = "2";
  std::uint64_t regions = 500, points = 300;
  std::vector<std::string> vcode;
  bool json = false;
};

// What a run found, as text to compare, its barriers, and how it went wrong or nothing.
struct finding {
  std::string text;
  std::uint64_t barriers = 0;
  std::string fault;
};

// Runs with a barrier; an empty name is tutti's own.
using program = std::function<finding(rank_t threads, const std::string& barrier)>;

struct named_program {
  std::string name;
  program run;
};

// A unit, registered under its name while this lives.
struct unit {
  std::string name;
  std::shared_ptr<device> model;
  std::function<std::uint64_t()> requests;
  std::unique_ptr<provider> registered;
};

template <class Model, class Provide>
unit make_unit(const char* name, Provide provide) {
  auto model = std::make_shared<simulated_device<Model>>(std::string("simulated ") + name);
  auto registered = std::make_unique<provider>(name, provide(model));
  return {name, model, [model] { return model->requests(); }, std::move(registered)};
}

// Regions that a barrier opens and a barrier ends, because the barrier of a provider is a member's,
// not that of the team's own regions.
finding regions(rank_t threads, const std::string& barrier, std::size_t length,
                std::uint64_t count) {
  synthetic::workload work(threads, length, {}, 1);
  team ranks(team_options{.threads = threads, .barrier = barrier});
  ranks.run([&](member& me) {
    for (std::uint64_t i = 0; i < count; ++i) {
      me.barrier();
      work.enter(me.rank());
      me.barrier();
    }
  });
  return {fmt::format("{} regions", count), 2 * count, work.fault(count)};
}

finding clusters(rank_t threads, const std::string& barrier, std::uint64_t points) {
  team ranks(team_options{.threads = threads, .barrier = barrier});
  const auto stream = streamcluster::generate(points, 32, 1);
  const auto found = streamcluster::cluster(ranks, *stream, {.chunk = 500});
  return {fmt::format("{:016x}", streamcluster::fingerprint(found)), found.counts.barriers, {}};
}

finding interpret(rank_t threads, const std::string& barrier, const vcode::program& code) {
  const vcode::written_text output;
  vcode::run_options how;
  how.threads = threads;
  how.engine = vcode::engine::spmd;
  how.barrier = barrier;
  how.zero_timers = true;
  how.output = how.result = output.stream();
  const std::uint64_t barriers = run(code, {}, how).statistics.barriers;
  return {output.text(), barriers, {}};
}

vcode::program read_program(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return vcode::compile(text, path);
}

std::vector<named_program> programs_of(const plan& p) {
  std::vector<named_program> made{
      {"empty regions",
       [n = p.regions](rank_t threads, const std::string& barrier) {
         return regions(threads, barrier, 0, n);
       }},
      {"regions of 1000 products",
       [n = p.regions](rank_t threads, const std::string& barrier) {
         return regions(threads, barrier, 1000, n);
       }},
      {fmt::format("StreamCluster, {} points", p.points),
       [n = p.points](rank_t threads, const std::string& barrier) {
         return clusters(threads, barrier, n);
       }},
  };
  for (const std::string& path : p.vcode) {
    const std::string file = path.substr(path.rfind('/') + 1);
    made.push_back({fmt::format("VCODE, {}", file.substr(0, file.rfind('.'))),
                    [code = read_program(path)](rank_t threads, const std::string& barrier) {
                      return interpret(threads, barrier, code);
                    }});
  }
  return made;
}

void print(const plan& p, const std::string& name, const std::string& barrier, rank_t threads,
           const finding& found, double seconds, std::uint64_t requests) {
  if (!p.json) {
    fmt::print("{:<36} {:>7} {:<8} {:>9} {:>10} {:>9.3f} s\n", name, threads, barrier,
               found.barriers, requests, seconds);
    return;
  }
  fmt::print("{}", cli::result_line({{"benchmark", "cosim"},
                                     {"provider", "tutti"},
                                     {"name", barrier},
                                     {"program", name},
                                     {"threads", threads},
                                     {"metric", "wall"},
                                     {"median", seconds * 1e9},
                                     {"barriers", found.barriers},
                                     {"requests", requests}}));
}

int run_all(const plan& p) {
  using std::chrono::steady_clock;
  const std::vector<named_program> programs = programs_of(p);
  std::vector<unit> units;
  units.push_back(make_unit<Vtutti_cosim_harp>("harp", [](auto d) { return harp_barriers(d); }));
  units.push_back(make_unit<Vtutti_cosim_mask>("mask", [](auto d) { return harp_barriers(d); }));
  units.push_back(make_unit<Vtutti_cosim_hbs>("hbs", [](auto d) { return hbs_barriers(d); }));
  const std::vector<std::uint32_t> counts = cli::parse_counts("--threads", p.threads, 64);
  if (!p.json)
    fmt::print("{:<36} {:>7} {:<8} {:>9} {:>10} {:>11}\n", "program", "threads", "barrier",
               "barriers", "requests", "model's time");
  int status = cli::success;
  for (const named_program& each : programs)
    for (const rank_t threads : counts) {
      const auto timed = [&](const std::string& barrier, const auto& requests) {
        const std::uint64_t before = requests();
        const auto begin = steady_clock::now();
        const finding found = each.run(threads, barrier);
        const std::chrono::duration<double> took = steady_clock::now() - begin;
        print(p, each.name, barrier.empty() ? "default" : barrier, threads, found, took.count(),
              requests() - before);
        return found;
      };
      // A fault of both is not the same result.
      const auto is_faulty = [&](const std::string& barrier, const finding& found) {
        if (found.fault.empty()) return false;
        fmt::print(stderr, "tutti-cosim: error: {} with {} threads: with {}: {}\n", each.name,
                   threads, barrier, found.fault);
        status = cli::failed;
        return true;
      };
      const finding own = timed("", [] { return std::uint64_t{0}; });
      is_faulty("tutti's own barrier", own);
      for (const unit& u : units) {
        const finding found = timed(u.name, u.requests);
        if (is_faulty(u.name, found) || found.text == own.text) continue;
        fmt::print(stderr,
                   "tutti-cosim: error: {} with {} threads: with {} it found\n{}\nnot\n{}\n",
                   each.name, threads, u.name, found.text, own.text);
        status = cli::failed;
      }
    }
  return status;
}

}  // namespace
}  // namespace tutti::hardware

int main(int argc, char** argv) {
  namespace cli = tutti::cli;
  tutti::hardware::plan p;
  cli::program program(
      "Programs on barrier units simulated from their Verilog: the same results as with tutti's "
      "own "
      "barrier, and how often they ask the unit",
      "tutti-cosim");
  program.add_option("--threads", p.threads, "Numbers of threads, up to 64")
      .value_name("LIST")
      .show_default();
  program.add_option("--regions", p.regions, "Regions of the synthetic benchmark").show_default();
  program.add_option("--points", p.points, "Points of StreamCluster, of 32 dimensions")
      .show_default();
  program.add_option("vcode", p.vcode, "Programs in VCODE");
  program.add_flag("--json", p.json, "One JSON object a line instead of the table");
  return program.run(argc, argv, [&] { return tutti::hardware::run_all(p); });
}
