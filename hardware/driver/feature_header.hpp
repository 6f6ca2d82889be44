// SPDX-License-Identifier: Apache-2.0
// The list of device feature headers by which a platform with CCI-P describes what it has;
// bus/rtl/tutti_bus_ccip_pkg.sv has the same numbers.
#pragma once

#include <cstdint>

#include "hardware/driver/device.hpp"

namespace tutti::hardware {

// The 128 bits that identify an accelerator.
struct accelerator_id {
  std::uint64_t high, low;
  friend bool operator==(const accelerator_id&, const accelerator_id&) = default;
};

// The counting unit behind CCI-P: aa60c3ce-770e-577e-93ff-c255400aa53c.
inline constexpr accelerator_id counting_accelerator{0xAA60'C3CE'770E'577E, 0x93FF'C255'400A'A53C};
// The unit's registers begin so many bytes behind its header; the window ends with them.
inline constexpr std::uint64_t registers_behind_header = 0x1'0000,
                               accelerator_window_bytes = 0x2'0000;
// The requests that the port refused, behind its header.
inline constexpr std::uint64_t refused_behind_header = 0x28;

// Walks the list from the start of the window and returns the offset of the header of `wanted`.
// Throws std::runtime_error if the list has no such accelerator (the message names those that it
// has), is no list, leaves the window, or does not end.
std::uint64_t find_accelerator(device& platform, accelerator_id wanted);

}  // namespace tutti::hardware
