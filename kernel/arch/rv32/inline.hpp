// SPDX-License-Identifier: Apache-2.0
// The functions of arch/machine.hpp that are one instruction or few. Everything runs in machine
// mode. The pointer to the core's data is in tp, since a thread stays on its core.
#pragma once

#include "kernel/arch/machine.hpp"

namespace tutti::kernel::machine {

// Bytes of the stacks of threads and of the program. Handlers run on the stack that they interrupt.
inline constexpr u64 thread_stack_bytes = 8192, program_stack_bytes = 16384;

// The registers that a function keeps are on the stack.
struct context {
  native_word stack = 0;
};
// No code here has variables of its threads; the link script refuses them.
inline void set_thread_pointer(context&, u64) noexcept {}

inline u64 ticks() noexcept {
  u32 high, low, again;
  do {
    asm volatile("rdcycleh %0; rdcycle %1; rdcycleh %2"
                 : "=&r"(high), "=&r"(low), "=&r"(again)::"memory");
  } while (high != again);
  return u64{high} << 32 | low;
}
// The cores count cycles from the same reset on.
inline native_word stamp() noexcept {
  native_word now;
  asm volatile("rdcycle %0" : "=r"(now)::"memory");
  return now;
}

inline constexpr bool has_entry_stamp = true, has_remote_calls = true;
// The trap's second instruction has read the clock.
inline native_word entry_stamp() noexcept {
  native_word at;
  asm volatile("csrr %0, mscratch" : "=r"(at)::"memory");
  return at - 1;
}

inline bool are_interrupts_on() noexcept {
  native_word status;
  asm volatile("csrr %0, mstatus" : "=r"(status)::"memory");
  return (status & 8) != 0;
}
inline void interrupts_on() noexcept { asm volatile("csrsi mstatus, 8" ::: "memory"); }
inline void interrupts_off() noexcept { asm volatile("csrci mstatus, 8" ::: "memory"); }
// wfi ends when an interrupt is pending, also while interrupts are off.
inline void sleep_until_interrupt() noexcept { asm volatile("wfi; csrsi mstatus, 8" ::: "memory"); }
// A poll hits the core's own copy of the line.
inline void pause() noexcept { asm volatile("" ::: "memory"); }

inline core& here() noexcept {
  core* found;
  asm volatile("mv %0, tp" : "=r"(found));
  return *found;
}

}  // namespace tutti::kernel::machine
