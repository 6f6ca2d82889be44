// SPDX-License-Identifier: Apache-2.0
// Objects that are used again instead of being freed.
#pragma once

#include <vector>

namespace tutti {

// Returns the object that came last into the list, or a new one.
template <class T>
T* take_or_make(std::vector<T*>& free) {
  if (free.empty()) return new T;
  T* const last = free.back();
  free.pop_back();
  return last;
}

}  // namespace tutti
