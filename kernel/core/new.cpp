// SPDX-License-Identifier: Apache-2.0
// The operators new and delete of the whole image. A lack of memory is a panic, not an exception.
#include <new>

#include "kernel/core/memory.hpp"

namespace {
using tutti::kernel::allocate_aligned;
using tutti::kernel::give_back;
}  // namespace

void* operator new(std::size_t bytes) { return allocate_aligned(16, bytes); }
void* operator new[](std::size_t bytes) { return allocate_aligned(16, bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_aligned(static_cast<std::size_t>(alignment), bytes);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate_aligned(static_cast<std::size_t>(alignment), bytes);
}
void operator delete(void* block) noexcept { give_back(block); }
void operator delete[](void* block) noexcept { give_back(block); }
void operator delete(void* block, std::size_t) noexcept { give_back(block); }
void operator delete[](void* block, std::size_t) noexcept { give_back(block); }
void operator delete(void* block, std::align_val_t) noexcept { give_back(block); }
void operator delete[](void* block, std::align_val_t) noexcept { give_back(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { give_back(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { give_back(block); }
