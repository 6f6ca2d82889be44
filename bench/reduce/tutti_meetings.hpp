// SPDX-License-Identifier: Apache-2.0
// Barriers and reductions inside a region of tutti::team.
#pragma once

#include <memory>

#include "bench/crew/crew.hpp"

namespace tutti::bench {

std::unique_ptr<meeting_crew> make_tutti_meetings(const crew_size& size);

}  // namespace tutti::bench
