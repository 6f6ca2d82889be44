// SPDX-License-Identifier: Apache-2.0
// CPUs by name or number, out of what the library knows of the machine.
#include "bench/harness/placement.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <stdexcept>
#include <system_error>

#include "tutti/platform/topology.hpp"

namespace tutti::bench {
namespace {

struct core_place {
  std::vector<int> cpus;
  unsigned cache = 0;  // which last-level cache group the core belongs to
};

std::vector<int> read_allowed() {
  const auto& allowed = platform::machine().allowed;
  return {allowed.begin(), allowed.end()};
}

bool is_allowed(int cpu) {
  return std::binary_search(allowed_cpus().begin(), allowed_cpus().end(), cpu);
}

unsigned cache_of(unsigned cpu) {
  const auto& groups = platform::machine().cache_groups;
  for (unsigned i = 0; i < groups.size(); ++i)
    if (std::find(groups[i].begin(), groups[i].end(), cpu) != groups[i].end()) return i;
  return 0;
}

std::vector<core_place> read_cores() {
  std::vector<core_place> cores;
  for (const platform::core& core : platform::machine().allowed_cores)
    cores.push_back({{core.cpus.begin(), core.cpus.end()}, cache_of(core.cpus.front())});
  return cores;
}

std::vector<int> first_of_each(const std::vector<core_place>& cores) {
  std::vector<int> cpus;
  for (const auto& core : cores) cpus.push_back(core.cpus.front());
  return cpus;
}

std::vector<int> all_in_order(const std::vector<core_place>& cores) {
  std::vector<int> cpus;
  for (const auto& core : cores) cpus.insert(cpus.end(), core.cpus.begin(), core.cpus.end());
  return cpus;
}

// One core of each cache group in turn.
std::vector<int> round_robin_caches(const std::vector<core_place>& cores) {
  std::map<unsigned, std::vector<int>> groups;
  for (const auto& core : cores) groups[core.cache].push_back(core.cpus.front());
  std::vector<int> cpus;
  for (std::size_t i = 0; cpus.size() < cores.size(); ++i) {
    for (const auto& [cache, members] : groups) {
      if (i < members.size()) cpus.push_back(members[i]);
    }
  }
  return cpus;
}

int parse_cpu(std::string_view text, std::string_view whole) {
  int cpu = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cpu);
  if (error != std::errc{} || end != text.data() + text.size() || cpu < 0) {
    throw std::invalid_argument(fmt::format(
        "'{}' is neither core, compact, spread, none nor a list of CPUs such as 0,2-3", whole));
  }
  return cpu;
}

std::string join(const std::vector<int>& cpus) { return fmt::format("{}", fmt::join(cpus, ",")); }

std::vector<int> parse_list(std::string_view text) {
  std::vector<int> cpus;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const std::size_t dash = item.find('-', 1);
    const int first = parse_cpu(item.substr(0, dash), text);
    const int last =
        dash == std::string_view::npos ? first : parse_cpu(item.substr(dash + 1), text);
    if (last < first) throw std::invalid_argument(fmt::format("CPU range '{}' is empty", item));
    for (int cpu = first; cpu <= last; ++cpu) {
      if (!is_allowed(cpu)) {
        throw std::invalid_argument(
            fmt::format("CPU {} is not one of the CPUs that this process may use ({})", cpu,
                        join(allowed_cpus())));
      }
      cpus.push_back(cpu);
    }
    if (comma == std::string_view::npos) return cpus;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace

const std::vector<int>& allowed_cpus() {
  static const std::vector<int> cpus = read_allowed();
  return cpus;
}

std::vector<std::vector<int>> allowed_cores() {
  std::vector<std::vector<int>> cores;
  for (auto& core : read_cores()) cores.push_back(std::move(core.cpus));
  return cores;
}

placement make_placement(std::string_view text) {
  if (text == "none") return {"none", {}};
  if (text == "core") return {"core", first_of_each(read_cores())};
  if (text == "compact") return {"compact", all_in_order(read_cores())};
  if (text == "spread") return {"spread", round_robin_caches(read_cores())};
  return {std::string(text), parse_list(text)};
}

std::vector<int> cores_of(const placement& where) {
  if (!where.pinned()) return make_placement("core").cpus;
  std::vector<int> cpus = where.cpus;
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

void pin_this_thread(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (cpu == any_cpu) {
    for (const int allowed : allowed_cpus()) CPU_SET(static_cast<unsigned>(allowed), &set);
  } else {
    CPU_SET(static_cast<unsigned>(cpu), &set);
  }
  if (sched_setaffinity(0, sizeof set, &set) != 0) {
    throw std::system_error(errno, std::generic_category(),
                            fmt::format("a thread cannot be put on CPU {}", cpu));
  }
}

}  // namespace tutti::bench
