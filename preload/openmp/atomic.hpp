// SPDX-License-Identifier: Apache-2.0
// The atomic words of the runtime. A program that is built with ThreadSanitizer learns from them
// what a region, a barrier, a lock or a task orders, although the runtime is built without it.
#pragma once

#include "tutti/platform/native.hpp"
#include "tutti/platform/thread_sanitizer.hpp"

namespace tutti::openmp {

template <class T>
using atomic = platform::told_atomic<T>;

// The native platform with these words.
struct told_memory : native {
  template <class T>
  using atomic = platform::told_atomic<T>;
};

}  // namespace tutti::openmp
