// SPDX-License-Identifier: Apache-2.0
// Runs a body on so many threads of a world, with the number of each.
#pragma once

#include "sim/world.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::sim {

template <class Body>
void on_threads(world& w, rank_t n, Body body) {
  w.run([&] {
    for (rank_t rank = 1; rank < n; ++rank) w.start([&body, rank] { body(rank); });
    body(0);
  });
}

}  // namespace tutti::sim
