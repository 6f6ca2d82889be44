// SPDX-License-Identifier: Apache-2.0
// Memory that a process shares with the children that it starts later.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace tutti::cli {

class shared_memory {
 public:
  explicit shared_memory(std::size_t bytes)
      : bytes_(bytes),
        base_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (base_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~shared_memory() { munmap(base_, bytes_); }
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;
  void* base() const noexcept { return base_; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::size_t bytes_;
  void* base_;
};

// An object of type T in such memory.
template <class T>
class shared_object {
 public:
  shared_object() : memory_(sizeof(T)), object_(::new (memory_.base()) T{}) {}
  ~shared_object() { object_->~T(); }
  shared_object(const shared_object&) = delete;
  shared_object& operator=(const shared_object&) = delete;
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }

 private:
  shared_memory memory_;
  T* object_;
};

}  // namespace tutti::cli
