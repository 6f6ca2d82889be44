// SPDX-License-Identifier: Apache-2.0
// The words of the C++ library, for platforms whose participants are threads of one program.
#pragma once

#include <atomic>

namespace tutti::platform {

struct standard_words {
  template <class T>
  using atomic = std::atomic<T>;
  template <class T>
  using setting = std::atomic<T>;
  template <class T>
  using plain = T;
};

}  // namespace tutti::platform
