// SPDX-License-Identifier: Apache-2.0
// Reads /proc, uname and the topology.
#include "bench/harness/machine.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>

#include "bench/harness/placement.hpp"
#include "bench/harness/ticks.hpp"
#include "tutti/platform/topology.hpp"
#include "tutti/version.h"

#ifndef TUTTI_COMMIT
#define TUTTI_COMMIT "unknown"
#endif
#ifndef TUTTI_BUILD_TYPE
#define TUTTI_BUILD_TYPE "unknown"
#endif

namespace tutti::bench {
namespace {

bool is_virtual_machine() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("flags")) return (line + " ").find(" hypervisor ") != std::string::npos;
  }
  return false;
}

double load_average() {
  double load = 0;
  std::ifstream("/proc/loadavg") >> load;
  return load;
}

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "g++ " __VERSION__;
#else
  return "unknown";
#endif
}

double seconds_of(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
}

double own_seconds() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    sum += seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  }
  return sum;
}

}  // namespace

processor_time processor_time_of(const std::string& stat, const std::vector<int>& cpus) {
  const auto hertz = static_cast<double>(sysconf(_SC_CLK_TCK));
  processor_time all, time;
  std::size_t found = 0;
  std::istringstream lines(stat);
  for (std::string line; std::getline(lines, line) && line.starts_with("cpu");) {
    std::istringstream words(line.substr(3));
    const bool is_sum = line.starts_with("cpu ");
    int cpu = -1;
    if (!is_sum) words >> cpu;
    if (!is_sum && std::find(cpus.begin(), cpus.end(), cpu) == cpus.end()) continue;
    double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
    words >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
    processor_time& to = is_sum ? all : time;
    const double busy = (user + nice + system + irq + softirq) / hertz;
    to.busy += busy;
    to.stolen += steal / hertz;
    to.total += busy + (steal + idle + iowait) / hertz;
    if (!is_sum) ++found;
  }
  return found == cpus.size() ? time : all;
}

processor_time read_processor_time() {
  std::ifstream file("/proc/stat");
  std::stringstream stat;
  stat << file.rdbuf();
  processor_time time = processor_time_of(stat.str(), allowed_cpus());
  time.own = own_seconds();
  return time;
}

noise noise_between(const processor_time& begin, const processor_time& end) {
  const double total = end.total - begin.total;
  if (total <= 0) return {};
  const double foreign = (end.busy - begin.busy) - (end.own - begin.own);
  return {std::clamp(foreign / total, 0.0, 1.0),
          std::clamp((end.stolen - begin.stolen) / total, 0.0, 1.0)};
}

cli::json describe_machine() {
  const auto cores = allowed_cores();
  std::size_t threads_per_core = 1;
  for (const auto& core : cores) threads_per_core = std::max(threads_per_core, core.size());
  utsname system{};
  uname(&system);
  const std::string& cpu = platform::machine().model;
  return {
      {"type", "machine"},
      {"tutti", TUTTI_VERSION_STRING},
      {"commit", TUTTI_COMMIT},
      {"cpu", cpu.empty() ? std::string(system.machine) : cpu},
      {"cores", cores.size()},
      {"smt", threads_per_core > 1},
      {"cpus", allowed_cpus()},
      {"virtual_machine", is_virtual_machine()},
      {"kernel", fmt::format("{} {}", system.sysname, system.release)},
      {"compiler", compiler()},
      {"build_type", TUTTI_BUILD_TYPE},
      {"time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::now()))},
      {"load", load_average()},
      {"ns_per_tick", ns_per_tick()},
      {"timer_cost_ns", timer_cost_ns()}};
}

std::string machine_heading(const cli::json& machine) {
  return fmt::format("{}, {} cores, {}; {:.0f} % of it used by others\n",
                     machine["cpu"].get<std::string>(), machine["cores"].get<int>(),
                     machine["kernel"].get<std::string>(),
                     100 * machine["foreign_load"].get<double>());
}

}  // namespace tutti::bench
