// SPDX-License-Identifier: Apache-2.0
// An optional object that its owner can leave behind: other threads may still use it when the owner
// is destroyed, because the program ends while they run (a rank calls exit()).
#pragma once

#include <memory>
#include <utility>

namespace tutti::detail {

template <class T>
class leakable {
 public:
  leakable() noexcept {}
  ~leakable() {
    if (!is_left_) reset();
  }
  leakable(const leakable&) = delete;
  leakable& operator=(const leakable&) = delete;

  template <class... Arguments>
  T& emplace(Arguments&&... arguments) {
    reset();
    std::construct_at(&object_, std::forward<Arguments>(arguments)...);
    has_ = true;
    return object_;
  }
  void reset() noexcept {
    if (std::exchange(has_, false)) std::destroy_at(&object_);
  }
  // The object will not be destroyed.
  void leave() noexcept { is_left_ = true; }

  explicit operator bool() const noexcept { return has_; }
  T& operator*() noexcept { return object_; }
  const T& operator*() const noexcept { return object_; }
  T* operator->() noexcept { return &object_; }
  const T* operator->() const noexcept { return &object_; }

 private:
  union {
    T object_;
  };
  bool has_ = false, is_left_ = false;
};

}  // namespace tutti::detail
