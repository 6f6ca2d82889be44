// SPDX-License-Identifier: Apache-2.0
// The pause between two polls of a line that its writer writes once, as the notifier of an event
// does. poll_gap() leaves a line to a writer that needs it again; this writer does not, so a gap
// would only delay the waiter: by half a gap on average, 20 ns.
#pragma once

#include <type_traits>

#include "tutti/platform/fibers.hpp"
#include "tutti/platform/monitor.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/platform/pause.hpp"

namespace tutti::platform {

// What Memory::relax() does, without the gap.
template <class Memory>
void relax_briefly() noexcept {
  if constexpr (std::is_base_of_v<native, Memory>) {
    if (!switch_fiber()) pause();
  } else {
    Memory::relax();
  }
}

// The same for Memory::relax_long(), which keeps the light sleep of a core that has one.
template <class Memory>
void relax_briefly_long() noexcept {
  if constexpr (std::is_base_of_v<native, Memory>) {
#if defined(__x86_64__)
    if (monitor() == monitor_kind::umwait) return Memory::relax_long();
#endif
    relax_briefly<Memory>();
  } else {
    Memory::relax_long();
  }
}

}  // namespace tutti::platform
