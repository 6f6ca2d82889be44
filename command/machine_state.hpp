// SPDX-License-Identifier: Apache-2.0
// The topology of this machine and what of it is usable now.
#pragma once

#include <cstddef>

#include "tutti/platform/topology.hpp"

namespace tutti::command {

struct machine_state {
  const platform::topology& machine;
  // The cores that the allowed CPUs belong to.
  std::size_t allowed_cores = 0;
  // Those of them that nobody used during the last 100 ms.
  std::size_t free_cores = 0;
};

// Takes 100 ms.
machine_state read_machine_state();

}  // namespace tutti::command
