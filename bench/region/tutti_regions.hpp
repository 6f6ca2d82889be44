// SPDX-License-Identifier: Apache-2.0
// Regions of tutti::team.
#pragma once

#include <memory>

#include "bench/crew/crew.hpp"

namespace tutti::bench {

std::unique_ptr<region_crew> make_tutti_regions(const crew_size& size);

}  // namespace tutti::bench
