// SPDX-License-Identifier: Apache-2.0
// An owner of one object on the heap, or of none. It is the part of std::unique_ptr that
// tutti::barrier needs; <memory> would add 7,700 lines to barrier.hpp.
#pragma once

namespace tutti {

template <class T>
class owned {
 public:
  constexpr owned() noexcept = default;
  ~owned() { delete object_; }
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;

  // Deletes the object that it owns and takes another one, made by `new`.
  void take(T* object) noexcept {
    delete object_;
    object_ = object;
  }

  constexpr explicit operator bool() const noexcept { return object_ != nullptr; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }

 private:
  T* object_ = nullptr;
};

}  // namespace tutti
