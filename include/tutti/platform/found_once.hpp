// SPDX-License-Identifier: Apache-2.0
// A value that the first call finds and that later calls load. Waiting threads use it in place of a
// static variable of a function, whose lock the child of a fork() beside the first call would
// inherit and wait for.
#pragma once

#include <atomic>

#include "tutti/platform/config.hpp"

namespace tutti::platform {

template <class T>
class found_once {
 public:
  // `unknown` is a value that is never found.
  explicit constexpr found_once(T unknown) noexcept : unknown_(unknown), value_(unknown) {}

  // Returns the value. If it is unknown, this call finds it by find(), and keeps it unless that
  // returns `unknown`. Several threads may find at the same moment; all of them return the value of
  // the first, and for each other one `lost(its value)` is called. Thread-safe.
  template <class Find, class Lost>
  T get(Find find, Lost lost) noexcept {
    // relaxed: the value publishes nothing else.
    T value = value_.load(relaxed);
    if (value != unknown_) return value;
    const T mine = find();
    // relaxed, relaxed: as above.
    if (mine == unknown_ || value_.compare_exchange_strong(value, mine, relaxed, relaxed))
      return mine;
    lost(mine);
    return value;
  }
  template <class Find>
  T get(Find find) noexcept {
    return get(find, [](T) {});
  }

 private:
  const T unknown_;
  std::atomic<T> value_;
};

}  // namespace tutti::platform
