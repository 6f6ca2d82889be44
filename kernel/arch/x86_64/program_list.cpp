// SPDX-License-Identifier: Apache-2.0
// The programs of the kernel itself on this machine.
#include "kernel/programs/programs.hpp"

namespace tutti::kernel {

namespace {
constexpr named_program programs[] = {
    {"describe", describe_machine, ""},
    {"panic", provoke_panic, "how=asked|fault|opcode|stack|hang"},
    {"check-threads", check_threads, "wakeups=N"},
    {"check-barriers", check_barriers, "episodes=N participants=N"},
    {"check-events", check_events, "posts=N broadcasts=N"},
    {"bench", bench_events, "trials=N turn=N lines=all|summary"},
    {"pool", run_pool, "tasks=N"},
};
}  // namespace

const named_program* find_kernels(const char* command_line) noexcept {
  return find_in(programs, command_line);
}

}  // namespace tutti::kernel
