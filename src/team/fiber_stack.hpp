// SPDX-License-Identifier: Apache-2.0
// The memory of a virtual rank's stack: whole pages below a page that may not be touched, so that a
// stack that grows too far ends the program at the place where it does.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace tutti {

class fiber_stack {
 public:
  fiber_stack() noexcept = default;
  // Throws std::bad_alloc if the system has no memory, or no further mappings, for it.
  explicit fiber_stack(std::size_t least_bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    if (least_bytes > SIZE_MAX - 2 * page) throw std::bad_alloc();
    bytes_ = (least_bytes + page - 1) / page * page;
    guard_ = page;
    void* const mapped = mmap(nullptr, guard_ + bytes_, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    if (mprotect(mapped, guard_, PROT_NONE) != 0) {
      munmap(mapped, guard_ + bytes_);
      throw std::bad_alloc();
    }
    lowest_ = static_cast<char*>(mapped);
  }
  ~fiber_stack() {
    if (lowest_ != nullptr) munmap(lowest_, guard_ + bytes_);
  }
  fiber_stack(fiber_stack&& other) noexcept { swap(other); }
  fiber_stack& operator=(fiber_stack&& other) noexcept {
    fiber_stack taken(std::move(other));
    swap(taken);
    return *this;
  }

  // The end of the stack, where it begins to grow downwards.
  char* top() const noexcept { return lowest_ + guard_ + bytes_; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  void swap(fiber_stack& other) noexcept {
    std::swap(lowest_, other.lowest_);
    std::swap(guard_, other.guard_);
    std::swap(bytes_, other.bytes_);
  }
  char* lowest_ = nullptr;
  std::size_t guard_ = 0, bytes_ = 0;
};

}  // namespace tutti
