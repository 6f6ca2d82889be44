// SPDX-License-Identifier: Apache-2.0
// What OMP_DISPLAY_ENV and omp_display_env print: the lines of libgomp 12.
#include <cstdio>
#include <string>

#include "preload/openmp/abi.hpp"
#include "preload/openmp/environment.hpp"
#include "preload/openmp/places.hpp"

namespace tutti::openmp {

namespace {

const char* name_of(unsigned char bind) {
  switch (bind) {
    case bind_true: return "TRUE";
    // libgomp 12 still has the old word.
    case bind_primary: return "MASTER";
    case bind_close: return "CLOSE";
    case bind_spread: return "SPREAD";
    default: return "FALSE";
  }
}

const char* name_of(target_offload offload) {
  switch (offload) {
    case target_offload::disabled: return "DISABLED";
    case target_offload::mandatory: return "MANDATORY";
    default: return "DEFAULT";
  }
}

}  // namespace

void display_environment(bool is_verbose) {
  const global_settings& g = global();
  const settings& s = g.first;
  std::string out = "\nOPENMP DISPLAY ENVIRONMENT BEGIN\n  _OPENMP = '201511'\n";
  const auto line = [&out](const char* name, const std::string& value) {
    out += std::string("  ") + name + " = '" + value + "'\n";
  };
  const auto boolean = [](bool value) { return value ? "TRUE" : "FALSE"; };
  line("OMP_DYNAMIC", boolean(s.is_dynamic));
  line("OMP_NESTED", boolean(s.max_active_levels > 1));
  std::string threads = std::to_string(s.threads);
  for (std::size_t i = 1; i < g.threads_by_level.size(); ++i)
    threads += "," + std::to_string(g.threads_by_level[i]);
  line("OMP_NUM_THREADS", threads);
  std::string schedule;
  switch (s.schedule & ~schedule_monotonic) {
    case schedule_static:
      schedule = (s.schedule & schedule_monotonic) == 0 ? "NONMONOTONIC:STATIC" : "STATIC";
      if (s.chunk != 0) schedule += "," + std::to_string(s.chunk);
      break;
    case schedule_auto: schedule = "AUTO"; break;
    default:
      schedule = (s.schedule & ~schedule_monotonic) == schedule_guided ? "GUIDED" : "DYNAMIC";
      if ((s.schedule & schedule_monotonic) != 0) schedule = "MONOTONIC:" + schedule;
      if (s.chunk != 1) schedule += "," + std::to_string(s.chunk);
  }
  line("OMP_SCHEDULE", schedule);
  std::string bind = name_of(s.bind);
  for (std::size_t i = 1; i < g.bind_by_level.size(); ++i)
    bind += std::string(",") + name_of(g.bind_by_level[i]);
  line("OMP_PROC_BIND", bind);
  line("OMP_PLACES", describe_places());
  line("OMP_STACKSIZE", std::to_string(g.stack_bytes));
  line("OMP_WAIT_POLICY", g.wait_policy == 1 ? "ACTIVE" : "PASSIVE");
  line("OMP_THREAD_LIMIT", std::to_string(g.thread_limit));
  line("OMP_MAX_ACTIVE_LEVELS", std::to_string(s.max_active_levels));
  line("OMP_NUM_TEAMS", std::to_string(g.num_teams));
  line("OMP_TEAMS_THREAD_LIMIT", std::to_string(g.teams_thread_limit));
  line("OMP_CANCELLATION", boolean(g.can_cancel));
  line("OMP_DEFAULT_DEVICE", std::to_string(s.device));
  line("OMP_MAX_TASK_PRIORITY", std::to_string(g.max_task_priority));
  line("OMP_DISPLAY_AFFINITY", boolean(g.displays_affinity));
  line("OMP_AFFINITY_FORMAT", affinity_format());
  line("OMP_ALLOCATOR", name_of_allocator(s.allocator));
  line("OMP_TARGET_OFFLOAD", name_of(g.offload));
  if (is_verbose) {
    line("GOMP_CPU_AFFINITY", "");
    line("GOMP_STACKSIZE", std::to_string(g.stack_bytes));
    line("GOMP_SPINCOUNT", std::to_string(g.spins));
  }
  out += "OPENMP DISPLAY ENVIRONMENT END\n";
  std::fputs(out.c_str(), stderr);
}

}  // namespace tutti::openmp

using namespace tutti::openmp;

TUTTI_OMP void omp_display_env(int is_verbose) { display_environment(is_verbose != 0); }
TUTTI_OMP void omp_display_env_(const int* is_verbose) { display_environment(*is_verbose != 0); }
TUTTI_OMP void omp_display_env_8_(const long* is_verbose) { display_environment(*is_verbose != 0); }
