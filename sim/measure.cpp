// SPDX-License-Identifier: Apache-2.0
#include "sim/measure.hpp"

#include <algorithm>
#include <ctime>
#include <stdexcept>
#include <string>

#include "sim/simulated.hpp"
#include "tutti/team/on_platform.hpp"

namespace tutti::sim {
namespace {

// So that the ranks of different seeds have generators of their own.
constexpr std::uint64_t most_threads = 1 << 16;

// ns of processor time of this process.
double host_now() { return 1e9 / CLOCKS_PER_SEC * static_cast<double>(std::clock()); }

struct episode_times {
  sim_time last_in = 0, last_out = 0;
  rank_t arrived = 0;
};

// The rank left the episode before at the time `left`. Returns false if it had nothing to do.
bool be_delayed(world& w, const delay& by, sim_time left) {
  // It looks at the clock so often.
  constexpr sim_time look = picoseconds(20'000);
  if (by.work_ns > 0) w.work(picoseconds(by.work_ns));
  const sim_time until = left + picoseconds(by.late_ns);
  while (w.now() < until) w.work(std::min(look, until - w.now()));
  return by.work_ns > 0 || by.late_ns > 0;
}

void be_another_process(world& w, const other_process& p, std::uint64_t seed, const rank_t& ended,
                        rank_t all) {
  generator random(seed);
  const auto between = [&](double least, double most) {
    return picoseconds(least + (most - least) * random.fraction());
  };
  const simulated_atomic<std::uint32_t> never{0};
  const auto sleep = [&](sim_time time) { w.sleep(&never, sizeof never, 0, w.now() + time); };
  // They begin at any time in their turns with the thread of their CPU.
  const sim_time turn = std::max(w.hardware().slice, w.hardware().tick);
  sleep(between(0, std::max(p.most_sleep_ns, nanoseconds(2 * turn))));
  while (ended < all) {
    w.work(between(p.least_work_ns, p.most_work_ns));
    if (p.most_sleep_ns > 0) sleep(between(p.least_sleep_ns, p.most_sleep_ns));
  }
}

}  // namespace

world_options world_options_of(const machine& m, const contender& who, const run_plan& plan) {
  world_options o;
  o.seed = plan.seed;
  o.timeline = plan.timeline;
  o.quota_cpus = plan.quota_cpus;
  o.skips_polls = plan.skips_polls && who.polls_without_end;
  o.poll_gap = who.polls == polling::tuttis_gap  ? m.poll_gap_or(plan.poll_gap_ns)
               : who.polls == polling::one_pause ? m.pause
                                                 : m.hit;
  return o;
}

simulated_run run(const machine& m, const contender& who, const run_plan& plan) {
  refuse_without_part(who, m);
  const simulated::making_for here(m, plan.quota_cpus);
  const std::unique_ptr<repeated_object> object = who.make(plan.threads);
  world w(m, world_options_of(m, who, plan));
  std::vector<generator> random;
  for (rank_t rank = 0; rank < plan.threads; ++rank)
    random.emplace_back(plan.seed * most_threads + rank);
  if (plan.work_ns > 0)
    object->work = [&](rank_t rank) {
      const double share = 1 + plan.spread * (2 * random[rank].fraction() - 1);
      w.spend(picoseconds(plan.work_ns * share));
    };
  std::vector<episode_times> times;
  // Rank 0 decides before it arrives whether the episode is the last one.
  std::uint32_t last_episode = 0;
  sim_time end = 0;
  std::uint32_t warm_up = plan.warm_up;
  const auto is_followed = [&](std::uint32_t e) {
    if (e == 0) end = w.now() + picoseconds(plan.warm_up_ns);
    if (e == warm_up && w.now() < end) ++warm_up;
    if (plan.least_ns <= 0) return e + 1 < warm_up + plan.episodes;
    if (e == warm_up) end = w.now() + picoseconds(plan.least_ns);
    return e <= warm_up || w.now() < end;
  };
  rank_t ended = 0;
  const sim_time run_start = w.now();
  const auto repeat = [&](rank_t rank) {
    sim_time left = w.now();
    for (std::uint32_t e = 0; e <= last_episode; ++e) {
      const bool is_cold = plan.delay_of && be_delayed(w, plan.delay_of(rank, e), left);
      const sim_time due = run_start + picoseconds(plan.period_ns) * (e + 1);
      if (plan.period_ns > 0 && w.now() < due) w.work(due - w.now());
      if (times.size() <= e) times.resize(e + 1);
      if (rank == 0) last_episode = is_followed(e) ? e + 1 : e;
      times[e].last_in = std::max(times[e].last_in, w.now());
      ++times[e].arrived;
      if (is_cold) w.spend(m.cold);
      object->episode(rank);
      left = w.now();
      times[e].last_out = std::max(times[e].last_out, left);
      if (times[e].arrived != plan.threads && (rank == 0 || who.is_barrier))
        throw std::logic_error(who.name + ": rank " + std::to_string(rank) + " left episode " +
                               std::to_string(e) + " before all had arrived");
    }
    ++ended;
  };
  const double began = host_now();
  w.run([&] {
    for (rank_t rank = 1; rank < plan.threads; ++rank) w.start([&repeat, rank] { repeat(rank); });
    for (std::size_t i = 0; i < plan.others.size(); ++i)
      w.start_process(
          [&, i] { be_another_process(w, plan.others[i], plan.seed + i, ended, plan.threads); },
          plan.others[i].cpu, plan.others[i].session);
    repeat(0);
  });
  const std::size_t all = times.size();
  if (plan.timeline != nullptr) {
    // The episode begins when the one before has ended.
    const sim_time start = all < 2 ? 0 : times[all - 2].last_out;
    std::erase_if(*plan.timeline, [&](const waiting_time& each) { return each.end <= start; });
    for (waiting_time& each : *plan.timeline) {
      each.begin = each.begin < start ? 0 : each.begin - start;
      each.end -= start;
    }
  }
  simulated_run result;
  result.host_ns = (host_now() - began) / static_cast<double>(all);
  result.events = w.events();
  result.transfers = w.transfers();
  for (std::size_t e = std::max(warm_up, 1u); e < all; ++e) {
    result.loop.push_back(nanoseconds(times[e].last_out - times[e - 1].last_out));
    result.last_in_last_out.push_back(nanoseconds(times[e].last_out - times[e].last_in));
  }
  return result;
}

simulated_run run_team(const machine& m, const run_plan& plan) {
  const simulated::making_for here(m);
  const std::uint32_t all = plan.warm_up + plan.episodes;
  world w(m, {.seed = plan.seed, .poll_gap = m.poll_gap_or(plan.poll_gap_ns)});
  simulated_run result;
  const double began = host_now();
  w.run([&] {
    team_options options{.threads = plan.threads};
    if (plan.fan != 0) options.fan = plan.fan;
    basic_team<simulated> team(options);
    for (std::uint32_t e = 0; e < all; ++e) {
      const sim_time before = w.now();
      rank_t ran = 0;
      team.run([&](basic_member<simulated>&) { ++ran; });
      if (ran != plan.threads) throw std::logic_error("a region ended before all had run it");
      if (e >= plan.warm_up) result.loop.push_back(nanoseconds(w.now() - before));
    }
  });
  result.host_ns = (host_now() - began) / all;
  result.events = w.events();
  result.transfers = w.transfers();
  return result;
}

}  // namespace tutti::sim
