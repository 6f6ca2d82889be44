// SPDX-License-Identifier: Apache-2.0
#include "hardware/driver/harp_barrier.hpp"

namespace tutti::hardware {

harp_barrier::harp_barrier(device& unit, rank_t participants, harp_options with)
    : protocol_(unit, participants, with) {}

harp_barrier::~harp_barrier() = default;

}  // namespace tutti::hardware
