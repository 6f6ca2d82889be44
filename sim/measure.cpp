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

}  // namespace

world_options world_options_of(const machine& m, const contender& who, const run_plan& plan) {
  world_options o;
  o.seed = plan.seed;
  o.timeline = plan.timeline;
  o.skips_polls = plan.skips_polls && who.polls_without_end;
  o.poll_gap = who.polls == polling::tuttis_gap  ? picoseconds(plan.poll_gap_ns)
               : who.polls == polling::one_pause ? m.pause
                                                 : m.hit;
  return o;
}

simulated_run run(const machine& m, const contender& who, const run_plan& plan) {
  refuse_without_part(who, m);
  const simulated::making_for here(m);
  const std::unique_ptr<repeated_object> object = who.make(plan.threads);
  const std::uint32_t all = plan.warm_up + plan.episodes;
  std::vector<sim_time> last_in(all), last_out(all);
  std::vector<rank_t> arrived(all);
  world w(m, world_options_of(m, who, plan));
  std::vector<generator> random;
  for (rank_t rank = 0; rank < plan.threads; ++rank)
    random.emplace_back(plan.seed * most_threads + rank);
  if (plan.work_ns > 0)
    object->work = [&](rank_t rank) {
      const double share = 1 + plan.spread * (2 * random[rank].fraction() - 1);
      w.spend(picoseconds(plan.work_ns * share));
    };
  const double began = host_now();
  const auto repeat = [&](rank_t rank) {
    for (std::uint32_t e = 0; e < all; ++e) {
      last_in[e] = std::max(last_in[e], w.now());
      ++arrived[e];
      object->episode(rank);
      last_out[e] = std::max(last_out[e], w.now());
      if (arrived[e] != plan.threads && (rank == 0 || who.is_barrier))
        throw std::logic_error(who.name + ": rank " + std::to_string(rank) + " left episode " +
                               std::to_string(e) + " before all had arrived");
    }
  };
  w.run([&] {
    for (rank_t rank = 1; rank < plan.threads; ++rank) w.start([&repeat, rank] { repeat(rank); });
    repeat(0);
  });
  if (plan.timeline != nullptr) {
    // The episode begins when the one before has ended.
    const sim_time start = all < 2 ? 0 : last_out[all - 2];
    std::erase_if(*plan.timeline, [&](const waiting_time& each) { return each.end <= start; });
    for (waiting_time& each : *plan.timeline) {
      each.begin = each.begin < start ? 0 : each.begin - start;
      each.end -= start;
    }
  }
  simulated_run result;
  result.host_ns = (host_now() - began) / all;
  result.events = w.events();
  result.transfers = w.transfers();
  for (std::uint32_t e = std::max(plan.warm_up, 1u); e < all; ++e) {
    result.loop.push_back(nanoseconds(last_out[e] - last_out[e - 1]));
    result.last_in_last_out.push_back(nanoseconds(last_out[e] - last_in[e]));
  }
  return result;
}

simulated_run run_team(const machine& m, const run_plan& plan) {
  const simulated::making_for here(m);
  const std::uint32_t all = plan.warm_up + plan.episodes;
  world w(m, {.seed = plan.seed, .poll_gap = picoseconds(plan.poll_gap_ns)});
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
