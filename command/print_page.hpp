// SPDX-License-Identifier: Apache-2.0
// Prints measured tables as they stand in the documentation.
#pragma once

#include <fmt/format.h>

#include "bench/harness/page_heading.hpp"
#include "command/measured.hpp"

namespace tutti::command {

// Prints what a suite has measured; or only the form of its table, without figures, and measures
// nothing.
template <class Suite>
void print_page(Suite suite, bool is_form) {
  const auto machine = is_form ? machine_during([] {}) : machine_during_run(suite);
  fmt::print("{}\n{}", bench::page_heading(machine), page_table(suite));
}

}  // namespace tutti::command
