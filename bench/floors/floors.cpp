// SPDX-License-Identifier: Apache-2.0
// Floors: line transfers, wake-ups, context switches, and the system calls that barriers are made
// of.
#include "bench/floors/floors.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "bench/harness/placement.hpp"
#include "bench/harness/round.hpp"
#include "bench/harness/statistics.hpp"
#include "bench/harness/ticks.hpp"

namespace tutti::bench {
namespace {

constexpr std::size_t most_pairs = 64;
constexpr int calls = 200;           // system calls a sample
constexpr int wakes = 8;             // wake-ups a sweep
constexpr double asleep_ns = 150e3;  // after which a waiter surely sleeps and its core is idle
constexpr double rotation_round_ns = 5e6;
constexpr double expected_switch_ns = 1500;
constexpr std::uint64_t rotation_batches = 7;

class yielding final : public timed_barrier_base<yielding> {
 public:
  void one_episode(rank_t) { sched_yield(); }
};

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

template <class Call>
double cost_of(Call call) {
  const std::uint64_t begin = ordered_ticks();
  for (int i = 0; i < calls; ++i) call();
  return to_ns(ordered_ticks() - begin) / calls;
}

bool is_same_pair(std::pair<int, int> one, std::pair<int, int> other) {
  return one == other || one == std::pair{other.second, other.first};
}

// At most most_pairs of them, evenly chosen, and those that must be there.
std::vector<std::pair<int, int>> pairs_of(const floor_plan& plan) {
  const std::vector<int>& cpus = plan.cores;
  std::vector<std::pair<int, int>> pairs;
  for (std::size_t a = 0; a < cpus.size(); ++a) {
    for (std::size_t b = a + 1; b < cpus.size(); ++b) pairs.emplace_back(cpus[a], cpus[b]);
  }
  if (pairs.size() > most_pairs) {
    std::vector<std::pair<int, int>> some;
    for (std::size_t i = 0; i < most_pairs; ++i)
      some.push_back(pairs[i * pairs.size() / most_pairs]);
    pairs = std::move(some);
  }
  for (const auto& must : plan.pairs) {
    const auto is_it = [&](const auto& each) { return is_same_pair(each, must); };
    if (std::none_of(pairs.begin(), pairs.end(), is_it)) pairs.push_back(must);
  }
  return pairs;
}

// Runs each side on its CPU.
template <class Lead, class Follow>
void on_pair(team& two, std::pair<int, int> cpus, Lead lead, Follow follow) {
  two.run([&](rank_t rank) {
    pin_this_thread(rank == 0 ? cpus.first : cpus.second);
    if (rank == 0) {
      lead();
    } else {
      follow();
    }
  });
}

round_request rotation_request(rank_t threads, const std::vector<int>& cpus) {
  round_request request;
  request.threads = threads;
  request.own_cores = false;
  request.with_floor = false;
  for (rank_t rank = 0; rank < threads; ++rank) request.cpus.push_back(cpus[rank % cpus.size()]);
  const double a_rotation =
      expected_switch_ns * static_cast<double>(threads) / static_cast<double>(cpus.size());
  const double fitting = rotation_round_ns / a_rotation / static_cast<double>(rotation_batches);
  request.batches = rotation_batches;
  request.episodes = rotation_batches * static_cast<std::uint64_t>(std::max(4.0, fitting));
  request.warm_up = request.episodes / 10;
  return request;
}

// What an episode needs at least, of a rotation in which each thread yields once: who arrives last
// on its core goes on into the next episode without a switch, so that k threads on a core need k -
// 1 switches, not k.
double switches_of_an_episode(double rotation_ns, rank_t threads, std::size_t cores) {
  const auto on_a_core = static_cast<double>((threads + cores - 1) / cores);
  return rotation_ns * (on_a_core - 1) / on_a_core;
}

bool knows(const auto& list, const auto& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

}  // namespace

floor_plan plan_floors(const std::vector<rank_t>& threads,
                       const std::vector<placement>& placements) {
  floor_plan floors{make_placement("core").cpus, {}};
  for (const auto& where : placements) {
    const std::vector<int> cores = cores_of(where);
    if (where.pinned() && where.cpu_of(0) != where.cpu_of(1))
      floors.pairs.emplace_back(where.cpu_of(0), where.cpu_of(1));
    for (const int cpu : cores) {
      if (!knows(floors.cores, cpu)) floors.cores.push_back(cpu);
    }
    for (const rank_t count : threads) {
      const std::pair rotation{count, cores};
      if (count > cores.size() && !knows(floors.rotations, rotation)) {
        floors.rotations.push_back(rotation);
      }
    }
  }
  return floors;
}

double line_transfer(team& two, std::pair<int, int> cpus) {
  ping_pong line;
  double one_way = 0;
  on_pair(
      two, cpus, [&] { one_way = line.lead_transfers(); }, [&] { line.follow_transfers(); });
  return one_way;
}

floor_suite::floor_suite(floor_plan plan) : plan_(std::move(plan)), pairs_(pairs_of(plan_)) {
  for (const auto& [threads, cpus] : plan_.rotations) {
    auto& crowd = crowds_[threads];
    if (!crowd) crowd = std::make_unique<thread_team>(threads);
  }
  measure_clocks();
}

floor_quantity& floor_suite::quantity(const std::string& name, const std::string& summary,
                                      const std::vector<int>& cpus, rank_t threads) {
  for (auto& q : quantities_) {
    if (q.quantity == name && q.cpus == cpus && q.threads == threads) return q;
  }
  quantities_.push_back({name, summary, cpus, threads, {}});
  return quantities_.back();
}

void floor_suite::measure_clocks() {
  for (const int cpu : plan_.cores) {
    if (cpu == plan_.cores.front()) continue;
    ping_pong line;
    on_pair(
        two_, {plan_.cores.front(), cpu}, [&] { offsets_[cpu] = line.lead_clocks(); },
        [&] { line.follow_clocks(); });
  }
}

clock_offset floor_suite::offset_of(int cpu) const {
  const auto found = offsets_.find(cpu);
  return found == offsets_.end() ? clock_offset{} : found->second;
}

void floor_suite::sweep() {
  sweep_pairs();
  sweep_wakes();
  sweep_calls();
  sweep_switch();
  sweep_rotations();
}

void floor_suite::sweep_pairs() {
  for (const auto& pair : pairs_) {
    const double one_way = line_transfer(two_, pair);
    quantity("line_one_way", "a cache line from core to core", {pair.first, pair.second})
        .samples.push_back(one_way);
  }
}

// From just before the call that wakes until the sleeper runs.
void floor_suite::sweep_wakes() {
  if (pairs_.empty()) return;
  const auto pair = pairs_.front();
  auto& samples =
      quantity("wake_idle_core", "futex: a thread that sleeps on an idle core runs again",
               {pair.first, pair.second})
          .samples;
  std::atomic<std::uint32_t> word{0};
  std::vector<std::uint64_t> sent(wakes), woken(wakes);
  on_pair(
      two_, pair,
      [&] {
        for (std::uint32_t i = 0; i < wakes; ++i) {
          spin_for_ns(asleep_ns);
          sent[i] = ordered_ticks();
          // release: publishes the time of sending; pairs with the sleeper's load.
          word.store(i + 1, release);
          futex(word, FUTEX_WAKE_PRIVATE, 1);
        }
      },
      [&] {
        for (std::uint32_t i = 0; i < wakes; ++i) {
          // acquire: pairs with the waker's store.
          while (word.load(acquire) == i) futex(word, FUTEX_WAIT_PRIVATE, i);
          woken[i] = ordered_ticks();
        }
      });
  const std::int64_t offset = offset_of(pair.second).ticks - offset_of(pair.first).ticks;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    samples.push_back(to_ns(static_cast<std::int64_t>(woken[i] - sent[i]) - offset));
  }
}

void floor_suite::sweep_calls() {
  const std::vector<int> here{plan_.cores.front()};
  double yield = 0, wake = 0, timer = 0;
  on_pair(
      two_, {here[0], here[0]},
      [&] {
        std::atomic<std::uint32_t> word{0};
        spin_for_ns(asleep_ns);  // until the partner has left this CPU
        yield = cost_of([] { sched_yield(); });
        wake = cost_of([&] { futex(word, FUTEX_WAKE_PRIVATE, 1); });
        timer = cost_of([] { (void)ordered_ticks(); });
      },
      [] {});
  quantity("sched_yield", "the call with nobody else to run", here).samples.push_back(yield);
  quantity("futex_wake", "the call with nobody asleep", here).samples.push_back(wake);
  quantity("timer", "one ordered read of the clock", here).samples.push_back(timer);
}

void floor_suite::sweep_switch() {
  const std::vector<int> here{plan_.cores.front()};
  yielding barrier;
  const round_outcome outcome = run_round(rotation_request(2, here), two_, barrier, nobody_);
  quantity("context_switch", "from thread to thread on one core, by sched_yield", here)
      .samples.push_back(outcome.mean / 2);
}

void floor_suite::sweep_rotations() {
  for (const auto& [threads, cpus] : plan_.rotations) {
    yielding barrier;
    const round_outcome outcome =
        run_round(rotation_request(threads, cpus), *crowds_[threads], barrier, nobody_);
    // The least: a floor is what the machine can do, and others' work only adds. Not of the first
    // and the last batch: in these some threads are not there yet, or no more.
    const auto& batches = outcome.samples;
    const double least = *std::min_element(batches.begin() + 1, batches.end() - 1);
    quantity("yield_rotation",
             "between two episodes each of the threads runs once, by sched_yield: on each core a "
             "switch less than it has threads",
             cpus, threads)
        .samples.push_back(switches_of_an_episode(least, threads, cpus.size()));
  }
}

std::vector<double> transfers_between(std::pair<int, int> cpus,
                                      const std::vector<floor_quantity>& measured) {
  std::vector<std::vector<double>> sweeps;
  for (const auto& q : measured) {
    if (q.quantity != "line_one_way") continue;
    if (is_same_pair({q.cpus[0], q.cpus[1]}, cpus)) return q.samples;
    sweeps.resize(std::max(sweeps.size(), q.samples.size()));
    for (std::size_t i = 0; i < q.samples.size(); ++i) sweeps[i].push_back(q.samples[i]);
  }
  std::vector<double> medians;
  for (auto& sweep : sweeps) medians.push_back(median_of(std::move(sweep)));
  return medians;
}

std::vector<double> floor_suite::line_one_way(const placement& where) const {
  return transfers_between({where.cpu_of(0), where.cpu_of(1)}, quantities_);
}

const std::vector<double>& floor_suite::yield_rotation(rank_t threads,
                                                       const std::vector<int>& cpus) const {
  static const std::vector<double> none;
  for (const auto& q : quantities_) {
    if (q.quantity == "yield_rotation" && q.threads == threads && q.cpus == cpus) return q.samples;
  }
  return none;
}

}  // namespace tutti::bench
