// SPDX-License-Identifier: Apache-2.0
// tutti::team as the harness makes it, and how its threads are put on CPUs.
#pragma once

#include <vector>

#include "bench/crew/crew.hpp"
#include "tutti/team/team.hpp"

namespace tutti::bench {

// The harness places the threads, as it does for everybody. Names are those in `size`, which must live on.
team_options options_of(const crew_size& size);

// Puts the threads of a team on CPUs, the caller on the first. Several ranks may be fibers of one thread. Throws
// std::runtime_error.
void place_threads(tutti::team& team, const std::vector<int>& cpus);

}  // namespace tutti::bench
