// SPDX-License-Identifier: Apache-2.0
// The end of the kernel, and the names of addresses. The build links twice: the second time with a
// table of the symbols of the first.
#include "kernel/core/panic.hpp"

#include <atomic>

#include "kernel/core/core.hpp"
#include "kernel/core/lock.hpp"

extern "C" {
// Pairs of an address and the address of a name, in ascending order.
struct symbol {
  tutti::kernel::u64 address;
  const char* name;
};
extern const symbol symbols_begin[], symbols_end[];
extern char image_end[];
}

namespace tutti::kernel {

namespace {

void print_place(u64 address) noexcept {
  const symbol* found = nullptr;
  for (const symbol* s = symbols_begin; s < symbols_end && s->address <= address; ++s) found = s;
  if (found == nullptr || address >= address_of(image_end)) return print("  ", hex{address});
  print("  ", hex{address}, " ", found->name, " + ", address - found->address);
}

constinit spin_lock output_lock;
std::atomic<u32> has_panicked{0};

}  // namespace

void write_whole(const char* bytes, u64 count) noexcept {
  // After a panic the lock's owner may have stopped.
  // relaxed: a core that misses the panic waits for the lock once more.
  if (has_panicked.load(std::memory_order_relaxed) != 0) return machine::write(bytes, count);
  const locked hold(output_lock);
  machine::write(bytes, count);
}

u32 index_of_this_core() noexcept { return machine::here().index; }

void enter_panic() noexcept {
  machine::interrupts_off();
  // relaxed: only one core may go on; nothing else is ordered.
  if (has_panicked.exchange(1, std::memory_order_relaxed) != 0)
    for (;;) machine::pause();
}

void end_with_trace(u64 frame, u64 instruction) noexcept {
  if (instruction != 0) print_place(instruction);
  machine::walk_stack(frame, print_place);
  machine::power_off(panicked);
}

}  // namespace tutti::kernel

extern "C" void __cxa_pure_virtual() { tutti::kernel::panic("a pure virtual function was called"); }
