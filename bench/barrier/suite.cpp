// SPDX-License-Identifier: Apache-2.0
// The sweeps of a run, and how long each round lasts.
#include "barrier/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "harness/pace.hpp"
#include "harness/ticks.hpp"
#include "harness/watchdog.hpp"

namespace tutti::bench {
namespace {

// How long a round should last. Beside a busy neighbour the scheduler's slices of milliseconds must average out.
constexpr double loop_round_ns = 6e6;
constexpr double crowded_round_ns = 10e6;
constexpr double neighbour_round_ns = 80e6;
constexpr double delayed_round_ns = 4e6;
constexpr double late_round_ns = 25e6;
constexpr double default_skew_ns = 500;  // of last_in_last_out where the scenario says nothing
constexpr std::uint64_t most_delayed = 2000;
constexpr std::uint64_t batches = 8;
// Beside a neighbour: rounds end by time, and at the latest after so many times the episodes that were expected.
constexpr std::uint64_t most_overrun = 16;
constexpr double chunk_ns = 1e6;
constexpr unsigned longest_round_s = 120;

}  // namespace

struct suite::cell final : series {
  explicit cell(suite& of) : owner(of) {}
  bool prepare() override { return owner.prepare(*this); }
  void measure() override { owner.measure(*this); }
  double target_ns() const override { return speed.target_ns; }

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
    : plan_(plan), floors_(plan_floors(plan.threads, plan.placements)) {
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
          std::vector<metric> loops, delays;
          for (const metric m : metrics_of(plan_, when)) {
            (m == metric::loop ? loops : delays).push_back(m);
          }
          if (!loops.empty()) add_cell(who, threads, where, when, pattern::loop, loops);
          if (!delays.empty()) add_cell(who, threads, where, when, pattern::delayed, delays);
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
  request.own_cores = where.pinned() && !crowded && when.busy == neighbour_kind::none;
  request.with_floor = where.pinned() && !crowded;
  for (rank_t rank = 0; rank < threads && where.pinned(); ++rank) {
    request.cpus.push_back(where.cpu_of(rank));
    request.offsets.push_back(floors_.offset_of(request.cpus[rank]).ticks -
                              floors_.offset_of(request.cpus[0]).ticks);
  }
  request.neighbours = busy_cpus(when, c->cores);
  request.late_ns = when.late_ns;
  request.skew_ns = when.skew_ns;
  if (kind == pattern::delayed && when.late_ns <= 0 && when.skew_ns <= 0) {
    request.skew_ns = default_skew_ns;
  }
  double& target_ns = c->speed.target_ns;
  target_ns = crowded ? crowded_round_ns : loop_round_ns;
  if (kind == pattern::delayed) target_ns = when.late_ns > 0 ? late_round_ns : delayed_round_ns;
  if (!request.neighbours.empty()) target_ns = neighbour_round_ns;
  if (kind == pattern::delayed) c->speed.most_episodes = most_delayed;
  for (const metric m : metrics) {
    c->results.push_back(results_.size());
    results_.push_back({{}, &who, threads, &where, &when, m});
  }
  cells_.push_back(std::move(c));
}

void suite::fail(const provider& who, rank_t threads, const std::string& reason) {
  for (const auto& known : failures_) {
    if (known.who == &who && known.threads == threads) return;
  }
  failures_.push_back({&who, threads, reason});
}

// False: not measured, and failures() says why.
bool suite::prepare(cell& c) {
  const watchdog guard(longest_round_s, fmt::format("{} {} with {} threads", c.who->family,
                                                    c.who->name, c.request.threads));
  std::string fault;
  try {
    if (c.who->in_process()) {
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
      fail(*c.who, c.request.threads, "it is not a barrier: " + fault);
      return false;
    }
    calibrate(c);
  } catch (const std::runtime_error& e) {
    fail(*c.who, c.request.threads, e.what());
    return false;
  }
  return true;
}

void suite::calibrate(cell& c) {
  c.speed.calibrate([&](std::uint64_t episodes) {
    c.request.batches = 1;
    c.request.episodes = episodes;
    c.request.warm_up = episodes / 4 + 1;
    return run_round_of(c).duration_ns;
  });
}

round_outcome suite::run_round_of(cell& c) {
  // The same skews in every run with the same seed, others in every round; calibration counts as round 0.
  c.request.seed = plan_.length.seed + 1000 * c.results.front() + 1000000 * c.rounds;
  if (c.remote != nullptr) return c.remote->run(c.request);
  return run_round(c.request, *c.threads, *c.barrier, neighbours_);
}

void suite::measure(cell& c) {
  const watchdog guard(longest_round_s, fmt::format("{} {} with {} threads", c.who->family,
                                                    c.who->name, c.request.threads));
  const std::uint64_t episodes = c.speed.episodes();
  const bool many = c.request.kind == pattern::loop && c.request.neighbours.empty();
  c.request.batches = many && episodes >= 8 * batches ? batches : 1;
  c.request.episodes = episodes / c.request.batches * c.request.batches;
  c.request.warm_up = episodes / 4 + 1;
  if (!c.request.neighbours.empty() && c.request.kind == pattern::loop) {
    c.request.least_ns = c.speed.target_ns;
    c.request.chunk = c.speed.chunk(chunk_ns);
    c.request.episodes *= most_overrun;
    // By time, what is not timed costs as much as what is: only as much as the waits need to learn.
    c.request.warm_up = c.request.chunk;
  }
  try {
    const round_outcome outcome = run_round_of(c);
    record(c, outcome);
    c.speed.follow(outcome.duration_ns / static_cast<double>(outcome.episodes));
  } catch (const std::runtime_error& e) {
    fail(*c.who, c.request.threads, e.what());
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
      c.request.kind == pattern::loop && c.request.neighbours.empty() &&
      outcome.start_spread_ns > std::max(0.1 * outcome.duration_ns, 2 * outcome.mean);
  const bool sound = floor && !late_start && outcome.neighbours_ran;
  for (const std::size_t index : c.results) {
    measurement& m = results_[index];
    ++m.rounds;
    if (!sound) ++m.flagged;
    if (m.what == metric::cpu_time) {
      m.samples.push_back(outcome.waiter_cpu_ns);
      continue;
    }
    if (!late_start) m.add(outcome.samples, sound ? floor : std::nullopt, sweeps_);
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
    fail(*m.who, m.threads, "in each of its rounds a thread began long after the others");
  }
}

}  // namespace tutti::bench
