// SPDX-License-Identifier: Apache-2.0
#include "hardware/machine/sim/checked_run.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <stdexcept>

namespace tutti::machine {

namespace {

std::string place_of(unsigned cores, unsigned sockets) {
  return std::to_string(cores) + " cores in " + std::to_string(sockets) +
         (sockets == 1 ? " socket" : " sockets");
}

// Cycles from the last arrival to the last departure of each episode.
std::vector<double> last_to_last(const test::trace& all, std::uint64_t episodes) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ends(static_cast<std::size_t>(episodes));
  for (const test::passage& p : all) {
    auto& end = ends[static_cast<std::size_t>(p.episode)];
    end.first = std::max(end.first, p.arrive);
    end.second = std::max(end.second, p.leave);
  }
  std::vector<double> each;
  for (const auto& [arrive, leave] : ends) each.push_back(static_cast<double>(leave - arrive));
  return each;
}

// The least distance between the last arrival of an episode and the one before it.
std::uint64_t least_lead(const test::trace& all, std::uint64_t episodes) {
  std::vector<std::vector<std::uint64_t>> arrivals(static_cast<std::size_t>(episodes));
  for (const test::passage& p : all)
    arrivals[static_cast<std::size_t>(p.episode)].push_back(p.arrive);
  std::uint64_t least = UINT64_MAX;
  for (auto& each : arrivals) {
    if (each.size() < 2) continue;
    std::sort(each.rbegin(), each.rend());
    least = std::min(least, each[0] - each[1]);
  }
  return least;
}

// The greatest distance between the first and the last arrival of an episode.
std::uint64_t most_spread(const test::trace& all, std::uint64_t episodes) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ends(static_cast<std::size_t>(episodes),
                                                            {UINT64_MAX, 0});
  std::uint64_t most = 0;
  for (const test::passage& p : all) {
    auto& [first, last] = ends[static_cast<std::size_t>(p.episode)];
    first = std::min(first, p.arrive);
    last = std::max(last, p.arrive);
  }
  for (const auto& [first, last] : ends) most = std::max(most, last - first);
  return most;
}

std::uint64_t all_cycles = 0;

constexpr auto barwait = static_cast<std::uint32_t>(rtl::contender::barwait);
constexpr auto ticket = static_cast<std::uint32_t>(rtl::algorithm::ticket);
constexpr auto striped = static_cast<std::uint32_t>(rtl::algorithm::striped);

}  // namespace

figures figures_of(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return {all.front(), all[all.size() / 2], all.back(), all.size()};
}

std::vector<std::uint32_t> ended_run::data(unsigned tag) const {
  std::vector<std::uint32_t> found;
  for (const event& e : events)
    if (e.tag == tag) found.push_back(e.data);
  return found;
}
std::vector<std::uint32_t> ended_run::data_of(unsigned core, unsigned tag) const {
  std::vector<std::uint32_t> found;
  for (const event& e : events)
    if (e.core == core && e.tag == tag) found.push_back(e.data);
  return found;
}

std::uint64_t simulated_cycles() { return all_cycles; }

ended_run run_to_end(const std::string& image, const settings& s, std::uint64_t most,
                     const std::string& what) try {
  system m(image, s);
  try {
    if (!m.run(most))
      throw std::runtime_error("did not end within " + std::to_string(most) + " cycles\n" +
                               m.who_waits_for_what());
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(error.what() + m.console());
  }
  all_cycles += m.cycle();
  ended_run done{m.events(), {}, m.console(), m.cycle()};
  for (unsigned core = 0; core < s.cores; ++core) done.status.push_back(m.status(core));
  return done;
} catch (const std::runtime_error& error) {
  throw std::runtime_error(what + ": " + error.what());
}

ended_run run_well(const std::string& image, const settings& s, std::uint64_t most,
                   const std::string& what) {
  ended_run done = run_to_end(image, s, most, what);
  for (unsigned core = 0; core < s.cores; ++core)
    if (done.status[core] != 0)
      throw std::runtime_error(what + ": core " + std::to_string(core) + " ended with status " +
                               std::to_string(done.status[core]) + "\n" + done.console);
  for (const event& e : done.events)
    if (e.tag == TRACE_WRONG)
      throw std::runtime_error(what + ": core " + std::to_string(e.core) +
                               " found wrong data: " + std::to_string(e.data));
  return done;
}

test::trace passages(const std::vector<event>& events, std::size_t from, std::size_t to) {
  std::map<unsigned, test::passage> open;
  test::trace all;
  for (std::size_t i = from; i < to; ++i) {
    const event& e = events[i];
    if (e.tag == TRACE_ARRIVE) open[e.core] = {e.core, e.data, e.cycle, 0};
    if (e.tag != TRACE_DEPART) continue;
    // A departure without an arrival, or from another episode, becomes one that the checker
    // refuses.
    const auto began = open.find(e.core);
    test::passage p{e.core, e.data, e.cycle + 1, e.cycle};
    if (began != open.end() && began->second.episode == e.data) p.arrive = began->second.arrive;
    all.push_back(p);
    if (began != open.end()) open.erase(began);
  }
  return all;
}

// ---- barriers ----

const char* name_of(scenario s) {
  static constexpr const char* names[] = {"back_to_back", "one_late", "together"};
  return names[static_cast<std::size_t>(s)];
}

std::string name_of_contender(std::uint32_t contender) {
  if (contender < rtl::algorithm_count) return rtl::algorithm_names[contender];
  return rtl::contender_names[contender - static_cast<std::uint32_t>(rtl::contender::none)];
}

namespace {

// Cycles that no episode reaches. A late thread comes later than that, and so does the next common
// arrival; the traces show whether it was long enough.
std::uint32_t longest_episode(const bench_run& what) {
  const std::uint32_t links = what.sockets > 1 ? 2 : 1;
  if (is_hardware(what.contender) && what.contender != barwait)
    return 2'000 + 8 * what.unit_distance + 4 * what.unit_link;
  // A lock is taken for each arrival.
  if (what.contender == ticket || what.contender == striped)
    return 2'000 + (what.cores > 16 ? 1'500 : 600) * what.cores * links;
  return 2'000 + 100 * what.cores * links;
}

}  // namespace

figures measure_barrier(const images& folder, const bench_run& what) {
  const std::string name = name_of_contender(what.contender) + ", " + name_of(what.scenario) +
                           ", " + place_of(what.cores, what.sockets);
  settings s;
  s.cores = what.cores;
  s.sockets = what.sockets;
  s.unit_distance = what.unit_distance;
  s.unit_link = what.unit_link;
  s.ideal = what.ideal;
  s.parameters[PARAM_PROGRAM] = static_cast<std::uint32_t>(what.scenario);
  s.parameters[PARAM_EPISODES] = what.episodes;
  s.parameters[PARAM_ALGORITHM] = what.contender;
  s.parameters[PARAM_TIMEOUT] = 1u << 20;
  const std::uint32_t longest = longest_episode(what);
  // A step of the delay takes three cycles.
  s.parameters[PARAM_DELAY] = what.scenario == scenario::late ? longest / 3 : longest;
  const ended_run done = run_well(folder + "/bench.bin", s, 200'000'000, name);

  if (what.scenario == scenario::back_to_back) {
    const std::vector<std::uint32_t> values = done.data(TRACE_VALUE);
    if (values.size() != what.cores) throw std::runtime_error(name + ": a core tells no time");
    // All cores began together, so the slowest core's time counts.
    const double each =
        *std::max_element(values.begin(), values.end()) / static_cast<double>(what.episodes);
    return {each, each, each, what.episodes};
  }
  const test::trace all = passages(done.events, 0, done.events.size());
  // Without a barrier there is nothing to check.
  if (what.contender == static_cast<std::uint32_t>(rtl::contender::none))
    return figures_of(last_to_last(all, what.episodes));
  if (const std::string wrong = test::check(all, what.cores, what.episodes); !wrong.empty())
    throw std::runtime_error(name + ": " + wrong);
  if (what.scenario == scenario::late && least_lead(all, what.episodes) < 300)
    throw std::runtime_error(name + ": the late thread was not the last by far");
  if (what.scenario == scenario::together && most_spread(all, what.episodes) > 64)
    throw std::runtime_error(name + ": the threads did not arrive together");
  return figures_of(last_to_last(all, what.episodes));
}

// ---- costs ----

namespace {

settings settings_of(const cost_run& run, rtl::cost what) {
  settings s;
  s.cores = run.cores;
  s.sockets = run.sockets;
  s.parameters[PARAM_PROGRAM] = static_cast<std::uint32_t>(what);
  s.parameters[PARAM_EPISODES] = run.repetitions;
  s.parameters[PARAM_A] = run.other;
  return s;
}

std::vector<double> as_doubles(const std::vector<std::uint32_t>& values, double minus,
                               double divisor) {
  std::vector<double> all;
  for (const std::uint32_t v : values) all.push_back((v - minus) / divisor);
  return all;
}

// From the writer's arrival to the last reader's departure.
std::vector<double> release_times(const ended_run& done, std::uint32_t repetitions) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ends(repetitions);
  for (const event& e : done.events) {
    if (e.tag == TRACE_ARRIVE) ends[e.data].first = e.cycle;
    if (e.tag == TRACE_DEPART && e.core != 0)
      ends[e.data].second = std::max(ends[e.data].second, e.cycle);
  }
  std::vector<double> all;
  for (const auto& [store, seen] : ends) all.push_back(static_cast<double>(seen - store));
  return all;
}

}  // namespace

figures measure_cost(const images& folder, const cost_run& run) {
  const std::string name = "cost " + std::to_string(static_cast<unsigned>(run.what)) + ", " +
                           place_of(run.cores, run.sockets);
  const auto go = [&](rtl::cost what) {
    return run_well(folder + "/costs.bin", settings_of(run, what), 20'000'000, name);
  };
  const ended_run done = go(run.what);
  const std::vector<std::uint32_t> values = done.data(TRACE_VALUE);
  if (values.empty()) throw std::runtime_error(name + ": no core tells a time");
  const double repetitions = run.repetitions;
  switch (run.what) {
    case rtl::cost::ping_pong: return figures_of(as_doubles(values, 0, 2 * repetitions));
    case rtl::cost::contended_add: {
      const double all = *std::max_element(values.begin(), values.end());
      const double each = all / (repetitions * run.cores);
      return {each, each, each, values.size()};
    }
    case rtl::cost::local_poll: return figures_of(as_doubles(values, 0, repetitions));
    case rtl::cost::release: return figures_of(release_times(done, run.repetitions));
    case rtl::cost::nothing: return figures_of(as_doubles(values, 0, 1));
    default: break;
  }
  // Reading the counter twice takes the same in every run.
  static const double empty =
      figures_of(as_doubles(go(rtl::cost::nothing).data(TRACE_VALUE), 0, 1)).median;
  return figures_of(as_doubles(values, empty, 1));
}

// ---- conformance ----

std::size_t check_conformance(const images& folder, const conformance_run& what) {
  const std::string name =
      "conformance, " + place_of(what.cores, what.sockets) + ", seed " + std::to_string(what.seed);
  settings s;
  s.cores = what.cores;
  s.sockets = what.sockets;
  s.threads = what.threads;
  s.ideal = what.ideal;
  s.messages = what.messages;
  s.parameters[PARAM_PROGRAM] = what.mutant ? 1 : 0;
  s.parameters[PARAM_EPISODES] = what.episodes;
  s.parameters[PARAM_ALGORITHM] = what.algorithm;
  s.parameters[PARAM_DELAY] = what.delay;
  s.parameters[PARAM_SEED] = what.seed;
  s.parameters[PARAM_A] = what.participants;
  const ended_run done = run_to_end(folder + "/conformance.bin", s, 500'000'000, name);
  for (unsigned core = 0; core < s.cores; ++core)
    if (done.status[core] != 0)
      throw std::runtime_error(name + ": core " + std::to_string(core) + " ended with status " +
                               std::to_string(done.status[core]) + "\n" + done.console);

  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < done.events.size(); ++i)
    if (done.events[i].tag == TRACE_CASE) begins.push_back(i);
  if (begins.empty()) throw std::runtime_error(name + ": no case has begun");
  begins.push_back(done.events.size());
  for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
    const std::uint32_t number = done.events[begins[i]].data >> 8;
    const auto n = static_cast<rank_t>(done.events[begins[i]].data & 0xff);
    const std::string which =
        name + ": " + (number < rtl::algorithm_count ? rtl::algorithm_names[number] : "nothing") +
        " for " + std::to_string(n) + ": ";
    const test::trace all = passages(done.events, begins[i], begins[i + 1]);
    if (const std::string wrong = test::check(all, n, what.episodes); !wrong.empty())
      throw std::runtime_error(which + wrong);
    for (std::size_t k = begins[i]; k < begins[i + 1]; ++k)
      if (done.events[k].tag == TRACE_WRONG)
        throw std::runtime_error(which + "participant " + std::to_string(done.events[k].core) +
                                 (done.events[k].data == 0xfffffffu
                                      ? " passed without all"
                                      : " read what another one had written in another episode"));
  }
  return begins.size() - 1;
}

}  // namespace tutti::machine
