// SPDX-License-Identifier: Apache-2.0
// Whether the processor has user interrupts (Intel UINTR): a thread interrupts another one without
// the kernel. tutti detects them and does not use them, because Linux has no interface for them.
#pragma once

#include "tutti/platform/config.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tutti::platform {

inline bool has_user_interrupts() noexcept {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & (1u << 5)) != 0;
#else
  return false;
#endif
}

}  // namespace tutti::platform
