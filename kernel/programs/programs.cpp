// SPDX-License-Identifier: Apache-2.0
#include "kernel/programs/programs.hpp"

#include "kernel/core/panic.hpp"

namespace tutti::kernel {

namespace {
constexpr named_program programs[] = {
    {"describe", describe_machine},
    {"panic", provoke_panic},
    {"check-threads", check_threads},
    {"check-barriers", check_barriers},
    {"check-events", check_events},
    {"bench", bench_events},
    {"pool", run_pool},
};
}  // namespace

bool run_program(const char* command_line) noexcept {
  if (const program own = find_in(programs, command_line)) return own(command_line);
  if (const program hosted = find_hosted(command_line)) return hosted(command_line);
  panic("the command line names no program of this image: ", command_line);
}

}  // namespace tutti::kernel
