// SPDX-License-Identifier: Apache-2.0
// What must go on when there is no memory: a call that has arrived cannot be undone, so that it
// reports what it can instead of throwing.
// Hosted only: it needs operator new.
#pragma once

#include <new>

namespace tutti::detail {

// Calls make(), and returns false if that finds no memory. In a source without exceptions nobody
// can notice that, and what operator new throws ends the program.
template <class Make>
bool fits_in_memory(Make make) {
#if defined(__cpp_exceptions)
  try {
#endif
    make();
#if defined(__cpp_exceptions)
  } catch (const std::bad_alloc&) {
    return false;
  }
#endif
  return true;
}

}  // namespace tutti::detail
