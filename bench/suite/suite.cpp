// SPDX-License-Identifier: Apache-2.0
// The series of a plan, how long each of their rounds lasts, and what the rounds leave in the
// results.
#include "bench/suite/suite.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <map>
#include <stdexcept>
#include <thread>

#include "bench/contenders/peer_server.hpp"
#include "bench/harness/phases.hpp"
#include "bench/harness/round_length.hpp"
#include "bench/harness/ticks.hpp"
#include "bench/harness/watchdog.hpp"

namespace tutti::bench {
namespace {

// How long a round should last. Beside a busy neighbour the scheduler's slices of milliseconds must
// average out.
constexpr double free_round_ns = 6e6;
constexpr double crowded_round_ns = 10e6;
constexpr double skewed_round_ns = 4e6;
constexpr double late_round_ns = 25e6;
constexpr std::uint64_t most_single = 2000;  // episodes of a round that notes each one
constexpr std::uint64_t most_single_by_time = 50000;
constexpr std::uint64_t batches = 8;
// Beside a neighbour rounds end by time, and at the latest after this many times the episodes that
// were expected.
constexpr std::uint64_t most_overrun = 16;
constexpr double chunk_ns = 1e6;
constexpr double phase_chunk_ns = 20e3;
constexpr std::uint64_t awake = 8;  // episodes after which nobody sleeps any more
// The episodes that settle before those that count: the most, fewer if they would last longer than
// this, and at least two.
constexpr std::uint64_t most_settling = 20, least_settling = 2;
constexpr double settling_ns = 200e6;

// A runtime's master is a thread of its own: what the runtime keeps for it ends with it, and this
// thread stays unpinned.
template <class Call>
auto on_new_thread(Call call) {
  decltype(call()) result;
  std::exception_ptr error;
  std::thread master([&] {
    try {
      result = call();
    } catch (...) {
      error = std::current_exception();
    }
  });
  master.join();
  if (error) std::rethrow_exception(error);
  return result;
}

std::vector<rank_t> threads_of(const plan& p) {
  std::vector<rank_t> threads;
  for (const auto& size : p.shapes) threads.push_back(size.threads);
  return threads;
}

std::string title_of(const situation& s) {
  return fmt::format("{} {} ({}) with {} ranks", s.who->family, s.who->name, name_of(s.kind),
                     s.size.ranks);
}

double target_ns_of(const situation& s, pattern kind) {
  if (s.when->disturbed() && kind != pattern::phases) return disturbed_round_ns(*s.when);
  if (kind == pattern::after_gap) return late_round_ns;
  if (kind == pattern::delayed) return s.when->delayed() ? late_round_ns : skewed_round_ns;
  return s.crowded() ? crowded_round_ns : free_round_ns;
}

// What the waits, the work or the gap make an episode last at least.
double least_episode_ns(const situation& s, pattern kind) {
  const scenario& when = *s.when;
  if (kind == pattern::after_gap) return when.gap.mean();
  if (kind != pattern::delayed) return 0;
  auto cpus = static_cast<double>(cores_of(*s.where).size());
  if (when.quota_cpus > 0) cpus = std::min(cpus, when.quota_cpus);
  const double threads_of_cpu = std::max(1.0, static_cast<double>(s.size.threads) / cpus);
  const double work = (when.least_work_ns + when.most_work_ns) / 2 * threads_of_cpu;
  return std::max({when.late.mean(), when.skew_ns / 2, work});
}

std::uint64_t settling_of(double episode_ns) {
  const auto fitting = static_cast<std::uint64_t>(settling_ns / std::max(episode_ns, 1.0));
  return std::clamp(fitting, least_settling, most_settling);
}

// Whole turns: of the late rank, and of nine short waits and a long one.
std::uint64_t in_whole_turns(std::uint64_t episodes, const situation& s) {
  const scenario& when = *s.when;
  if (when.rotating) episodes = std::max<std::uint64_t>(episodes, s.size.threads);
  const bool alternates =
      when.late.kind == course_kind::alternating || when.gap.kind == course_kind::alternating;
  return alternates ? (episodes + 9) / 10 * 10 : episodes;
}

// The episodes that a round times at least; beside others it ends by time.
std::uint64_t least_timed_episodes(const situation& s) {
  return s.when->disturbed() ? 1 : in_whole_turns(round_length::least_episodes, s);
}

}  // namespace

bool situation::same_but_for_who_and_kind(const situation& other) const {
  return size == other.size && where == other.where && when == other.when;
}

// Rounds of one pattern in one situation; they may give several metrics.
struct suite::cell final : series, situation {
  cell(suite& of, const situation& what) : situation(what), owner(of) {}
  bool prepare() override { return owner.prepare(*this); }
  void measure() override { owner.measure(*this); }
  double target_ns() const override { return length.target_ns; }
  double least_ns() const override {
    if (request.kind == pattern::phases) return length_of_phases_ns(request);
    return least_episode_ns(*this, request.kind) *
           static_cast<double>(request.settling + least_timed_episodes(*this));
  }
  void give_up(const std::string& reason) override { owner.fail(*this, reason); }

  bool of_barrier() const { return kind.what == operation::barrier; }

  suite& owner;
  std::vector<std::size_t> results;  // indices of measurements
  round_request request;
  neighbour_plan busy;                     // of runtimes; those of barriers are in the request
  std::unique_ptr<timed_barrier> barrier;  // null: of a runtime, or in a process
  team* threads = nullptr;
  round_length length;
  std::size_t rounds = 0;
};

suite::suite(const plan& p)
    : plan_(p), floors_(plan_floors(threads_of(p), p.placements)), quotas_(p.scenarios) {
  for (const auto& who : plan_.contenders) {
    for (const auto& size : plan_.shapes) {
      std::vector<episode_kind> kinds = plan_.kinds;
      // What fibers are for: the caller need not wait for a thread to be there.
      const episode_kind barrier{operation::collective, 0};
      if (size.has_fibers() && std::find(kinds.begin(), kinds.end(), barrier) == kinds.end()) {
        kinds.push_back(barrier);
      }
      for (const auto& kind : kinds) {
        for (const auto& where : plan_.placements) {
          for (const auto& when : plan_.scenarios) add_cells({&who, kind, size, &where, &when});
        }
      }
    }
  }
}

suite::~suite() = default;

double suite::clock_bound_ns() const {
  std::int64_t bound = 0;
  for (const int cpu : allowed_cpus()) bound = std::max(bound, floors_.offset_of(cpu).bound);
  return to_ns(bound);
}

void suite::add_cells(const situation& what) {
  if (!suits(*what.who, what.kind, what.size, *what.when) || !quotas_.is_possible(*what.when)) {
    return;
  }
  std::map<pattern, std::vector<metric>> patterns;
  for (const metric m : metrics_of(plan_, what.kind, *what.when, what.crowded())) {
    patterns[pattern_of(m, what.kind, *what.when)].push_back(m);
  }
  for (const auto& [kind, metrics] : patterns) add_cell(what, kind, metrics);
}

void suite::add_cell(const situation& what, pattern kind, const std::vector<metric>& metrics) {
  auto c = std::make_unique<cell>(*this, what);
  const scenario& when = *what.when;
  const placement& where = *what.where;
  round_request& request = c->request;
  request.what = what.kind;
  request.kind = kind;
  request.threads = what.size.threads;
  request.ranks = what.size.ranks;
  request.own_cores = where.pinned() && !what.crowded() && !when.disturbed();
  request.with_floor = where.pinned() && !what.crowded();
  for (rank_t rank = 0; rank < request.threads && where.pinned(); ++rank) {
    request.cpus.push_back(where.cpu_of(rank));
    request.offsets.push_back(floors_.offset_of(request.cpus[rank]).ticks -
                              floors_.offset_of(request.cpus[0]).ticks);
  }
  c->busy = neighbours_of(when, cores_of(where));
  c->busy.outside = quotas_.outside(when);
  if (c->of_barrier()) request.neighbours = c->busy;
  request.late = when.late;
  request.rotating = when.rotating;
  request.gap = when.gap;
  request.least_work_ns = when.least_work_ns;
  request.most_work_ns = when.most_work_ns;
  request.phases = when.phases;
  request.skew_ns = kind == pattern::delayed ? when.skew_of_delayed_ns() : when.skew_ns;
  request.settling = settling_of(least_episode_ns(what, kind));
  c->length.target_ns = target_ns_of(what, kind);
  if (kind == pattern::delayed || kind == pattern::after_gap) c->length.most_episodes = most_single;
  for (const metric m : metrics) {
    c->results.push_back(results_.size());
    results_.push_back({{}, what, m, {}, 0});
  }
  cells_.push_back(std::move(c));
}

void suite::fail(const situation& what, const std::string& reason) {
  for (const auto& known : failures_) {
    if (known.who == what.who && known.kind == what.kind && known.same_but_for_who_and_kind(what)) {
      return;
    }
  }
  failures_.push_back({what, reason});
}

worker& suite::process_of(const cell& c) {
  const rank_t ranks = c.who->process.for_each_rank() ? c.size.ranks : 0;
  auto& found = workers_[{c.who, ranks}];
  if (!found) {
    found = std::make_unique<worker>(command_of(*c.who, ranks), c.who->process.settings);
  }
  return *found;
}

// What is wrong with it; empty: nothing.
std::string suite::check(cell& c) {
  if (!c.who->in_process()) return process_of(c).check(c.request);
  if (!c.of_barrier()) return on_new_thread([&] { return check_runtime(c.request, *c.who); });
  // What it reads of the machine when it is made, it reads under the quota.
  const quotas::visit inside(quotas_, *c.when, getpid(), cpu_quota::members::process);
  auto& threads = teams_[{c.size.threads, c.where}];
  if (!threads) threads = std::make_unique<thread_team>(c.size.threads);
  c.threads = threads.get();
  c.barrier = c.who->barrier(c.size.threads);
  return check_barrier(c.request, *c.threads, *c.barrier);
}

// False: not measured, and failures() says why.
bool suite::prepare(cell& c) {
  const watchdog guard(plan_.length.longest_round_s, title_of(c));
  try {
    const std::string fault = check(c);
    if (!fault.empty()) {
      fail(c,
           (c.of_barrier() ? "it is not a barrier: " : "it does not do what it should: ") + fault);
      return false;
    }
    calibrate(c);
  } catch (const std::exception& e) {
    fail(c, e.what());
    return false;
  }
  return true;
}

void suite::calibrate(cell& c) {
  const pattern kind = c.request.kind;
  if (kind == pattern::after_gap) return c.length.assume(c.when->gap.mean());
  if (kind == pattern::delayed && c.when->delayed()) {
    return c.length.assume(std::max(c.when->late.mean(), c.when->most_work_ns));
  }
  if (kind == pattern::phases) c.request.kind = pattern::loop;
  c.length.calibrate([&](std::uint64_t episodes) {
    c.request.batches = 1;
    c.request.episodes = episodes;
    c.request.warm_up = episodes / 4 + 1;
    return run_round_of(c).duration_ns;
  });
  c.request.kind = kind;
}

round_outcome suite::run_round_of(cell& c) {
  // The same delays in every run with the same seed, others in every round; calibration counts as
  // round 0.
  c.request.seed = plan_.length.seed + 1000 * c.results.front() + 1000000 * c.rounds;
  if (!c.who->in_process()) {
    worker& process = process_of(c);
    const auto members =
        c.who->process.for_each_rank() ? cpu_quota::members::family : cpu_quota::members::process;
    const quotas::visit inside(quotas_, *c.when, process.pid(), members);
    return process.run(c.request);
  }
  const quotas::visit inside(quotas_, *c.when, getpid(), cpu_quota::members::process);
  if (c.of_barrier()) return run_round(c.request, *c.threads, *c.barrier, neighbours_);
  return on_new_thread([&] { return run_runtime_round(c.request, *c.who); });
}

// Zero where there is nothing to compare with.
double suite::line_beside(const cell& c) {
  if (!c.request.with_floor || cores_of(*c.where).size() < 2) return 0;
  return line_transfer(two_, {c.where->cpu_of(0), c.where->cpu_of(1)});
}

// A runtime's threads cannot take the floor and start the neighbours, as those of a barrier do in
// their rounds.
round_outcome suite::run_beside_floor(cell& c) {
  const double before = line_beside(c);
  neighbours_.select(c.busy);
  neighbours_.start();
  round_outcome outcome = run_round_of(c);
  neighbours_.stop();
  outcome.neighbours_ran = neighbours_.ran();
  outcome.floor_before = before;
  outcome.floor_after = line_beside(c);
  if (!outcome.fault.empty()) throw std::runtime_error(outcome.fault);
  return outcome;
}

void suite::plan_round(cell& c) {
  round_request& request = c.request;
  const std::uint64_t episodes = c.length.episodes();
  const bool is_loop = request.kind == pattern::loop;
  const bool by_time = c.when->disturbed() && request.kind != pattern::phases;
  request.batches = is_loop && !by_time && episodes >= 8 * batches ? batches : 1;
  request.episodes = episodes / request.batches * request.batches;
  request.warm_up = episodes / 4 + 1;
  if (c.when->delayed() || request.kind == pattern::phases) request.warm_up = awake;
  request.episodes = in_whole_turns(request.episodes, c);
  if (request.kind == pattern::phases) request.chunk = c.length.chunk(phase_chunk_ns);
  if (!by_time) return;
  request.least_ns = c.length.target_ns;
  // Ranks inside a region know the number of gaps beforehand; otherwise the time decides.
  const bool by_number =
      request.kind == pattern::after_gap && request.what.what == operation::collective;
  if (!by_number) request.episodes *= most_overrun;
  // By time, what is not timed costs as much as what is: only as much as the waits need to learn.
  if (is_loop) {
    request.chunk = c.length.chunk(chunk_ns);
    request.warm_up = request.chunk;
  } else {
    request.episodes = std::min(request.episodes, most_single_by_time);
    request.warm_up = awake;
  }
}

void suite::measure(cell& c) {
  const watchdog guard(plan_.length.longest_round_s, title_of(c));
  plan_round(c);
  ++c.rounds;
  try {
    const round_outcome outcome = c.of_barrier() ? run_round_of(c) : run_beside_floor(c);
    record(c, outcome);
    if (c.request.kind != pattern::phases) {
      c.length.follow(outcome.duration_ns / static_cast<double>(outcome.episodes));
    }
  } catch (const std::exception& e) {
    neighbours_.stop();
    fail(c, e.what());
  }
}

std::optional<double> suite::floor_of(const cell& c, const round_outcome& outcome) const {
  if (c.request.with_floor) return outcome.floor();
  const std::vector<double> known = c.crowded()
                                        ? floors_.yield_rotation(c.size.threads, cores_of(*c.where))
                                        : floors_.line_one_way(*c.where);
  return known.empty() ? std::nullopt : std::optional(known.back());
}

void suite::record(cell& c, const round_outcome& outcome) {
  const std::optional<double> floor = floor_of(c, outcome);
  // A thread that begins long after the others was not awake when the round began.
  const bool late_start =
      c.request.kind == pattern::loop && !c.when->disturbed() &&
      outcome.start_spread_ns > std::max(0.1 * outcome.duration_ns, 2 * outcome.mean);
  const bool sound = floor && !late_start && outcome.neighbours_ran;
  for (const std::size_t index : c.results) {
    measurement& m = results_[index];
    if (m.what == metric::cpu_time && outcome.waiter_cpu_ns < 0) continue;
    ++m.rounds;
    if (!sound) ++m.flagged;
    switch (m.what) {
      case metric::cpu_time:
        m.add({outcome.waiter_cpu_ns}, std::nullopt, sweeps_);
        m.cpus_used.push_back(outcome.cpus_used);
        break;
      case metric::episode: m.add({outcome.episode_ns}, std::nullopt, sweeps_); break;
      case metric::recover: {
        const bool is_back = outcome.recover_ns >= 0;
        m.add({is_back ? outcome.recover_ns : outcome.watched_ns}, std::nullopt, sweeps_);
        if (!is_back) ++m.unrecovered;
        break;
      }
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
    fail(m, "in each of its rounds a thread began long after the others");
  }
}

}  // namespace tutti::bench
