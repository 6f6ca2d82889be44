// SPDX-License-Identifier: Apache-2.0
// `tutti bench instruction`: what the barrier makes of an instruction of the vector machine that does next to nothing.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <random>
#include <stdexcept>

#include "bench/barrier/providers.hpp"
#include "bench/harness/peer_program.hpp"
#include "bench/harness/placement.hpp"
#include "bench/harness/record.hpp"
#include "bench/harness/statistics.hpp"
#include "bench/harness/team.hpp"
#include "bench/harness/ticks.hpp"
#include "bench/harness/worker.hpp"
#include "bench/vcode/instruction.hpp"
#include "cli/errors.hpp"
#include "cli/lists.hpp"
#include "cli/progress.hpp"
#include "cli/result_line.hpp"
#include "command/bench_options.hpp"
#include "command/measured.hpp"
#include "command/subcommands.hpp"

namespace tutti::command {
namespace {

using bench::nop_kind;

struct options {
  optional_text threads;
  std::string algorithms = "all";
  std::string waits = "adaptive";
  std::string peers = "all";
  std::string count = "20000";
  std::string rounds = "15";
  bool json = false;
};

struct no_barrier : vcode::spmd_run::rank_barrier {
  void arrive_and_wait(unsigned) override {}
};

struct subject_barrier : vcode::spmd_run::rank_barrier {
  explicit subject_barrier(bench::subject& barrier) : barrier_(barrier) {}
  void arrive_and_wait(unsigned rank) override { barrier_.arrive_and_wait(rank); }

 private:
  bench::subject& barrier_;
};

// One line of the table.
struct series {
  std::string family, name, wait;
  rank_t threads;
  nop_kind kind;
  std::function<double()> round;
  std::vector<double> samples;
};

// Threads that are there for all rounds, a core each as far as there are cores.
class pinned_team {
 public:
  explicit pinned_team(rank_t size) : threads_(size) {
    const bench::placement where = bench::make_placement("core");
    threads_.run([&](rank_t rank) { bench::pin_this_thread(where.cpu_of(rank)); });
  }
  void fork(const std::function<void(unsigned)>& body) { threads_.run(body); }

 private:
  bench::thread_team threads_;
};

class plan {
 public:
  explicit plan(const options& o)
      : count_(cli::parse_integer("--count", o.count, 100, 10'000'000)),
        rounds_(cli::parse_integer("--rounds", o.rounds, 1, 100'000)),
        stack_(nop_kind::stack, count_),
        vector_(nop_kind::vector, count_) {
    const auto providers = bench::choose_tutti(cli::split("--algorithms", o.algorithms),
                                               cli::split("--wait", o.waits));
    auto peers = bench::choose_peers(cli::split("--peers", o.peers));
    for (const rank_t n : o.threads ? cli::parse_counts("--threads", *o.threads, most_threads)
                                    : default_counts({2})) {
      teams_.push_back(std::make_unique<pinned_team>(n));
      for (const nop_kind kind : {nop_kind::stack, nop_kind::vector}) {
        add_ideal(n, kind);
        for (const auto& each : providers) add(each, n, kind);
        for (const auto& each : peers) {
          if (each.in_process()) add(each, n, kind);
        }
        if (std::any_of(peers.begin(), peers.end(),
                        [](const auto& p) { return p.family == "libgomp"; })) {
          add_openmp(n, kind);
        }
      }
    }
  }

  void run() {
    std::mt19937 random(1);
    std::vector<std::size_t> order(series_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    cli::progress_line line;
    for (std::uint64_t r = 0; r < rounds_; ++r) {
      std::shuffle(order.begin(), order.end(), random);
      for (std::size_t i = 0; i < order.size(); ++i) {
        series& s = series_[order[i]];
        line.update(
            s.family + " " + s.name,
            (static_cast<double>(r) + static_cast<double>(i) / static_cast<double>(order.size())) /
                static_cast<double>(rounds_));
        s.samples.push_back(s.round());
      }
    }
  }

  const std::vector<series>& results() const { return series_; }

 private:
  const bench::nop_program& program(nop_kind kind) const {
    return kind == nop_kind::stack ? stack_ : vector_;
  }

  void add_ideal(rank_t n, nop_kind kind) {
    pinned_team& team = *teams_.back();
    series_.push_back({"ideal",
                       "no barrier",
                       "",
                       n,
                       kind,
                       [this, &team, n, kind] {
                         no_barrier none;
                         return bench::time_instruction(program(kind), n, none,
                                                        [&](const auto& body) { team.fork(body); });
                       },
                       {}});
  }

  void add(const bench::provider& who, rank_t n, nop_kind kind) {
    pinned_team& team = *teams_.back();
    series_.push_back({who.family,
                       who.name,
                       who.wait,
                       n,
                       kind,
                       [this, &team, n, kind, make = who.make] {
                         const auto barrier = make(n);
                         barrier->prepare(count_ + 8);
                         subject_barrier all(*barrier);
                         return bench::time_instruction(program(kind), n, all,
                                                        [&](const auto& body) { team.fork(body); });
                       },
                       {}});
  }

  // The runtime's threads are the runtime's: each round in a fresh process, which ends with it.
  void add_openmp(rank_t n, nop_kind kind) {
    const std::string executable = bench::find_peer_program("vcode-libgomp");
    if (executable.empty()) return;
    for (const char* policy : {"default", "active", "passive"}) {
      bench::environment settings = bench::openmp_settings({});
      if (std::string(policy) != "default") settings.emplace_back("OMP_WAIT_POLICY", policy);
      settings.emplace_back("OMP_PROC_BIND", "true");
      series_.push_back({"libgomp",
                         policy,
                         "",
                         n,
                         kind,
                         [this, executable, settings, n, kind] {
                           bench::worker process({executable}, settings);
                           const auto got = process.request({{"threads", n},
                                                             {"count", count_},
                                                             {"kind", bench::name_of(kind)},
                                                             {"samples", 3}});
                           return bench::median_of(got.at("ns").get<std::vector<double>>());
                         },
                         {}});
    }
  }

  std::uint64_t count_;
  std::uint64_t rounds_;
  bench::nop_program stack_;
  bench::nop_program vector_;
  std::vector<std::unique_ptr<pinned_team>> teams_;
  std::vector<series> series_;
};

std::string json_lines(const plan& p, const bench::ordered_json& machine) {
  std::string text = machine.dump() + "\n";
  for (const series& s : p.results()) {
    bench::ordered_json line{{"benchmark", "instruction"},
                             {"provider", s.family},
                             {"name", s.name},
                             {"wait", s.wait},
                             {"threads", s.threads},
                             {"pinned", true},
                             {"scenario", "free"},
                             {"metric", bench::name_of(s.kind)}};
    bench::add_summary(line, s.samples);
    line["cycles_median"] = bench::rounded(bench::median_of(s.samples) / bench::ns_per_tick());
    text += cli::result_line(line);
  }
  return text;
}

std::string table(const plan& p, const bench::ordered_json& machine) {
  std::string text = bench::machine_heading(machine) + "\n";
  std::vector<const series*> order;
  for (const series& s : p.results()) order.push_back(&s);
  std::stable_sort(order.begin(), order.end(), [](const series* a, const series* b) {
    return std::tuple(a->threads, a->kind, bench::median_of(a->samples)) <
           std::tuple(b->threads, b->kind, bench::median_of(b->samples));
  });
  std::string group;
  for (const series* s : order) {
    const std::string heading = fmt::format(
        "{} threads, engine spmd, {}", s->threads,
        s->kind == nop_kind::stack ? "COPY 0 0 (nothing at all)" : "NOT on two elements");
    if (heading != group) {
      group = heading;
      text += fmt::format("\n{}\n  {:<42} {:>10} {:>10} {:>14}\n", group, "", "min", "median",
                          "cycles");
    }
    const bench::summary r = bench::summarize(s->samples);
    text += fmt::format("  {:<42} {:>10} {:>10} {:>14.0f}\n",
                        s->family + " " + s->name + (s->wait.empty() ? "" : ", " + s->wait),
                        bench::format_ns(r.min), bench::format_ns(r.median),
                        r.median / bench::ns_per_tick());
  }
  return text + "\nCycles of the time stamp counter, of the median. One barrier an instruction.\n";
}

int run(const options& o) {
  plan p(o);
  const bench::ordered_json machine = machine_during([&] { p.run(); });
  fmt::print("{}", o.json ? json_lines(p, machine) : table(p, machine));
  return cli::success;
}

}  // namespace

void add_bench_instruction(cli::command& bench, action& chosen) {
  auto o = std::make_shared<options>();
  cli::command app = bench.add_subcommand(
      "instruction",
      "Instructions of the vector machine in engine spmd, with every barrier and with none");
  app.add_option("--threads", o->threads,
                 "Participants, e.g. 2,4 (default: 2, the cores, twice the cores)");
  app.add_option("--algorithms", o->algorithms, "tutti's algorithms, all or none").show_default();
  app.add_option("--wait", o->waits, "Their wait policies, or all").show_default();
  app.add_option("--peers", o->peers, "all, none, or some that `tutti info` lists").show_default();
  app.add_option("--count", o->count, "Instructions of a round").show_default();
  app.add_option("--rounds", o->rounds, "Rounds, in random order").show_default();
  app.add_flag("--json", o->json, "One JSON object a line instead of the table");
  app.when_used([o, &chosen] { chosen = [o] { return run(*o); }; });
}

}  // namespace tutti::command
