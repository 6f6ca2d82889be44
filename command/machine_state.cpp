// SPDX-License-Identifier: Apache-2.0
// Reads /proc/stat twice.
#include "command/machine_state.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "bench/harness/placement.hpp"

namespace tutti::command {
namespace {

using namespace std::chrono_literals;

// A core is free if its CPUs were idle for at least this part of the time.
constexpr double free_share = 0.8;

struct cpu_time {
  double idle = 0, total = 0;
};

std::map<int, cpu_time> read_cpu_times() {
  std::map<int, cpu_time> times;
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("cpu") || line.size() < 4 || line[3] == ' ') continue;
    std::istringstream fields(line.substr(3));
    int cpu = 0;
    fields >> cpu;
    double value = 0;
    for (int field = 0; field < 8 && fields >> value; ++field) {
      times[cpu].total += value;
      if (field == 3 || field == 4) times[cpu].idle += value;
    }
  }
  return times;
}

std::size_t count_free_cores() {
  auto before = read_cpu_times();
  std::this_thread::sleep_for(100ms);
  auto after = read_cpu_times();
  std::size_t free = 0;
  for (const auto& core : bench::allowed_cores()) {
    free += std::all_of(core.begin(), core.end(), [&](int cpu) {
      const double total = after[cpu].total - before[cpu].total;
      return total <= 0 || after[cpu].idle - before[cpu].idle >= free_share * total;
    });
  }
  return free;
}

}  // namespace

machine_state read_machine_state() {
  const platform::topology& machine = platform::machine();
  return {machine, bench::allowed_cores().size(), count_free_cores()};
}

}  // namespace tutti::command
