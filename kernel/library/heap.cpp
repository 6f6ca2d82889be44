// SPDX-License-Identifier: Apache-2.0
// The heap: blocks of the kernel's memory, from the node of the calling core.
#include <sys/mman.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "kernel/core/memory.hpp"

using namespace tutti::kernel;

extern "C" {

void* malloc(std::size_t bytes) noexcept {
  void* block = try_allocate(16, bytes);
  if (block == nullptr) errno = ENOMEM;
  return block;
}

void free(void* block) noexcept { give_back(block); }

void* realloc(void* old, std::size_t bytes) noexcept {
  if (old == nullptr) return malloc(bytes);
  const std::size_t before = size_of_block(old);
  if (bytes != 0 && bytes <= before) return old;
  void* block = malloc(bytes);
  if (block == nullptr) return nullptr;
  std::memcpy(block, old, before < bytes ? before : bytes);
  free(old);
  return block;
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  void* block = try_allocate(alignment, bytes);
  if (block == nullptr) errno = ENOMEM;
  return block;
}

// Memory without a file behind it, which is all that the kernel has. Every address is mapped
// already, so nothing is gained by asking for one.
void* mmap(void*, std::size_t bytes, int, int flags, int, off_t) noexcept {
  void* block = (flags & MAP_ANONYMOUS) != 0 ? try_allocate(4096, bytes) : nullptr;
  if (block == nullptr) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return std::memset(block, 0, bytes);
}

int munmap(void* block, std::size_t) noexcept {
  give_back(block);
  return 0;
}

int madvise(void*, std::size_t, int) noexcept { return 0; }

}  // extern "C"
