// SPDX-License-Identifier: Apache-2.0
// What happens after the machine has started its first core, until the program runs.
#include <atomic>

#include "kernel/core/core.hpp"
#include "kernel/core/memory.hpp"
#include "kernel/core/panic.hpp"
#include "kernel/programs/programs.hpp"

extern "C" {
using constructor = void (*)();
extern const constructor init_array_begin[], init_array_end[];
}

namespace tutti::kernel {

[[noreturn]] void start() noexcept;

namespace {

constexpr u64 idle_stack_bytes = 16384;

u64 idle_stack_end(u32 index) noexcept {
  const u32 node = machine::described().node_of_core[index];
  return address_of(allocate_near(node, 4096, idle_stack_bytes)) + idle_stack_bytes;
}

void run_other_core(u32 index) {
  start_threads(index);
  run_idle();
}

void run_first_program(void*) {
  prepare_library();
  for (const constructor* c = init_array_begin; c < init_array_end; ++c) (*c)();
  const char* line = machine::described().command_line;
  set_slice(text::number_of(line, "slice_us", 0) * machine::ticks_per_us());
  machine::power_off(run_program(line) ? all_is_well : a_test_failed);
}

}  // namespace

void start() noexcept {
  start_memory();
  start_threads(0);
  machine::start_cores(idle_stack_end, run_other_core);
  create(0, run_first_program, nullptr, "program", machine::program_stack_bytes);
  run_idle();
}

}  // namespace tutti::kernel
