// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/page_heading.hpp"

#include <fmt/format.h>

namespace tutti::bench {

std::string page_heading(const cli::json& machine) {
  const auto cores = machine["cores"].get<int>();
  return fmt::format("Measured on {}{}, {} core{}, {}, commit {}; {:.0f} % of it used by others.\n",
                     machine["virtual_machine"].get<bool>() ? "a virtual machine, " : "",
                     machine["cpu"].get<std::string>(), cores, cores == 1 ? "" : "s",
                     machine["compiler"].get<std::string>(), machine["commit"].get<std::string>(),
                     100 * machine["foreign_load"].get<double>());
}

}  // namespace tutti::bench
