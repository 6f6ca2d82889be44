// SPDX-License-Identifier: Apache-2.0
// Threads that are there for all rounds, and the results as text.
#include "bench/vcode/instruction_suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "bench/harness/peer_program.hpp"
#include "bench/harness/placement.hpp"
#include "bench/harness/statistics.hpp"
#include "bench/harness/ticks.hpp"
#include "bench/harness/watchdog.hpp"
#include "bench/harness/worker.hpp"
#include "cli/result_line.hpp"

namespace tutti::bench {
namespace {

// The instructions that tell what one costs.
constexpr std::uint64_t instructions_to_try = 100;
// One sweep takes at most this part of the time, so that each series has a round.
constexpr double part_of_sweep = 0.5;
// The runs of a round in a process of its own, of which the median counts.
constexpr std::uint64_t runs_of_openmp = 3;

struct no_barrier : vcode::spmd_run::rank_barrier {
  void arrive_and_wait(unsigned) override {}
};

struct barrier_of : vcode::spmd_run::rank_barrier {
  explicit barrier_of(timed_barrier& barrier) : barrier_(barrier) {}
  void arrive_and_wait(unsigned rank) override { barrier_.arrive_and_wait(rank); }

 private:
  timed_barrier& barrier_;
};

std::string title_of(const instruction_suite::result& r) {
  return r.family + " " + r.name + (r.wait.empty() ? "" : ", " + r.wait);
}

// With how few rounds and instructions some series had to do; empty: with none.
std::string sentence_of_cuts(const instruction_suite& s) {
  const auto cut = std::count_if(s.results().begin(), s.results().end(),
                                 [&](const auto& r) { return s.is_cut(r); });
  if (cut == 0) return {};
  return fmt::format(
      "The time was too short for {} rounds of {} instructions in {} of {} series.\n",
      s.plan().length.rounds, s.plan().count, cut, s.results().size());
}

}  // namespace

class instruction_suite::instruction_series final : public series {
 public:
  instruction_series(const instruction_suite& of, result& to, round run)
      : owner_(of), to_(to), run_(std::move(run)) {}

  bool prepare() override {
    run(instructions_to_try);
    return true;
  }
  void measure() override {
    const std::uint64_t count = owner_.fitting(ns_);
    run(count);
    to_.instructions = to_.rounds == 0 ? count : std::min(to_.instructions, count);
    ++to_.rounds;
    to_.add({ns_}, std::nullopt, to_.rounds);
  }
  double target_ns() const override { return 0; }
  void give_up(const std::string& reason) override { to_.not_measured = reason; }

 private:
  void run(std::uint64_t count) {
    const watchdog guard(
        owner_.plan_.length.longest_round_s,
        fmt::format("{} with {} threads ({})", title_of(to_), to_.threads, name_of(to_.kind)));
    ns_ = run_(count);
  }

  const instruction_suite& owner_;
  result& to_;
  const round run_;
  // What an instruction took in the last run.
  double ns_ = 0;
};

// A core for each thread as far as there are cores.
class instruction_suite::pinned_team {
 public:
  explicit pinned_team(rank_t size) : threads_(size) {
    const placement where = make_placement("core");
    threads_.run([&](rank_t rank) { pin_this_thread(where.cpu_of(rank)); });
  }
  double time(const nop_program& program, vcode::spmd_run::rank_barrier& barrier) {
    return time_instruction(program, threads_.size(), barrier,
                            [this](const auto& body) { threads_.run(body); });
  }

 private:
  thread_team threads_;
};

instruction_suite::instruction_suite(instruction_plan plan) : plan_(std::move(plan)) {
  const bool with_openmp = std::any_of(plan_.contenders.begin(), plan_.contenders.end(),
                                       [](const auto& p) { return p.family == "libgomp"; });
  for (const rank_t n : plan_.threads) {
    teams_.push_back(std::make_unique<pinned_team>(n));
    pinned_team& team = *teams_.back();
    for (const nop_kind kind : {nop_kind::stack, nop_kind::vector}) {
      add({.family = "ideal", .name = "no barrier"}, n, kind, without_barrier(team, n, kind));
      for (const auto& who : plan_.contenders) {
        if (who.barrier) add(who, n, kind, in_process(who, team, n, kind));
      }
      if (with_openmp) add_openmp(n, kind);
    }
  }
}

instruction_suite::~instruction_suite() = default;

bool instruction_suite::is_cut(const result& r) const {
  return r.rounds > 0 && (r.rounds < plan_.length.rounds || r.instructions < plan_.count);
}

const nop_program& instruction_suite::program(nop_kind kind, std::uint64_t count) {
  return programs_.try_emplace({kind, count}, kind, count).first->second;
}

// Half as many again and again until a sweep of such rounds fits into the time, and none counts as
// hung.
std::uint64_t instruction_suite::fitting(double instruction_ns) const {
  std::uint64_t count = plan_.count;
  if (!plan_.length.bounds_rounds) return count;
  const double share_s =
      std::min(part_of_sweep * plan_.length.seconds / static_cast<double>(results_.size()),
               part_of_sweep * plan_.length.longest_round_s);
  while (static_cast<double>(count) * instruction_ns > share_s * 1e9 &&
         count / 2 >= instructions_to_try) {
    count /= 2;
  }
  return count;
}

void instruction_suite::add(const contender& who, rank_t threads, nop_kind kind, round run) {
  result& made = results_.emplace_back();
  made.family = who.family;
  made.name = who.name;
  made.wait = who.wait;
  made.threads = threads;
  made.kind = kind;
  series_.push_back(std::make_unique<instruction_series>(*this, made, std::move(run)));
}

instruction_suite::round instruction_suite::without_barrier(pinned_team& team, rank_t,
                                                            nop_kind kind) {
  return [this, &team, kind](std::uint64_t count) {
    no_barrier none;
    return team.time(program(kind, count), none);
  };
}

instruction_suite::round instruction_suite::in_process(const contender& who, pinned_team& team,
                                                       rank_t threads, nop_kind kind) {
  return [this, &team, threads, kind, make = who.barrier](std::uint64_t count) {
    const auto barrier = make(threads);
    barrier->prepare(count + 8);
    barrier_of all(*barrier);
    return team.time(program(kind, count), all);
  };
}

// The runtime's threads are the runtime's: each round in a fresh process, which ends with it.
void instruction_suite::add_openmp(rank_t threads, nop_kind kind) {
  const std::string executable = find_peer_program("vcode-libgomp");
  if (executable.empty()) return;
  for (const char* policy : {"default", "active", "passive"}) {
    environment settings = openmp_settings({});
    if (std::string(policy) != "default") settings.emplace_back("OMP_WAIT_POLICY", policy);
    settings.emplace_back("OMP_PROC_BIND", "true");
    add({.family = "libgomp", .name = policy}, threads, kind, [=](std::uint64_t count) {
      worker process({executable}, settings);
      const auto got = process.request({{"threads", threads},
                                        {"count", count},
                                        {"kind", name_of(kind)},
                                        {"samples", runs_of_openmp}});
      return median_of(got.at("ns").get<std::vector<double>>());
    });
  }
}

void instruction_suite::run(const progress& report) {
  run_sweeps(
      series_, plan_.length, [] {}, report);
}

std::string json_lines(const instruction_suite& s, const cli::json& machine) {
  std::string text = machine.dump() + "\n";
  for (const auto& r : s.results()) {
    cli::json line{{"benchmark", "instruction"},
                   {"provider", r.family},
                   {"name", r.name},
                   {"wait", r.wait},
                   {"threads", r.threads},
                   {"pinned", true},
                   {"scenario", "free"},
                   {"metric", name_of(r.kind)}};
    if (r.rounds == 0) {
      text += cli::skipped_line(line, r.not_measured);
      continue;
    }
    add_summary(line, r.samples);
    line["rounds"] = r.rounds;
    line["instructions"] = r.instructions;
    line["cycles_median"] = rounded(median_of(r.samples) / ns_per_tick());
    text += cli::result_line(line);
  }
  return text;
}

std::string table(const instruction_suite& s, const cli::json& machine) {
  std::string text = machine_heading(machine) + "\n";
  std::vector<const instruction_suite::result*> order;
  for (const auto& r : s.results()) {
    if (r.rounds > 0) order.push_back(&r);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return std::tuple(a->threads, a->kind, median_of(a->samples)) <
           std::tuple(b->threads, b->kind, median_of(b->samples));
  });
  std::string group;
  for (const auto* r : order) {
    const std::string heading = fmt::format(
        "{} threads, engine spmd, {}", r->threads,
        r->kind == nop_kind::stack ? "COPY 0 0 (nothing at all)" : "NOT on two elements");
    if (heading != group) {
      group = heading;
      text += fmt::format("\n{}\n  {:<42} {:>10} {:>10} {:>14}\n", group, "", "min", "median",
                          "cycles");
    }
    const summary time = summarize(r->samples);
    text += fmt::format("  {:<42} {:>10} {:>10} {:>14.0f}", title_of(*r), format_ns(time.min),
                        format_ns(time.median), time.median / ns_per_tick());
    if (s.is_cut(*r)) {
      text += fmt::format("  (rounds: {}; instructions: {})", r->rounds, r->instructions);
    }
    text += "\n";
  }
  return text + "\nCycles of the time stamp counter, of the median. One barrier an instruction.\n" +
         sentence_of_cuts(s);
}

std::string page_table(const instruction_suite& s) {
  std::string text =
      "| barrier | COPY 0 0: min | median | cycles | NOT: min | median | cycles |\n"
      "|---|--:|--:|--:|--:|--:|--:|\n";
  const auto cells = [](const instruction_suite::result& r) {
    if (r.samples.empty()) return std::string(" | | |");
    const summary time = summarize(r.samples);
    return fmt::format(" {} | {} | {:.0f} |", format_ns(time.min), format_ns(time.median),
                       time.median / ns_per_tick());
  };
  std::vector<const instruction_suite::result*> order;
  for (const auto& r : s.results()) {
    const bool is_first = r.threads == s.results().front().threads;
    if (is_first && r.kind == nop_kind::stack) order.push_back(&r);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return median_of(a->samples) < median_of(b->samples);
  });
  for (const auto* r : order) {
    // "std std::barrier" says nothing that "std::barrier" does not.
    const bool says_family = r->name.starts_with(r->family);
    text += fmt::format("| {}{}{} |{}", says_family ? "" : r->family + " ", r->name,
                        r->wait.empty() ? "" : ", " + r->wait, cells(*r));
    for (const auto& other : s.results())
      if (other.kind == nop_kind::vector && other.threads == r->threads &&
          std::tie(other.family, other.name, other.wait) == std::tie(r->family, r->name, r->wait))
        text += cells(other) + "\n";
  }
  const std::string cuts = sentence_of_cuts(s);
  return cuts.empty() ? text : text + "\n" + cuts;
}

std::vector<std::string> sentences_of_failures(const instruction_suite& s) {
  std::vector<std::string> sentences;
  for (const auto& r : s.results()) {
    if (r.not_measured.empty()) continue;
    sentences.push_back(fmt::format("{} with {} threads ({}) was not measured: {}", title_of(r),
                                    r.threads, name_of(r.kind), r.not_measured));
  }
  return sentences;
}

}  // namespace tutti::bench
