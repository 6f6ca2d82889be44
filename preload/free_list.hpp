// SPDX-License-Identifier: Apache-2.0
// Objects that are used again instead of being freed.
#pragma once

#include <vector>

namespace tutti {

// Returns the object that came last into the list, or a new one.
template <class Made, class T>
Made* take_or_make(std::vector<T*>& free) {
  if (free.empty()) return new Made;
  T* const last = free.back();
  free.pop_back();
  return static_cast<Made*>(last);
}
template <class T>
T* take_or_make(std::vector<T*>& free) {
  return take_or_make<T, T>(free);
}

}  // namespace tutti
