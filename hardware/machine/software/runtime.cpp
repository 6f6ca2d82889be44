// SPDX-License-Identifier: Apache-2.0
// The heap of the programs.
#include "hardware/machine/software/runtime.hpp"

#include "hardware/machine/software/platform.hpp"

extern "C" {
extern char heap_begin[], heap_end[];
}

namespace tutti::rtl {

namespace {
// On a line of its own; only one core at a time makes objects.
alignas(cache_line) std::uint32_t heap_next;
}  // namespace

void empty_heap() noexcept { heap_next = reinterpret_cast<std::uintptr_t>(heap_begin); }

void* allocate(std::size_t size, std::size_t alignment) noexcept {
  const std::uintptr_t mask = alignment - 1;
  const std::uintptr_t at = (heap_next + mask) & ~mask;
  // The kernel reports the trap.
  if (heap_next == 0 || size > reinterpret_cast<std::uintptr_t>(heap_end) - at) __builtin_trap();
  heap_next = at + size;
  return reinterpret_cast<void*>(at);
}

}  // namespace tutti::rtl

void* operator new(std::size_t size, std::align_val_t alignment) {
  return tutti::rtl::allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void*, std::align_val_t) noexcept {}
