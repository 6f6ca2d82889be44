// SPDX-License-Identifier: Apache-2.0
// `tutti info`: what this machine has, and what tutti can do with it.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

#include "bench/contenders/contender.hpp"
#include "cli/errors.hpp"
#include "cli/json.hpp"
#include "command/library_lists.hpp"
#include "command/machine_state.hpp"
#include "command/subcommands.hpp"
#include "tutti.h"
#include "tutti/platform/cpu_quota.hpp"
#include "tutti/platform/monitor.hpp"
#include "tutti/platform/usable_cpus.hpp"
#include "tutti/platform/user_interrupts.hpp"
#include "tutti/version.h"

namespace tutti::command {
namespace {

struct mechanism {
  std::string name;
  bool available;
  std::string summary;
};

// The peers of `tutti bench barrier`, `team`, `reduce` and `event`.
struct peers_of_benchmark {
  const char* key;
  const char* title;
  bench::peer_list list;
};

std::vector<peers_of_benchmark> all_peers() {
  using bench::operation;
  return {{"peers", "barriers", bench::peers_of(operation::barrier)},
          {"region_peers", "regions", bench::peers_of(operation::region)},
          {"reduction_peers", "reductions", bench::peers_of(operation::collective)},
          {"event_peers", "notifications", bench::peers_of(operation::event)}};
}

std::vector<mechanism> waiting_mechanisms() {
  const platform::monitor_kind monitor = platform::monitor();
  const auto has = [&](platform::monitor_kind kind) { return monitor == kind; };
  return {
      {"pause", true, "polls politely; the core stays busy"},
      {"sched_yield", true, "lets another thread of the core run"},
      {"futex", true, "sleeps in the kernel"},
      {"umwait, tpause", has(platform::monitor_kind::umwait),
       "Intel: halts the core until a line changes"},
      {"mwaitx", has(platform::monitor_kind::mwaitx), "AMD: halts the core until a line changes"},
      {"wfe", has(platform::monitor_kind::wfe), "Arm: halts the core until a line changes"},
      {"uintr", platform::has_user_interrupts(),
       "Intel: interrupts another thread; Linux has no interface for it, and tutti does not use "
       "it"}};
}

cli::json to_json(const machine_state& state) {
  const platform::topology& m = state.machine;
  cli::json j{{"cpu", m.model},
              {"packages", m.packages},
              {"numa_nodes", m.numa_nodes},
              {"cores", m.cores},
              {"cpus", m.cpus},
              {"allowed_cpus", m.allowed},
              {"cache_groups", m.cache_groups},
              {"allowed_cores", state.allowed_cores},
              {"free_cores", state.free_cores},
              {"usable_cpus", platform::usable_cpus()}};
  const platform::cpu_quota quota = platform::read_cpu_quota();
  for (const char* of :
       {"cgroup_cpus", "cgroup_file", "cgroup_throttled_times", "cgroup_throttled_ns"})
    j[of] = nullptr;
  if (quota.cpus > 0) {
    const platform::cpu_throttling stopped = platform::read_cpu_throttling(quota.stats);
    j["cgroup_cpus"] = quota.cpus;
    j["cgroup_file"] = quota.file;
    j["cgroup_throttled_times"] = stopped.times;
    j["cgroup_throttled_ns"] = stopped.ns;
  }
  return j;
}

void print_json() {
  cli::json j{
      {"type", "info"}, {"tutti", TUTTI_VERSION_STRING}, {"built_with", tutti_built_with()}};
  j["machine"] = to_json(read_machine_state());
  j["waiting_mechanisms"] = cli::json::array();
  for (const auto& m : waiting_mechanisms()) {
    j["waiting_mechanisms"].push_back({{"name", m.name}, {"available", m.available}});
  }
  add_lists(j);
  for (const auto& [key, title, list] : all_peers()) {
    j[key] = cli::json::array();
    for (const auto& p : list.peers) {
      j[key].push_back({{"provider", p.family}, {"name", p.name}, {"available", true}});
    }
    for (const auto& p : list.missing) {
      j[key].push_back({{"provider", p.family}, {"available", false}, {"reason", p.reason}});
    }
  }
  fmt::print("{}\n", j.dump());
}

std::string count(std::size_t n, const std::string& singular) {
  return fmt::format("{} {}{}", n, singular, n == 1 ? "" : "s");
}

std::string describe_quota() {
  const platform::cpu_quota quota = platform::read_cpu_quota();
  if (quota.cpus <= 0) return "none";
  const platform::cpu_throttling stopped = platform::read_cpu_throttling(quota.stats);
  return fmt::format("{:.2f} CPUs ({}); used up in {}, threads stopped for {:.3f} s in all",
                     quota.cpus, quota.file, count(stopped.times, "period"),
                     static_cast<double>(stopped.ns) / 1e9);
}

void print_machine() {
  const machine_state state = read_machine_state();
  const platform::topology& m = state.machine;
  fmt::print("{}\n", m.model);
  fmt::print("  {}, {}, {}, {}\n", count(m.packages, "package"), count(m.numa_nodes, "NUMA node"),
             count(m.cores, "core"), count(m.cpus, "CPU"));
  fmt::print("  allowed: {} on {} ({}) in {}\n", count(m.allowed.size(), "CPU"),
             count(state.allowed_cores, "core"), fmt::join(m.allowed, ","),
             count(m.cache_groups.size(), "group") + " that share a last-level cache");
  fmt::print("  quota: {}\n", describe_quota());
  fmt::print("  may be used at once: {}\n", count(platform::usable_cpus(), "CPU"));
  fmt::print("  free right now: {}\n", count(state.free_cores, "core"));
}

void print_text() {
  print_machine();
  const std::string_view built_with = tutti_built_with();
  fmt::print("  tutti {}, built with {}\n", TUTTI_VERSION_STRING,
             built_with.empty() ? "the C++ library alone" : built_with);
  fmt::print("\nWaiting mechanisms\n");
  for (const auto& m : waiting_mechanisms()) {
    fmt::print("  {:<16} {:<4} {}\n", m.name, m.available ? "yes" : "no", m.summary);
  }
  print_lists();
  for (const auto& [key, title, list] : all_peers()) {
    fmt::print("\nPeers of {}\n", title);
    for (const auto& p : list.peers) {
      fmt::print("  {:<32} yes  {}\n", fmt::format("{}:{}", p.family, p.name), p.summary);
    }
    for (const auto& p : list.missing) fmt::print("  {:<32} no   {}\n", p.family, p.reason);
  }
}

struct info_options {
  bool json = false;
  std::string markdown;
};

int run(const info_options& o) {
  if (!o.markdown.empty()) {
    print_markdown(o.markdown);
  } else {
    o.json ? print_json() : print_text();
  }
  return cli::success;
}

}  // namespace

void add_info(cli::command& program) {
  cli::subcommand<info_options> app(
      program, "info", "This machine, its waiting mechanisms, tutti's algorithms and their peers",
      run);
  const cli::option as_json =
      app.add_flag("--json", app->json, "One JSON object instead of the tables");
  app.add_option("--markdown", app->markdown,
                 "A table for the documentation: " + names_of_markdown_tables())
      .value_name("TABLE")
      .excludes(as_json);
}

}  // namespace tutti::command
