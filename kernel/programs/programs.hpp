// SPDX-License-Identifier: Apache-2.0
// The programs in the kernel's image. `program=NAME` on the kernel's command line chooses one.
#pragma once

#include "kernel/core/text.hpp"

namespace tutti::kernel {

// Returns false if a check of the program failed.
using program = bool (*)(const char* command_line);

struct named_program {
  const char* name;
  program run;
  // The words that it takes: "NAME=A|B" for one of these values, "NAME=N" for a number, "NAME=T"
  // for a number of threads, "NAME=*" for anything.
  const char* words;
};

// Runs the program that the command line names. Panics if there is none of that name, or if it does
// not take one of the words behind its name.
bool run_program(const char* command_line) noexcept;

// The program of the kernel itself that the line names, or null; each machine has a list
// (arch/*/program_list.cpp).
const named_program* find_kernels(const char* command_line) noexcept;

// What an image without the C++ library lacks (programs/bare.cpp, or programs/hosted.cpp and
// library/): what must happen before a function of the library is called, and the programs that
// need it. find_hosted() returns null if the line names none of them.
void prepare_library() noexcept;
const named_program* find_hosted(const char* command_line) noexcept;

// The one of `all` that the command line names, or null.
template <class Programs>
const named_program* find_in(const Programs& all, const char* command_line) noexcept {
  for (const named_program& each : all)
    if (text::is_value(command_line, "program", each.name)) return &each;
  return nullptr;
}

bool describe_machine(const char* command_line);
bool provoke_panic(const char* command_line);
bool check_threads(const char* command_line);
bool check_barriers(const char* command_line);
bool check_events(const char* command_line);
bool bench_events(const char* command_line);
bool run_pool(const char* command_line);

bool check_library(const char* command_line);
bool check_teams(const char* command_line);
bool run_streamcluster(const char* command_line);
bool run_synthetic(const char* command_line);
bool run_vcode(const char* command_line);

}  // namespace tutti::kernel
