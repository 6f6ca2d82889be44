// SPDX-License-Identifier: Apache-2.0
// The programs of the kernel itself on this machine: those that need no emulated instructions.
#include "kernel/programs/programs.hpp"

namespace tutti::kernel {

namespace {
constexpr named_program programs[] = {
    {"check-threads", check_threads, "wakeups=N"},
    {"check-events", check_events, "posts=N broadcasts=N"},
    {"bench", bench_events, "trials=N turn=N lines=all|summary"},
};
}  // namespace

const named_program* find_kernels(const char* command_line) noexcept {
  return find_in(programs, command_line);
}

}  // namespace tutti::kernel
