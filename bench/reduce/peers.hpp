// SPDX-License-Identifier: Apache-2.0
// How the ranks of a running region sum their doubles today, each in one file of peers/.
#pragma once

#include <memory>

#include "bench/crew/crew.hpp"

namespace tutti::bench {

std::unique_ptr<meeting_crew> make_pthread_barrier_sums(const crew_size& size);
std::unique_ptr<meeting_crew> make_std_barrier_sums(const crew_size& size);

}  // namespace tutti::bench
