// SPDX-License-Identifier: Apache-2.0
// The rounds of crews, and the floor beside each.
#include "bench/crew/suite.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <thread>

#include "bench/harness/pace.hpp"
#include "bench/harness/watchdog.hpp"

namespace tutti::bench {
namespace {

// How long a round should last. Beside a busy neighbour the scheduler's slices of milliseconds must average out.
constexpr double free_round_ns = 6e6;
constexpr double crowded_round_ns = 10e6;
constexpr double gap_round_ns = 25e6;
constexpr std::uint64_t most_with_gaps = 2000;
constexpr std::uint64_t most_by_time = 50000;
constexpr std::uint64_t batches = 8;
// Beside a neighbour: rounds end by time, and at the latest after so many times the episodes that were expected.
constexpr std::uint64_t most_overrun = 16;
constexpr double chunk_ns = 1e6;
constexpr unsigned longest_round_s = 120;

// A crew's master is a thread of its own: what the runtime keeps for it ends with it, and this thread stays unpinned.
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

std::vector<rank_t> threads_of(const crew_plan& plan) {
  std::vector<rank_t> threads;
  for (const auto& shape : plan.shapes) threads.push_back(shape.threads);
  return threads;
}

}  // namespace

bool crew_measurement::same_situation(const crew_measurement& other) const {
  return shape.threads == other.shape.threads && shape.ranks == other.shape.ranks &&
         where == other.where && when == other.when && what == other.what;
}

struct crew_suite::cell final : series {
  explicit cell(crew_suite& of) : owner(of) {}
  bool prepare() override { return owner.prepare(*this); }
  void measure() override { owner.measure(*this); }
  double target_ns() const override { return speed.target_ns; }
  void give_up(const std::string& reason) override { owner.fail(*this, reason); }

  crew_measurement& result() const { return owner.results_[index]; }
  bool has_gaps() const { return request.gap.ns > 0; }

  crew_suite& owner;
  std::size_t index = 0;  // of the measurement; with gaps, that of the processor time is the next
  crew_request request;
  neighbour_plan busy;
  std::uint64_t rounds = 0;
  pace speed;
};

crew_suite::crew_suite(const crew_plan& plan)
    : plan_(plan),
      floors_(plan_floors(threads_of(plan), plan.placements)),
      quotas_(plan.scenarios) {
  for (const auto& who : plan_.providers) {
    for (const auto& shape : plan_.shapes) add_cells(who, shape);
  }
}

crew_suite::~crew_suite() = default;

void crew_suite::add_cells(const crew_provider& who, const crew_shape& shape) {
  std::vector<episode_kind> kinds = plan_.kinds;
  const episode_kind barrier{true, 0};
  // What fibers are for: the caller need not wait for a thread to meet them.
  const bool fibers = shape.ranks != shape.threads;
  if (fibers && std::find(kinds.begin(), kinds.end(), barrier) == kinds.end()) {
    kinds.push_back(barrier);
  }
  for (const auto& kind : kinds) {
    if (!suits(who, kind, shape)) continue;
    for (const auto& where : plan_.placements) {
      for (const auto& when : plan_.scenarios) {
        const bool fits = suits(who, kind, shape, when) && quotas_.is_possible(when);
        if (fits) add_cell({{}, &who, kind, shape, &where, &when});
      }
    }
  }
}

void crew_suite::add_cell(crew_measurement what) {
  auto c = std::make_unique<cell>(*this);
  c->index = results_.size();
  c->request.kind = what.kind;
  crew_size& size = c->request.size;
  size.threads = what.shape.threads;
  size.ranks = what.shape.ranks;
  for (rank_t thread = 0; thread < size.threads && what.where->pinned(); ++thread) {
    size.cpus.push_back(what.where->cpu_of(thread));
  }
  c->busy = neighbours_of(*what.when, cores_of(*what.where));
  c->busy.outside = quotas_.outside(*what.when);
  c->request.gap = what.when->gap;
  c->speed.target_ns = what.crowded() ? crowded_round_ns : free_round_ns;
  if (c->has_gaps()) c->speed.target_ns = gap_round_ns;
  if (what.when->disturbed()) c->speed.target_ns = disturbed_round_ns(*what.when);
  if (c->has_gaps()) what.what = crew_metric::latency;
  results_.push_back(what);
  if (c->has_gaps()) {
    what.what = crew_metric::cpu_time;
    results_.push_back(std::move(what));
  }
  cells_.push_back(std::move(c));
}

void crew_suite::fail(const cell& c, const std::string& reason) {
  const crew_measurement& m = c.result();
  for (const auto& known : failures_) {
    if (known.who == m.who && known.kind == m.kind && known.shape.threads == m.shape.threads &&
        known.shape.ranks == m.shape.ranks && known.when == m.when) {
      return;
    }
  }
  failures_.push_back({m.who, m.kind, m.shape, m.when, reason});
}

worker& crew_suite::remote(const cell& c) {
  const crew_provider& who = *c.result().who;
  const rank_t ranks = who.a_process_each_rank ? c.request.size.ranks : 0;
  auto& found = workers_[{&who, ranks}];
  if (!found) found = std::make_unique<worker>(command_of(who, ranks), who.settings);
  return *found;
}

crew_outcome crew_suite::run_round_of(const cell& c) {
  const crew_measurement& m = c.result();
  const crew_provider& who = *m.who;
  if (!who.in_process()) {
    worker& process = remote(c);
    const auto members =
        who.a_process_each_rank ? cpu_quota::members::family : cpu_quota::members::process;
    const quotas::visit inside(quotas_, *m.when, process.pid(), members);
    return outcome_of_answer(process.request(crew_round_request(c.request)));
  }
  const quotas::visit inside(quotas_, *m.when, getpid(), cpu_quota::members::process);
  return on_new_thread([&] { return run_round(c.request, who.makers); });
}

std::string crew_suite::check_of(const cell& c) {
  const crew_provider& who = *c.result().who;
  if (!who.in_process()) return fault_of_answer(remote(c).request(crew_check_request(c.request)));
  return on_new_thread([&] { return check(c.request, who.makers); });
}

namespace {

std::string title_of(const crew_provider& who, const episode_kind& kind, const crew_shape& shape) {
  return fmt::format("{} {} ({}) with {} ranks", who.family, who.name, name_of(kind), shape.ranks);
}

}  // namespace

// False: not measured, and failures() says why.
bool crew_suite::prepare(cell& c) {
  const crew_measurement& m = c.result();
  const watchdog guard(longest_round_s, title_of(*m.who, m.kind, m.shape));
  try {
    const std::string fault = check_of(c);
    if (!fault.empty()) {
      fail(c, "it does not do what it should: " + fault);
      return false;
    }
    if (c.has_gaps()) {
      c.speed.assume(c.request.gap.mean());
      return true;
    }
    c.speed.calibrate([&](std::uint64_t episodes) {
      c.request.batches = 1;
      c.request.episodes = episodes;
      c.request.warm_up = episodes / 4 + 1;
      return run_round_of(c).duration_ns;
    });
  } catch (const std::exception& e) {
    fail(c, e.what());
    return false;
  }
  return true;
}

// Zero where there is nothing to compare with.
double crew_suite::line_beside(const cell& c) {
  const crew_measurement& m = c.result();
  const std::vector<int> cores = cores_of(*m.where);
  if (!m.where->pinned() || m.crowded() || cores.size() < 2) return 0;
  return line_transfer(two_, {m.where->cpu_of(0), m.where->cpu_of(1)});
}

std::optional<double> crew_suite::floor_of(const cell& c, double before, double after) const {
  const crew_measurement& m = c.result();
  if (m.crowded()) {
    const auto& rotations = floors_.yield_rotation(m.shape.threads, cores_of(*m.where));
    return rotations.empty() ? std::nullopt : std::optional(rotations.back());
  }
  if (m.where->pinned()) return floor_between(before, after);
  const std::vector<double> transfers = floors_.line_one_way();
  return transfers.empty() ? std::nullopt : std::optional(transfers.back());
}

void crew_suite::plan_round(cell& c) {
  crew_request& request = c.request;
  const bool by_time = c.result().when->disturbed();
  const std::uint64_t episodes = c.speed.episodes();
  request.batches = !by_time && !c.has_gaps() && episodes >= 8 * batches ? batches : 1;
  request.episodes = episodes / request.batches * request.batches;
  request.warm_up = episodes / 4 + 1;
  // Others in every round, the same in every run with the same seed.
  request.seed = plan_.length.seed + 1000 * c.index + 1000000 * ++c.rounds;
  if (c.has_gaps()) request.episodes = std::min(request.episodes, most_with_gaps);
  // Whole turns of nine short gaps and a long one.
  if (request.gap.kind == course_kind::alternating) {
    request.episodes = (request.episodes + 9) / 10 * 10;
  }
  if (!by_time) return;
  request.least_ns = c.speed.target_ns;
  request.chunk = c.speed.chunk(chunk_ns);
  // Ranks that meet inside a region know the number of gaps beforehand; for regions the time
  // decides.
  if (!c.has_gaps() || !request.kind.inside) request.episodes *= most_overrun;
  if (c.has_gaps()) request.episodes = std::min(request.episodes, most_by_time);
  // By time, what is not timed costs as much as what is: only as much as the waits need to learn.
  request.warm_up = request.chunk;
}

void crew_suite::measure(cell& c) {
  crew_measurement& m = c.result();
  const watchdog guard(longest_round_s, title_of(*m.who, m.kind, m.shape));
  plan_round(c);
  ++m.rounds;
  try {
    const double before = line_beside(c);
    neighbours_.select(c.busy);
    neighbours_.start();
    const crew_outcome outcome = run_round_of(c);
    neighbours_.stop();
    const std::optional<double> floor = floor_of(c, before, line_beside(c));
    if (!outcome.fault.empty()) throw std::runtime_error(outcome.fault);
    const bool sound = floor && neighbours_.ran();
    if (!sound) ++m.flagged;
    m.add(outcome.samples, sound ? floor : std::nullopt, sweeps_);
    if (c.has_gaps() && outcome.worker_cpu_ns >= 0) {
      crew_measurement& cpu = results_[c.index + 1];
      ++cpu.rounds;
      cpu.add({outcome.worker_cpu_ns}, std::nullopt, sweeps_);
    }
    c.speed.follow(outcome.duration_ns / static_cast<double>(outcome.episodes));
  } catch (const std::exception& e) {
    neighbours_.stop();
    fail(c, e.what());
  }
}

void crew_suite::run(const progress& report) {
  run_sweeps(
      cells_, plan_.length,
      [this] {
        ++sweeps_;
        floors_.sweep();
      },
      report);
  // Their processor time counts as ours only once they have ended.
  workers_.clear();
  neighbours_.dismiss();
}

}  // namespace tutti::bench
