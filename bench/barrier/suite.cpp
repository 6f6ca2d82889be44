// SPDX-License-Identifier: Apache-2.0
// The sweeps of a run, and how long each round lasts.
#include "bench/barrier/suite.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "bench/harness/pace.hpp"
#include "bench/harness/ticks.hpp"
#include "bench/harness/watchdog.hpp"

namespace tutti::bench {
namespace {

// How long a round should last. Beside a busy neighbour the scheduler's slices of milliseconds must average out.
constexpr double loop_round_ns = 6e6;
constexpr double crowded_round_ns = 10e6;
constexpr double delayed_round_ns = 4e6;
constexpr double late_round_ns = 25e6;
constexpr double default_skew_ns = 500;  // of last_in_last_out where the scenario says nothing
constexpr std::uint64_t most_delayed = 2000;
constexpr std::uint64_t batches = 8;
// Beside a neighbour: rounds end by time, and at the latest after so many times the episodes that were expected.
constexpr std::uint64_t most_overrun = 16;
constexpr std::uint64_t most_delayed_by_time = 50000;
constexpr double chunk_ns = 1e6;
constexpr double phase_chunk_ns = 20e3;
constexpr std::uint64_t awake = 8;  // episodes after which nobody sleeps any more
constexpr unsigned longest_round_s = 120;

}  // namespace

struct suite::cell final : series {
  explicit cell(suite& of) : owner(of) {}
  bool prepare() override { return owner.prepare(*this); }
  void measure() override { owner.measure(*this); }
  double target_ns() const override { return speed.target_ns; }
  void give_up(const std::string& reason) override {
    owner.fail(*who, request.threads, *when, reason);
  }

  suite& owner;
  const provider* who = nullptr;
  const placement* where = nullptr;
  const scenario* when = nullptr;
  std::vector<int> cores;
  std::vector<std::size_t> results;  // indices of measurements
  round_request request;
  std::unique_ptr<subject> barrier;  // null: in a worker
  team* threads = nullptr;
  worker* remote = nullptr;
  pace speed;
  std::size_t rounds = 0;
};

suite::suite(const barrier_plan& plan)
    : plan_(plan), floors_(plan_floors(plan.threads, plan.placements)), quotas_(plan.scenarios) {
  make_cells();
}

suite::~suite() = default;

double suite::clock_bound_ns() const {
  std::int64_t bound = 0;
  for (const int cpu : allowed_cpus()) bound = std::max(bound, floors_.offset_of(cpu).bound);
  return to_ns(bound);
}

void suite::make_cells() {
  for (const auto& who : plan_.providers) {
    for (const rank_t threads : plan_.threads) {
      for (const auto& where : plan_.placements) {
        for (const auto& when : plan_.scenarios) {
          if (!quotas_.is_possible(when)) continue;
          std::vector<metric> loops, delays, phases;
          for (const metric m : metrics_of(plan_, when)) {
            (m == metric::loop ? loops : m == metric::recover ? phases : delays).push_back(m);
          }
          if (!loops.empty()) add_cell(who, threads, where, when, pattern::loop, loops);
          if (!delays.empty()) add_cell(who, threads, where, when, pattern::delayed, delays);
          if (!phases.empty()) add_cell(who, threads, where, when, pattern::phases, phases);
        }
      }
    }
  }
}

void suite::add_cell(const provider& who, rank_t threads, const placement& where,
                     const scenario& when, pattern kind, const std::vector<metric>& metrics) {
  auto c = std::make_unique<cell>(*this);
  c->who = &who;
  c->where = &where;
  c->when = &when;
  c->cores = cores_of(where);
  const bool crowded = threads > c->cores.size();
  round_request& request = c->request;
  request.kind = kind;
  request.threads = threads;
  request.own_cores = where.pinned() && !crowded && !when.disturbed();
  request.with_floor = where.pinned() && !crowded;
  for (rank_t rank = 0; rank < threads && where.pinned(); ++rank) {
    request.cpus.push_back(where.cpu_of(rank));
    request.offsets.push_back(floors_.offset_of(request.cpus[rank]).ticks -
                              floors_.offset_of(request.cpus[0]).ticks);
  }
  request.neighbours = neighbours_of(when, c->cores);
  request.neighbours.outside = quotas_.outside(when);
  request.late = when.late;
  request.rotating = when.rotating;
  request.least_work_ns = when.least_work_ns;
  request.most_work_ns = when.most_work_ns;
  request.phases = when.phases;
  request.skew_ns = when.skew_ns;
  if (kind == pattern::delayed && !when.delayed() && when.skew_ns <= 0) {
    request.skew_ns = default_skew_ns;
  }
  double& target_ns = c->speed.target_ns;
  target_ns = crowded ? crowded_round_ns : loop_round_ns;
  if (kind == pattern::delayed) target_ns = when.delayed() ? late_round_ns : delayed_round_ns;
  if (when.disturbed() && kind != pattern::phases) target_ns = disturbed_round_ns(when);
  if (kind == pattern::delayed) c->speed.most_episodes = most_delayed;
  for (const metric m : metrics) {
    c->results.push_back(results_.size());
    results_.push_back({{}, &who, threads, &where, &when, m, {}, 0});
  }
  cells_.push_back(std::move(c));
}

void suite::fail(const provider& who, rank_t threads, const scenario& when,
                 const std::string& reason) {
  for (const auto& known : failures_) {
    if (known.who == &who && known.threads == threads && known.when == &when) return;
  }
  failures_.push_back({&who, threads, &when, reason});
}

// False: not measured, and failures() says why.
bool suite::prepare(cell& c) {
  const watchdog guard(longest_round_s, fmt::format("{} {} with {} threads", c.who->family,
                                                    c.who->name, c.request.threads));
  std::string fault;
  try {
    if (c.who->in_process()) {
      // What it reads of the machine when it is made, it reads under the quota.
      const quotas::visit inside(quotas_, *c.when, getpid(), cpu_quota::members::process);
      auto& threads = teams_[{c.request.threads, c.where}];
      if (!threads) threads = std::make_unique<thread_team>(c.request.threads);
      c.threads = threads.get();
      c.barrier = c.who->make(c.request.threads);
      fault = check_barrier(c.request, *c.threads, *c.barrier);
    } else {
      auto& remote = workers_[c.who];
      if (!remote) {
        const std::vector<std::string> command{c.who->executable};
        remote = std::make_unique<worker>(command, c.who->settings);
      }
      c.remote = remote.get();
      fault = c.remote->check(c.request);
    }
    if (!fault.empty()) {
      fail(*c.who, c.request.threads, *c.when, "it is not a barrier: " + fault);
      return false;
    }
    calibrate(c);
  } catch (const std::runtime_error& e) {
    fail(*c.who, c.request.threads, *c.when, e.what());
    return false;
  }
  return true;
}

void suite::calibrate(cell& c) {
  if (c.when->delayed() && c.request.kind == pattern::delayed) {
    c.speed.assume(std::max(c.when->late.mean(), c.when->most_work_ns));
    return;
  }
  const pattern kind = c.request.kind;
  if (kind == pattern::phases) c.request.kind = pattern::loop;
  c.speed.calibrate([&](std::uint64_t episodes) {
    c.request.batches = 1;
    c.request.episodes = episodes;
    c.request.warm_up = episodes / 4 + 1;
    return run_round_of(c).duration_ns;
  });
  c.request.kind = kind;
}

round_outcome suite::run_round_of(cell& c) {
  // The same skews in every run with the same seed, others in every round; calibration counts as round 0.
  c.request.seed = plan_.length.seed + 1000 * c.results.front() + 1000000 * c.rounds;
  const pid_t process = c.remote != nullptr ? c.remote->pid() : getpid();
  const quotas::visit inside(quotas_, *c.when, process, cpu_quota::members::process);
  if (c.remote != nullptr) return c.remote->run(c.request);
  return run_round(c.request, *c.threads, *c.barrier, neighbours_);
}

void suite::plan_round(cell& c) {
  round_request& request = c.request;
  const std::uint64_t episodes = c.speed.episodes();
  const bool is_loop = request.kind == pattern::loop;
  const bool by_time = c.when->disturbed() && request.kind != pattern::phases;
  request.batches = is_loop && !by_time && episodes >= 8 * batches ? batches : 1;
  request.episodes = episodes / request.batches * request.batches;
  request.warm_up = episodes / 4 + 1;
  if (c.when->delayed() || request.kind == pattern::phases) request.warm_up = awake;
  // Whole turns: of the late rank, and of nine short waits and a long one.
  if (c.when->rotating)
    request.episodes = std::max<std::uint64_t>(request.episodes, request.threads);
  if (c.when->late.kind == course_kind::alternating) {
    request.episodes = (request.episodes + 9) / 10 * 10;
  }
  if (request.kind == pattern::phases) request.chunk = c.speed.chunk(phase_chunk_ns);
  if (!by_time) return;
  request.least_ns = c.speed.target_ns;
  request.episodes *= most_overrun;
  // By time, what is not timed costs as much as what is: only as much as the waits need to learn.
  if (is_loop) {
    request.chunk = c.speed.chunk(chunk_ns);
    request.warm_up = request.chunk;
  } else {
    request.episodes = std::min(request.episodes, most_delayed_by_time);
    request.warm_up = awake;
  }
}

void suite::measure(cell& c) {
  const watchdog guard(longest_round_s, fmt::format("{} {} with {} threads", c.who->family,
                                                    c.who->name, c.request.threads));
  plan_round(c);
  try {
    const round_outcome outcome = run_round_of(c);
    record(c, outcome);
    if (c.request.kind != pattern::phases) {
      c.speed.follow(outcome.duration_ns / static_cast<double>(outcome.episodes));
    }
  } catch (const std::runtime_error& e) {
    fail(*c.who, c.request.threads, *c.when, e.what());
  }
  ++c.rounds;
}

void suite::record(cell& c, const round_outcome& outcome) {
  const bool crowded = c.request.threads > c.cores.size();
  std::optional<double> floor = outcome.floor();
  if (crowded) {
    const auto& rotations = floors_.yield_rotation(c.request.threads, c.cores);
    if (!rotations.empty()) floor = rotations.back();
  } else if (!c.request.with_floor) {
    const std::vector<double> transfers = floors_.line_one_way();
    if (!transfers.empty()) floor = transfers.back();
  }
  // A thread that begins long after the others was not awake when the round began.
  const bool late_start =
      c.request.kind == pattern::loop && !c.when->disturbed() &&
      outcome.start_spread_ns > std::max(0.1 * outcome.duration_ns, 2 * outcome.mean);
  const bool sound = floor && !late_start && outcome.neighbours_ran;
  for (const std::size_t index : c.results) {
    measurement& m = results_[index];
    ++m.rounds;
    if (!sound) ++m.flagged;
    switch (m.what) {
      case metric::cpu_time:
        m.samples.push_back(outcome.waiter_cpu_ns);
        m.cpus_used.push_back(outcome.cpus_used);
        break;
      case metric::episode: m.samples.push_back(outcome.episode_ns); break;
      case metric::recover:
        m.samples.push_back(outcome.recover_ns >= 0 ? outcome.recover_ns : outcome.watched_ns);
        if (outcome.recover_ns < 0) ++m.unrecovered;
        break;
      default:
        if (!late_start) m.add(outcome.samples, sound ? floor : std::nullopt, sweeps_);
    }
  }
}

void suite::run(const progress& report) {
  run_sweeps(
      cells_, plan_.length,
      [this] {
        ++sweeps_;
        floors_.sweep();
      },
      report);
  report_empty_results();
  // Their processor time counts as ours only once they have ended.
  workers_.clear();
  neighbours_.dismiss();
}

void suite::report_empty_results() {
  for (const auto& m : results_) {
    if (m.rounds == 0 || !m.samples.empty()) continue;
    fail(*m.who, m.threads, *m.when, "in each of its rounds a thread began long after the others");
  }
}

}  // namespace tutti::bench
