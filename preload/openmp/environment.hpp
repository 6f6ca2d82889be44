// SPDX-License-Identifier: Apache-2.0
// Settings: OpenMP's internal control variables, of a task and of the whole program, and messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::openmp {

// The values of omp_sched_t.
enum : unsigned {
  schedule_runtime = 0,
  schedule_static = 1,
  schedule_dynamic = 2,
  schedule_guided = 3,
  schedule_auto = 4,
  schedule_monotonic = 0x80000000u,
};

// The values of omp_proc_bind_t.
enum : unsigned char {
  bind_false = 0,
  bind_true = 1,
  bind_primary = 2,
  bind_close = 3,
  bind_spread = 4
};

// OMP_TARGET_OFFLOAD, with the numbers of LLVM's runtime.
enum class target_offload : unsigned char { disabled = 0, usual = 1, mandatory = 2 };

// The settings that each task has of its own.
struct settings {
  unsigned threads = 1;
  unsigned schedule = schedule_dynamic;
  long chunk = 1;
  int device = 0;
  unsigned thread_limit = UINT32_MAX;
  bool is_dynamic = false;
  unsigned char bind = bind_false;
  unsigned char max_active_levels = 1;
  std::uintptr_t allocator = 1;
  bool operator==(const settings&) const = default;
};

// The settings of the program, which come from the environment.
struct global_settings {
  // What the first task begins with.
  settings first;
  // The values of a list such as OMP_NUM_THREADS=4,2: one for each level of nesting.
  std::vector<unsigned> threads_by_level;
  std::vector<unsigned char> bind_by_level;
  bool can_cancel = false;
  bool is_reproducible = false;
  unsigned thread_limit = UINT32_MAX;
  int max_task_priority = 0;
  // The size of the workers' stacks, or 0 for that of the system.
  std::size_t stack_bytes = 0;
  // 1: active, 0: passive, -1: the program has said nothing.
  int wait_policy = -1;
  // What GOMP_SPINCOUNT sets in libgomp.
  std::uint64_t spins = 0;
  target_offload offload = target_offload::usual;
  unsigned num_teams = 0;
  unsigned teams_thread_limit = 0;
  bool displays_affinity = false;
  // Whether there is a tool, which hears of each thread that enters a region.
  bool watches_regions = false;
  const char* affinity_format = nullptr;
};
extern constinit global_settings* global_;
// Reads the environment; the first call of global() calls it.
global_settings& make_global();
inline global_settings& global() { return global_ != nullptr ? *global_ : make_global(); }
// Whether the program runs under `tutti run --reproducible`.
inline bool is_reproducible() { return global().is_reproducible; }

// The CPUs of platform::process_cpus(), in a copy that is never destroyed: libraries that were
// initialized earlier than this one are finalized later, and may open regions then.
const std::vector<unsigned>& process_cpus();
// The number of CPUs that the process may use, at most its CPU quota rounded up.
unsigned usable_processors() noexcept;
// The same, also if the environment binds threads to some of the CPUs only: the default number of
// threads, as in libgomp.
unsigned processors_before_binding() noexcept;
// The name of a predefined allocator.
const char* name_of_allocator(std::uintptr_t allocator);
// What omp_display_env prints.
void display_environment(bool is_verbose);

// They print a line on standard error that begins with "libgomp: ", as libgomp does, since programs
// and their tests look for it. fatal() then ends the program with status 1.
[[noreturn, gnu::format(printf, 1, 2)]] void fatal(const char* format, ...);
[[gnu::format(printf, 1, 2)]] void warn(const char* format, ...);

}  // namespace tutti::openmp
