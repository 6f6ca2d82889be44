// SPDX-License-Identifier: Apache-2.0
#include "hardware/machine/sim/change_over.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace tutti::machine {

namespace {

constexpr std::uint32_t is_creation = 1u << 27;

// The episodes at which a core changed: twice the number, odd into software.
std::vector<std::uint32_t> changes_of(const ended_run& done, unsigned core) {
  std::vector<std::uint32_t> all;
  for (const std::uint32_t value : done.data_of(core, TRACE_VALUE))
    if ((value & is_creation) == 0) all.push_back(value);
  return all;
}

struct ends {
  std::uint64_t first_arrival = UINT64_MAX, last_arrival = 0, last_departure = 0;
};
std::vector<ends> ends_of(const test::trace& all, std::uint32_t episodes) {
  std::vector<ends> each(episodes);
  for (const test::passage& p : all) {
    ends& e = each[static_cast<std::size_t>(p.episode)];
    e.first_arrival = std::min(e.first_arrival, p.arrive);
    e.last_arrival = std::max(e.last_arrival, p.arrive);
    e.last_departure = std::max(e.last_departure, p.leave);
  }
  return each;
}

settings settings_of(const change_run& what) {
  settings s;
  s.cores = what.cores;
  s.unit_distance = what.unit_distance;
  s.parameters[PARAM_EPISODES] = what.episodes;
  s.parameters[PARAM_ALGORITHM] = static_cast<std::uint32_t>(what.software);
  s.parameters[PARAM_DELAY] = what.delay;
  s.parameters[PARAM_SEED] = what.seed;
  s.parameters[PARAM_QUANTUM] = what.quantum;
  s.parameters[PARAM_TIMEOUT] = what.timeout;
  s.parameters[PARAM_A] = what.timeouts | what.among << 16;
  s.parameters[PARAM_B] = what.software_episodes;
  return s;
}

}  // namespace

change_found run_change_over(const images& folder, const change_run& what) {
  const std::string name = "change-over, " + std::to_string(what.cores) + " cores, seed " +
                           std::to_string(what.seed) + ", quantum " + std::to_string(what.quantum);
  const ended_run done = run_well(folder + "/change_over.bin", settings_of(what), 2'000'000, name);
  const test::trace all = passages(done.events, 0, done.events.size());
  if (const std::string wrong = test::check(all, what.cores, what.episodes); !wrong.empty())
    throw std::runtime_error(name + ": " + wrong);
  const std::vector<std::uint32_t> changes = changes_of(done, 0);
  for (unsigned core = 1; core < what.cores; ++core)
    if (changes_of(done, core) != changes)
      throw std::runtime_error(name + ": core " + std::to_string(core) +
                               " changes at other episodes than core 0");

  change_found found;
  std::vector<bool> is_software(what.episodes), is_first(what.episodes);
  for (const std::uint32_t value : changes) {
    const std::uint32_t episode = value >> 1;
    if (value & 1) ++found.changes;
    for (std::uint32_t e = episode; e < what.episodes; ++e) is_software[e] = value & 1;
    if (value & 1) is_first[episode] = true;
  }
  if (found.changes != done.data(TRACE_BROKEN).size())
    throw std::runtime_error(name + ": a barrier was broken, and not all changed");

  // A core's handler ends with its next decision of the kernel.
  std::vector<std::uint64_t> signalled(what.cores), timeouts;
  for (const event& e : done.events) {
    if (e.tag == TRACE_SIGNAL) {
      ++found.signals;
      signalled[e.core] = e.cycle;
    }
    if (e.tag == TRACE_TIMEOUT) timeouts.push_back(e.cycle);
    if (e.tag == TRACE_BROKEN)
      found.breaking.push_back(static_cast<double>(e.cycle - signalled[e.core]));
    if (e.tag == TRACE_VALUE && (e.data & is_creation) != 0)
      found.creating.push_back(e.data & ~is_creation);
  }
  const std::vector<ends> each = ends_of(all, what.episodes);
  for (std::uint32_t e = 0; e < what.episodes; ++e) {
    const auto cycles = static_cast<double>(each[e].last_departure - each[e].last_arrival);
    const bool is_late = std::any_of(timeouts.begin(), timeouts.end(), [&](std::uint64_t at) {
      return at >= each[e].first_arrival && at <= each[e].last_departure;
    });
    auto& kind = is_first[e]      ? found.changed
                 : is_software[e] ? found.software
                 : is_late        ? found.waited_on
                                  : found.hardware;
    kind.push_back(cycles);
  }
  return found;
}

}  // namespace tutti::machine
