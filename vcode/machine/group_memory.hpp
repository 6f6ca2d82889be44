// SPDX-License-Identifier: Apache-2.0
// The memory that the control groups leave to this process.
#pragma once

#include <cstddef>
#include <string>

namespace tutti::vcode {

// Returns seven eighths of the lowest limit among the groups of this process and those above them,
// or the largest number if none has a limit. The rest of the process needs memory too. A file that
// cannot be read counts as no limit. `root` is put before every path, for tests.
std::size_t group_memory_limit(const std::string& root = {});

}  // namespace tutti::vcode
