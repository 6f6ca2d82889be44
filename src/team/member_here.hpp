// SPDX-License-Identifier: Apache-2.0
// The member that the calling thread, or the fiber that runs on it, is in a region that C opened.
#pragma once

#include "tutti/team/forward.hpp"

namespace tutti::detail {

// Null outside of such regions. A switch of fibers changes it.
extern constinit thread_local member* member_here;

}  // namespace tutti::detail
