// SPDX-License-Identifier: Apache-2.0
// The sweeps of a run, and how long each round lasts.
#include "barrier/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "harness/statistics.hpp"
#include "harness/ticks.hpp"
#include "harness/watchdog.hpp"
#include "tutti/platform/clock.hpp"

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
constexpr std::uint64_t longest_chunk = 64;
constexpr std::size_t least_rounds = 3;
constexpr unsigned longest_round_s = 120;

double seconds_now() { return static_cast<double>(platform::now_ns()) * 1e-9; }

floor_plan floors_for(const barrier_plan& plan, const placement& default_cores) {
  floor_plan floors{default_cores.cpus, {}};
  for (const auto& where : plan.placements) {
    const std::vector<int> cores = cores_of(where);
    for (const int cpu : cores) {
      if (std::find(floors.cores.begin(), floors.cores.end(), cpu) == floors.cores.end()) {
        floors.cores.push_back(cpu);
      }
    }
    for (const rank_t threads : plan.threads) {
      const std::pair rotation{threads, cores};
      const bool known = std::find(floors.rotations.begin(), floors.rotations.end(), rotation) !=
                         floors.rotations.end();
      if (threads > cores.size() && !known) floors.rotations.push_back(rotation);
    }
  }
  return floors;
}

}  // namespace

std::vector<int> cores_of(const placement& where) {
  if (!where.pinned()) return make_placement("core").cpus;
  std::vector<int> cpus = where.cpus;
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

struct suite::cell {
  const provider* who;
  const placement* where;
  const scenario* when;
  std::vector<int> cores;
  std::vector<std::size_t> results;  // indices of measurements
  round_request request;
  std::unique_ptr<subject> barrier;  // null: in a worker
  team* threads = nullptr;
  worker* remote = nullptr;
  double target_ns = 0;
  double cost_ns = 0;  // of an episode, estimated
  double spent_s = 0;
  std::size_t rounds = 0;
};

suite::suite(const barrier_plan& plan)
    : plan_(plan),
      default_cores_(make_placement("core")),
      floors_(floors_for(plan, default_cores_)) {
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
  auto c = std::make_unique<cell>();
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
  if (when.busy == neighbour_kind::one) request.neighbours = {c->cores.front()};
  if (when.busy == neighbour_kind::all) request.neighbours = c->cores;
  request.late_ns = when.late_ns;
  request.skew_ns = when.skew_ns;
  if (kind == pattern::delayed && when.late_ns <= 0 && when.skew_ns <= 0) {
    request.skew_ns = default_skew_ns;
  }
  c->target_ns = crowded ? crowded_round_ns : loop_round_ns;
  if (kind == pattern::delayed) c->target_ns = when.late_ns > 0 ? late_round_ns : delayed_round_ns;
  if (!request.neighbours.empty()) c->target_ns = neighbour_round_ns;
  for (const metric m : metrics) {
    c->results.push_back(results_.size());
    results_.push_back({&who, threads, &where, &when, m, {}, {}, {}, {}, 0, 0});
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
      if (!remote) remote = std::make_unique<worker>(c.who->executable, c.who->settings);
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
  std::uint64_t episodes = 4;
  for (int attempt = 0; attempt < 5; ++attempt) {
    c.request.batches = 1;
    c.request.episodes = episodes;
    c.request.warm_up = episodes / 4 + 1;
    const round_outcome outcome = run_round_of(c);
    c.cost_ns = std::max(outcome.duration_ns / static_cast<double>(episodes), 1.0);
    if (outcome.duration_ns > c.target_ns / 4) break;
    const auto fitting = static_cast<std::uint64_t>(c.target_ns / c.cost_ns);
    episodes = std::clamp<std::uint64_t>(fitting, 4, episodes * 50);
    if (c.request.kind == pattern::delayed) episodes = std::min(episodes, most_delayed);
  }
}

round_outcome suite::run_round_of(cell& c) {
  // The same skews in every run with the same seed, others in every round; calibration counts as round 0.
  c.request.seed = plan_.seed + 1000 * c.results.front() + 1000000 * c.rounds;
  if (c.remote != nullptr) return c.remote->run(c.request);
  return run_round(c.request, *c.threads, *c.barrier, neighbours_);
}

void suite::measure(cell& c) {
  const watchdog guard(longest_round_s, fmt::format("{} {} with {} threads", c.who->family,
                                                    c.who->name, c.request.threads));
  auto episodes = static_cast<std::uint64_t>(std::max(c.target_ns / c.cost_ns, 4.0));
  if (c.request.kind == pattern::delayed) episodes = std::min(episodes, most_delayed);
  const bool many = c.request.kind == pattern::loop && c.request.neighbours.empty();
  c.request.batches = many && episodes >= 8 * batches ? batches : 1;
  c.request.episodes = episodes / c.request.batches * c.request.batches;
  c.request.warm_up = episodes / 4 + 1;
  if (!c.request.neighbours.empty() && c.request.kind == pattern::loop) {
    c.request.least_ns = c.target_ns;
    c.request.chunk = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(chunk_ns / c.cost_ns), 1,
                                                longest_chunk);
    c.request.episodes *= most_overrun;
    // By time, what is not timed costs as much as what is: only as much as the waits need to learn.
    c.request.warm_up = c.request.chunk;
  }
  const double begin = seconds_now();
  try {
    const round_outcome outcome = run_round_of(c);
    record(c, outcome);
    // Follows slow changes, forgets a single odd round.
    const double cost = outcome.duration_ns / static_cast<double>(outcome.episodes);
    c.cost_ns = std::max(1.0, 0.7 * c.cost_ns + 0.3 * std::min(cost, 4 * c.cost_ns));
  } catch (const std::runtime_error& e) {
    fail(*c.who, c.request.threads, e.what());
  }
  c.spent_s += seconds_now() - begin;
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
    if (!late_start) {
      m.samples.insert(m.samples.end(), outcome.samples.begin(), outcome.samples.end());
    }
    if (!sound) continue;
    const double median = median_of(outcome.samples);
    m.floors.push_back(*floor);
    m.ratios.push_back(median / *floor);
    m.excesses.push_back(median - *floor);
  }
}

// A barrier that collapses must not eat the time of the others.
bool suite::sits_out(const cell& c, double elapsed_s) const {
  if (plan_.rounds > 0 || c.rounds < least_rounds) return false;
  return c.spent_s > 3 * elapsed_s / static_cast<double>(cells_.size()) &&
         c.spent_s / static_cast<double>(c.rounds) > 4e-9 * c.target_ns;
}

void suite::run(const progress& report) {
  std::size_t prepared = 0;
  std::erase_if(cells_, [&](const std::unique_ptr<cell>& c) {
    report("checking and calibrating",
           0.2 * static_cast<double>(prepared++) / static_cast<double>(cells_.size()));
    return !prepare(*c);
  });
  std::mt19937_64 random(plan_.seed);
  const double begin = seconds_now();
  while (!cells_.empty()) {
    const double elapsed = seconds_now() - begin;
    const bool enough = plan_.rounds > 0 ? sweeps_ >= plan_.rounds
                                         : sweeps_ >= least_rounds && elapsed >= plan_.seconds;
    if (enough) break;
    floors_.sweep();
    std::shuffle(cells_.begin(), cells_.end(), random);
    std::size_t done = 0;
    for (auto& c : cells_) {
      const double part = static_cast<double>(done++) / static_cast<double>(cells_.size());
      const double sweep = static_cast<double>(sweeps_) + part;
      const double fraction = plan_.rounds > 0
                                  ? sweep / static_cast<double>(plan_.rounds)
                                  : std::min((seconds_now() - begin) / plan_.seconds, 0.99);
      report(fmt::format("sweep {}: a round of each of {} series", sweeps_ + 1, cells_.size()),
             0.2 + 0.8 * fraction);
      if (!sits_out(*c, seconds_now() - begin)) measure(*c);
    }
    ++sweeps_;
  }
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
