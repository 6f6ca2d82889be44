// SPDX-License-Identifier: Apache-2.0
// The programs that need the C++ library.
#include "kernel/core/text.hpp"
#include "kernel/library/library.hpp"
#include "kernel/programs/programs.hpp"

namespace tutti::kernel {

namespace {
struct entry {
  const char* name;
  program run;
};
constexpr entry programs[] = {
    {"check-library", check_library},
    {"synthetic", run_synthetic},
    {"streamcluster", run_streamcluster},
    {"vcode", run_vcode},
};
}  // namespace

void prepare_library() noexcept { choose_variants(); }

program find_hosted(const char* command_line) noexcept {
  for (const entry& e : programs)
    if (text::is_value(command_line, "program", e.name)) return e.run;
  return nullptr;
}

}  // namespace tutti::kernel
