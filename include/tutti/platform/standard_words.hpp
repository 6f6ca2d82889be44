// SPDX-License-Identifier: Apache-2.0
// The words of a platform whose settings and plain data need no care: for platforms whose
// participants are threads of one program.
#pragma once

#include <atomic>

namespace tutti::platform {

template <template <class> class Atomic>
struct words {
  template <class T>
  using atomic = Atomic<T>;
  template <class T>
  using setting = Atomic<T>;
  template <class T>
  using plain = T;
};

// Those of the C++ library.
using standard_words = words<std::atomic>;

}  // namespace tutti::platform
