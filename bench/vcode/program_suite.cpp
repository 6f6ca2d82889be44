// SPDX-License-Identifier: Apache-2.0
// Each program is a series; its engines and its loop take turns in each of its rounds.
#include "bench/vcode/program_suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "bench/harness/statistics.hpp"
#include "cli/result_line.hpp"

namespace tutti::bench {
namespace {

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

void require_same_result(const named_program& p, const vcode::run_options& how,
                         const plain_loop& loop) {
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

}  // namespace

silent_files::silent_files()
    : in_(std::fopen("/dev/null", "r")), out_(std::fopen("/dev/null", "w")) {
  if (in_ == nullptr || out_ == nullptr) throw std::runtime_error("/dev/null cannot be opened");
}

vcode::run_options silent_files::options() const {
  vcode::run_options made;
  made.input = in_.get();
  made.output = made.error = out_.get();
  return made;
}

// Another result begins in every round: those that come later find memory that the system has at
// hand.
class program_suite::one_program final : public series {
 public:
  void add(result& each) { results_.push_back(&each); }

  // Kept memory is touched by a run that does not count.
  bool prepare() override {
    for (const result* each : results_) {
      if (each->memory == "kept") each->round();
    }
    return true;
  }
  void measure() override {
    const std::size_t first = rounds_++;
    for (std::size_t i = 0; i < results_.size(); ++i) {
      result& r = *results_[(first + i) % results_.size()];
      ++r.rounds;
      r.add({r.round()}, std::nullopt, rounds_);
    }
  }
  double target_ns() const override { return 0; }
  // Rounds are counted, so that the time is never up.
  void give_up(const std::string&) override {}

 private:
  std::vector<result*> results_;
  std::size_t rounds_ = 0;
};

program_suite::program_suite(program_plan plan) : plan_(std::move(plan)) {
  for (const auto& p : plan_.programs) {
    for (const auto& s : plan_.settings) add_engine(p, s);
    for (const auto& loop : plain_loops()) {
      if (loop.program == p.name) add_loop(p, loop);
    }
  }
}

void program_suite::add_engine(const named_program& p, const engine_setting& s) {
  vcode::run_options how = silent_.options();
  how.engine = s.engine;
  how.threads = s.threads;
  if (s.share_from != 0) how.share_from = s.share_from;
  if (s.defer_from != 0) how.defer_from = s.defer_from;
  if (s.threads > 1) how.team = &team_of(s.threads);
  if (s.is_kept) how.kept = &memory_of(p.name);
  result& made = results_.emplace_back();
  made.program = p.name;
  made.provider = "tutti";
  made.name = s.name;
  made.memory = s.is_kept ? "kept" : "fresh";
  made.threads = s.threads;
  made.round = [&made, &p, how] {
    return ns_of([&] { made.statistics = vcode::run(p.code, {}, how).statistics; });
  };
}

void program_suite::add_loop(const named_program& p, const plain_loop& loop) {
  require_same_result(p, silent_.options(), loop);
  result& made = results_.emplace_back();
  made.program = p.name;
  made.provider = "plain";
  made.name = "loop";
  made.round = [&loop] { return ns_of(loop.compute); };
}

tutti::team& program_suite::team_of(unsigned threads) {
  auto& found = teams_[threads];
  if (found == nullptr) {
    team_options how;
    how.threads = threads;
    how.fibers.checks = false;
    found = std::make_unique<tutti::team>(how);
  }
  return *found;
}

// Each program has memory of its own, so that the ones before it do not decide what is touched.
vcode::kept_memory& program_suite::memory_of(const std::string& program) {
  auto& found = memories_[program];
  if (found == nullptr) found = std::make_unique<vcode::kept_memory>();
  return *found;
}

void program_suite::run(const progress& report) {
  std::map<std::string, one_program*> of_name;
  std::vector<std::unique_ptr<series>> all;
  for (auto& r : results_) {
    one_program*& found = of_name[r.program];
    if (found == nullptr) {
      auto made = std::make_unique<one_program>();
      found = made.get();
      all.push_back(std::move(made));
    }
    found->add(r);
  }
  run_sweeps(
      all, plan_.length, [] {}, report);
}

// For each memory, engine and number of threads a column, and for each engine the speed-up with the
// most threads.
std::string page_table(const program_suite& s) {
  struct column {
    std::string head;
    std::function<bool(const program_suite::result&)> is_of;
    // If it is a speed-up: the columns whose quotient it is.
    std::size_t slow = 0, fast = 0;
  };
  std::vector<column> columns;
  const std::string first = s.results().empty() ? "" : s.results().front().program;
  std::vector<const program_suite::result*> engines;
  for (const auto& r : s.results())
    if (r.program == first && r.provider == "tutti") engines.push_back(&r);
  // Settings stay in the order in which they were asked for.
  const auto place_of = [&, asked = engines](const auto* r) {
    return std::find_if(asked.begin(), asked.end(),
                        [&](const auto* a) { return a->name == r->name; }) -
           asked.begin();
  };
  std::stable_sort(engines.begin(), engines.end(), [&](const auto* a, const auto* b) {
    return std::pair(a->memory, place_of(a)) < std::pair(b->memory, place_of(b));
  });
  for (std::size_t i = 0, group = 0; i < engines.size(); ++i) {
    const auto& r = *engines[i];
    const bool begins =
        i == 0 || r.memory != engines[i - 1]->memory || r.name != engines[i - 1]->name;
    if (begins) group = columns.size();
    columns.push_back({fmt::format("{}{} thread{}", begins ? r.name + ", " + r.memory + ": " : "",
                                   r.threads, r.threads == 1 ? "" : "s"),
                       [&r](const program_suite::result& other) {
                         return other.provider == "tutti" && other.memory == r.memory &&
                                other.name == r.name && other.threads == r.threads;
                       }});
    const bool ends = i + 1 == engines.size() || engines[i + 1]->memory != r.memory ||
                      engines[i + 1]->name != r.name;
    if (ends && columns.size() - group > 1)
      columns.push_back({"speed-up", nullptr, group, columns.size() - 1});
  }
  columns.push_back({"loop", [](const auto& r) { return r.provider == "plain"; }});

  std::string text = "| program |", rule = "|---|";
  for (const auto& c : columns) {
    text += fmt::format(" {} |", c.head);
    rule += "--:|";
  }
  text += "\n" + rule + "\n";
  std::vector<std::string> programs;
  for (const auto& r : s.results())
    if (programs.empty() || programs.back() != r.program) programs.push_back(r.program);
  for (const auto& program : programs) {
    text += fmt::format("| {} |", program);
    std::vector<double> least(columns.size(), 0);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      for (const auto& r : s.results())
        if (r.program == program && columns[c].is_of && columns[c].is_of(r))
          least[c] = summarize(r.samples).min;
      const bool is_ratio = columns[c].is_of == nullptr;
      const double value = is_ratio && least[columns[c].fast] > 0
                               ? least[columns[c].slow] / least[columns[c].fast]
                               : least[c] / 1e6;
      text += value == 0 ? " |"
              : is_ratio ? fmt::format(" {:.2f} |", value)
                         : fmt::format(" {:.1f} |", value);
    }
    text += "\n";
  }
  return text;
}

std::string table_of_counts(const std::vector<named_program>& programs, bool is_form) {
  const silent_files silent;
  std::string text =
      "| program | instructions | MB moved, spmd | MB moved, lazy | barriers, spmd | regions, lazy "
      "|\n"
      "|---|---|---|---|---|---|\n";
  for (const named_program& p : programs) {
    if (is_form) {
      text += fmt::format("| {} | | | | | |\n", p.name);
      continue;
    }
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

std::string json_lines(const program_suite& s, const cli::json& machine) {
  std::string text = machine.dump() + "\n";
  for (const auto& r : s.results()) {
    cli::json line{{"benchmark", "vcode"}, {"provider", r.provider}, {"name", r.name},
                   {"program", r.program}, {"threads", r.threads},   {"metric", "run"}};
    if (!r.memory.empty()) line["scenario"] = r.memory + "_memory";
    add_summary(line, r.samples);
    if (r.provider == "tutti") {
      line["instructions"] = r.statistics.instructions;
      line["bytes"] = r.statistics.bytes;
      line["barriers"] = r.statistics.barriers;
    }
    text += cli::result_line(line);
  }
  return text;
}

std::string table(const program_suite& s, const cli::json& machine) {
  std::string text = fmt::format(
      "{}\n\n{:<22} {:<8} {:<7} {:>7} {:>10} {:>10} {:>9} {:>10} {:>9}\n", machine_heading(machine),
      "program", "engine", "memory", "threads", "min", "median", "against", "MB moved", "meetings");
  for (const auto& r : s.results()) {
    // A loop, which has no such memory, is held against the program's first line.
    const auto first = std::find_if(s.results().begin(), s.results().end(), [&](const auto& other) {
      return other.program == r.program && (r.memory.empty() || other.memory == r.memory);
    });
    const summary time = summarize(r.samples);
    text += fmt::format("{:<22} {:<8} {:<7} {:>7} {:>10} {:>10} {:>8.2f}x {:>10.1f} {:>9}\n",
                        r.program, r.provider == "plain" ? "(loop)" : r.name, r.memory, r.threads,
                        format_ns(time.min), format_ns(time.median),
                        summarize(first->samples).min / time.min,
                        static_cast<double>(r.statistics.bytes) * 1e-6, r.statistics.barriers);
  }
  return text +
         "\n\"against\": the least time of the program's first line with such memory against this "
         "one's. Threads are there\nbefore. Memory that is kept has been touched in an earlier "
         "run; "
         "fresh memory the system must find and clear.\n(loop): plain C++ on one thread.\n";
}

}  // namespace tutti::bench
