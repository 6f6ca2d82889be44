// SPDX-License-Identifier: Apache-2.0
// Where one message of a vertex goes.
#pragma once

#include <cstdint>

#include "tutti/platform/config.hpp"

namespace tutti::graph {

// A target of a vertex's messages.
struct route {
  // A participant.
  rank_t to;
  // One of that participant's lists.
  std::uint32_t list;
};

}  // namespace tutti::graph
