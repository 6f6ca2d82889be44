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
#include "bench/harness/timed_series.hpp"
#include "bench/harness/worker.hpp"
#include "cli/result_line.hpp"

namespace tutti::bench {
namespace {

struct no_barrier : vcode::spmd_run::rank_barrier {
  void arrive_and_wait(unsigned) override {}
};

struct barrier_of : vcode::spmd_run::rank_barrier {
  explicit barrier_of(timed_barrier& barrier) : barrier_(barrier) {}
  void arrive_and_wait(unsigned rank) override { barrier_.arrive_and_wait(rank); }

 private:
  timed_barrier& barrier_;
};

}  // namespace

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

instruction_suite::instruction_suite(instruction_plan plan)
    : plan_(std::move(plan)),
      stack_(nop_kind::stack, plan_.count),
      vector_(nop_kind::vector, plan_.count) {
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

const nop_program& instruction_suite::program(nop_kind kind) const {
  return kind == nop_kind::stack ? stack_ : vector_;
}

void instruction_suite::add(const contender& who, rank_t threads, nop_kind kind, round run) {
  results_.push_back({{}, who.family, who.name, who.wait, threads, kind});
  series_.push_back(std::make_unique<timed_series>(results_.back(), std::move(run)));
}

instruction_suite::round instruction_suite::without_barrier(pinned_team& team, rank_t,
                                                            nop_kind kind) {
  return [this, &team, kind] {
    no_barrier none;
    return team.time(program(kind), none);
  };
}

instruction_suite::round instruction_suite::in_process(const contender& who, pinned_team& team,
                                                       rank_t threads, nop_kind kind) {
  return [this, &team, threads, kind, make = who.barrier] {
    const auto barrier = make(threads);
    barrier->prepare(plan_.count + 8);
    barrier_of all(*barrier);
    return team.time(program(kind), all);
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
    add({.family = "libgomp", .name = policy}, threads, kind, [=, this] {
      worker process({executable}, settings);
      const auto got = process.request(
          {{"threads", threads}, {"count", plan_.count}, {"kind", name_of(kind)}, {"samples", 3}});
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
    add_summary(line, r.samples);
    line["cycles_median"] = rounded(median_of(r.samples) / ns_per_tick());
    text += cli::result_line(line);
  }
  return text;
}

std::string table(const instruction_suite& s, const cli::json& machine) {
  std::string text = machine_heading(machine) + "\n";
  std::vector<const instruction_suite::result*> order;
  for (const auto& r : s.results()) order.push_back(&r);
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
    text += fmt::format("  {:<42} {:>10} {:>10} {:>14.0f}\n",
                        r->family + " " + r->name + (r->wait.empty() ? "" : ", " + r->wait),
                        format_ns(time.min), format_ns(time.median), time.median / ns_per_tick());
  }
  return text + "\nCycles of the time stamp counter, of the median. One barrier an instruction.\n";
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
  return text;
}

}  // namespace tutti::bench
