// SPDX-License-Identifier: Apache-2.0
// Waits by giving the core to other threads that can run. This policy is the best if participants
// share cores: an episode of n threads on c cores costs n/c context switches, and waking a sleeper
// costs more than that. It keeps the core busy through long waits. Beside a busy thread of another
// process each yield can cost that thread's whole time slice.
#pragma once

#include "tutti/wait/polling.hpp"

namespace tutti {

// A partner that is running answers within a few line transfers, and 8 polls take less time than
// one yield.
template <class Memory = native>
using yield_wait = polling_wait<Memory, calling_between_polls<&Memory::yield>, 8>;

}  // namespace tutti
