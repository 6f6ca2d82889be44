// SPDX-License-Identifier: Apache-2.0
// `tutti bench vcode`: programs on engines and threads, in turn; and what the engines move and how often they meet.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>

#include "bench/harness/record.hpp"
#include "bench/harness/statistics.hpp"
#include "bench/vcode/loops.hpp"
#include "cli/errors.hpp"
#include "cli/lists.hpp"
#include "cli/progress.hpp"
#include "cli/result_line.hpp"
#include "command/bench_options.hpp"
#include "command/measured.hpp"
#include "command/subcommands.hpp"
#include "tutti/team/team.hpp"
#include "vcode/vcode.hpp"

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

struct loaded {
  std::string name;
  vcode::program code;
};

struct setting {
  vcode::engine engine;
  std::string name;
  unsigned threads;
  bool is_kept;  // the memory, from run to run
};

struct series {
  std::string program, provider, name, memory;
  unsigned threads;
  std::function<double()> round;  // ns
  std::vector<double> samples;
  vcode::run_statistics statistics;
};

loaded load(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file))
    throw std::invalid_argument(fmt::format("{}: cannot be opened", file));
  const std::string text(std::istreambuf_iterator<char>(in), {});
  vcode::program code = vcode::compile(text, file);
  vcode::require_no_inputs(code);
  return {std::filesystem::path(file).stem(), code};
}

// What programs read and write while they are measured.
class nothing {
 public:
  nothing() : in_(std::fopen("/dev/null", "r")), out_(std::fopen("/dev/null", "w")) {
    if (in_ == nullptr || out_ == nullptr) throw std::runtime_error("/dev/null cannot be opened");
  }
  ~nothing() {
    std::fclose(in_);
    std::fclose(out_);
  }
  nothing(const nothing&) = delete;
  nothing& operator=(const nothing&) = delete;
  vcode::run_options options() const {
    vcode::run_options made;
    made.input = in_;
    made.output = made.error = out_;
    return made;
  }

 private:
  std::FILE* in_;
  std::FILE* out_;
};

std::vector<setting> settings_of(const options& o) {
  const std::map<std::string, vcode::engine> known{{"lazy", vcode::engine::lazy},
                                                   {"workers", vcode::engine::workers},
                                                   {"spmd", vcode::engine::spmd}};
  std::vector<bool> is_kept;
  for (const auto& name : cli::split("--memory", o.memory)) {
    if (name != "fresh" && name != "kept") {
      throw std::invalid_argument(fmt::format("--memory: '{}' is neither fresh nor kept", name));
    }
    is_kept.push_back(name == "kept");
  }
  std::vector<setting> made;
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

// The first numbers that a program leaves, of its scalars.
std::vector<double> numbers_of(const std::vector<vcode::vector_value>& stack) {
  std::vector<double> made;
  for (const auto& each : stack) {
    if (const auto* i = std::get_if<std::vector<std::int32_t>>(&each);
        i != nullptr && i->size() == 1) {
      made.push_back(i->front());
    }
    if (const auto* f = std::get_if<std::vector<double>>(&each); f != nullptr && f->size() == 1) {
      made.push_back(f->front());
    }
  }
  return made;
}

void require_same_result(const loaded& p, const vcode::run_options& how,
                         const bench::plain_loop& loop) {
  const std::vector<double> wanted = numbers_of(vcode::run(p.code, {}, how).stack);
  const std::vector<double> got = loop.compute();
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (i < wanted.size() && std::abs(got[i] - wanted[i]) <= 1e-9 * std::abs(wanted[i])) continue;
    throw std::runtime_error(fmt::format("{}: the plain loop computes something else", p.name));
  }
}

template <class Act>
double ns_of(Act&& act) {
  const auto begin = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

class measurement {
 public:
  measurement(const options& o, const std::vector<loaded>& programs) {
    for (const loaded& p : programs) {
      for (const setting& s : settings_of(o)) add(p, s);
      for (const auto& loop : bench::plain_loops()) {
        if (loop.program != p.name) continue;
        require_same_result(p, nothing_.options(), loop);
        series_.push_back(
            {p.name, "plain", "loop", "", 1, [&loop] { return ns_of(loop.compute); }, {}, {}});
      }
    }
  }

  void run(std::uint64_t rounds) {
    cli::progress_line line;
    for (const series& s : series_) {
      if (s.memory == "kept") s.round();
    }
    for (std::uint64_t r = 0; r < rounds; ++r) {
      for (std::size_t first = 0; first < series_.size();) {
        std::size_t last = first;
        while (last < series_.size() && series_[last].program == series_[first].program) ++last;
        line.update(series_[first].program, static_cast<double>(r) / static_cast<double>(rounds));
        // Another one begins in every round: who comes later finds memory that the system has at hand.
        for (std::size_t i = 0; i < last - first; ++i) {
          series& s = series_[first + (r + i) % (last - first)];
          s.samples.push_back(s.round());
        }
        first = last;
      }
    }
  }

  const std::vector<series>& results() const { return series_; }

 private:
  void add(const loaded& p, const setting& s) {
    vcode::run_options how = nothing_.options();
    how.engine = s.engine;
    how.threads = s.threads;
    if (s.threads > 1) how.team = &team_of(s.threads);
    if (s.is_kept) how.kept = &memory_of(p.name);
    const std::size_t place = series_.size();
    series_.push_back({p.name,
                       "tutti",
                       s.name,
                       s.is_kept ? "kept" : "fresh",
                       s.threads,
                       [this, p, how, place] {
                         return ns_of([&] {
                           series_[place].statistics = vcode::run(p.code, {}, how).statistics;
                         });
                       },
                       {},
                       {}});
  }

  team& team_of(unsigned threads) {
    auto& found = teams_[threads];
    if (found == nullptr) {
      team_options how;
      how.threads = threads;
      how.fibers.checks = false;
      found = std::make_unique<team>(how);
    }
    return *found;
  }

  // Of a program's own, so that the ones before it do not decide what is touched. The first round, which is not
  // counted, touches it.
  vcode::kept_memory& memory_of(const std::string& program) {
    auto& found = memories_[program];
    if (found == nullptr) found = std::make_unique<vcode::kept_memory>();
    return *found;
  }

  nothing nothing_;
  std::map<std::string, std::unique_ptr<vcode::kept_memory>> memories_;
  std::map<unsigned, std::unique_ptr<team>> teams_;
  std::vector<series> series_;
};

// A table for the docs: no times, so that it is the same on every machine.
std::string counts_table(const std::vector<loaded>& programs) {
  const nothing silent;
  std::string text =
      "| program | instructions | MB moved, spmd | MB moved, lazy | barriers, spmd | regions, lazy "
      "|\n"
      "|---|---|---|---|---|---|\n";
  for (const loaded& p : programs) {
    vcode::run_options how = silent.options();
    how.threads = 2;
    const vcode::run_statistics lazy = vcode::run(p.code, {}, how).statistics;
    how.engine = vcode::engine::spmd;
    const vcode::run_statistics spmd = vcode::run(p.code, {}, how).statistics;
    const auto megabytes = [](std::uint64_t bytes) { return static_cast<double>(bytes) * 1e-6; };
    text += fmt::format("| {} | {} | {:.1f} | {:.1f} | {} | {} |\n", p.name, spmd.instructions,
                        megabytes(spmd.bytes), megabytes(lazy.bytes), spmd.barriers, lazy.barriers);
  }
  return text;
}

std::string json_lines(const measurement& m, const bench::ordered_json& machine) {
  std::string text = machine.dump() + "\n";
  for (const series& s : m.results()) {
    bench::ordered_json line{{"benchmark", "vcode"}, {"provider", s.provider}, {"name", s.name},
                             {"program", s.program}, {"threads", s.threads},   {"metric", "run"}};
    if (!s.memory.empty()) line["scenario"] = s.memory + "_memory";
    bench::add_summary(line, s.samples);
    if (s.provider == "tutti") {
      line["instructions"] = s.statistics.instructions;
      line["bytes"] = s.statistics.bytes;
      line["barriers"] = s.statistics.barriers;
    }
    text += cli::result_line(line);
  }
  return text;
}

std::string table(const measurement& m, const bench::ordered_json& machine) {
  std::string text =
      fmt::format("{}\n\n{:<22} {:<8} {:<7} {:>7} {:>10} {:>10} {:>9} {:>10} {:>9}\n",
                  bench::machine_heading(machine), "program", "engine", "memory", "threads", "min",
                  "median", "against", "MB moved", "meetings");
  for (const series& s : m.results()) {
    // A loop, which has no such memory, is held against the program's first line.
    const auto first =
        std::find_if(m.results().begin(), m.results().end(), [&](const series& other) {
          return other.program == s.program && (s.memory.empty() || other.memory == s.memory);
        });
    const bench::summary r = bench::summarize(s.samples);
    text += fmt::format("{:<22} {:<8} {:<7} {:>7} {:>10} {:>10} {:>8.2f}x {:>10.1f} {:>9}\n",
                        s.program, s.provider == "plain" ? "(loop)" : s.name, s.memory, s.threads,
                        bench::format_ns(r.min), bench::format_ns(r.median),
                        bench::summarize(first->samples).min / r.min,
                        static_cast<double>(s.statistics.bytes) * 1e-6, s.statistics.barriers);
  }
  return text +
         "\n\"against\": the least time of the program's first line with such memory against this "
         "one's. Threads are there\nbefore. Memory that is kept has been touched in an earlier "
         "run; "
         "fresh memory the system must find and clear.\n(loop): plain C++ on one thread.\n";
}

int run(const options& o) {
  std::vector<loaded> programs;
  try {
    for (const auto& file : o.files) programs.push_back(load(file));
    if (o.counts) {
      fmt::print("{}", counts_table(programs));
      return cli::success;
    }
    measurement m(o, programs);
    const auto rounds = cli::parse_integer("--rounds", o.rounds, 1, 100'000);
    const bench::ordered_json machine = machine_during([&] { m.run(rounds); });
    fmt::print("{}", o.json ? json_lines(m, machine) : table(m, machine));
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
