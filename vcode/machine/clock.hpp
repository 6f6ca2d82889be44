// SPDX-License-Identifier: Apache-2.0
// The clock of a run, which its platform has.
#pragma once

#include <cstdint>

namespace tutti::vcode {

// Returns nanoseconds.
using clock_function = std::uint64_t() noexcept;

}  // namespace tutti::vcode
