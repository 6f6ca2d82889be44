// SPDX-License-Identifier: Apache-2.0
// The programs that need the C++ library.
#include "kernel/library/library.hpp"
#include "kernel/programs/programs.hpp"

namespace tutti::kernel {

namespace {
constexpr named_program programs[] = {
    {"check-library", check_library, ""},
    {"check-teams", check_teams, "rounds=N"},
    {"synthetic", run_synthetic, "regions=N length=N threads=T"},
    {"streamcluster", run_streamcluster, "input=* threads=T points=N"},
    {"vcode", run_vcode, "engine=lazy|workers|spmd threads=T"},
};
}  // namespace

void prepare_library() noexcept { choose_variants(); }

const named_program* find_hosted(const char* command_line) noexcept {
  return find_in(programs, command_line);
}

}  // namespace tutti::kernel
