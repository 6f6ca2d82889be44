// SPDX-License-Identifier: Apache-2.0
// The functions of arch/machine.hpp that are one instruction or few, and other instructions of the
// processor.
#pragma once

#include "kernel/arch/machine.hpp"

namespace tutti::kernel::machine {

// Bytes of the stacks of threads and of the program.
inline constexpr u64 thread_stack_bytes = 65536, program_stack_bytes = 1 << 20;

struct context {
  u64* stack = nullptr;
  // The floating-point registers, as fxsave writes them.
  alignas(16) u8 floating_point[512] = {};
  u64 thread_pointer = 0;
};
inline void set_thread_pointer(context& of, u64 pointer) noexcept { of.thread_pointer = pointer; }

inline u64 ticks() noexcept {
  u32 low, high;
  asm volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
  return u64{high} << 32 | low;
}

inline native_word stamp() noexcept { return ticks(); }

inline constexpr bool has_entry_stamp = false, has_remote_calls = false;
inline native_word entry_stamp() noexcept { return 0; }

inline bool are_interrupts_on() noexcept {
  u64 flags;
  asm volatile("pushfq; popq %0" : "=r"(flags)::"memory");
  return (flags & 0x200) != 0;
}
inline void interrupts_on() noexcept { asm volatile("sti" ::: "memory"); }
inline void interrupts_off() noexcept { asm volatile("cli" ::: "memory"); }
// sti takes effect after the instruction that follows it.
inline void sleep_until_interrupt() noexcept { asm volatile("sti; hlt" ::: "memory"); }
inline void pause() noexcept { __builtin_ia32_pause(); }

inline core& here() noexcept {
  core* found;
  asm volatile("movq %%gs:0, %0" : "=r"(found));
  return *found;
}

inline void out8(u16 port, u8 value) noexcept {
  asm volatile("outb %0, %1" ::"a"(value), "Nd"(port) : "memory");
}
inline void out32(u16 port, u32 value) noexcept {
  asm volatile("outl %0, %1" ::"a"(value), "Nd"(port) : "memory");
}
inline u8 in8(u16 port) noexcept {
  u8 value;
  asm volatile("inb %1, %0" : "=a"(value) : "Nd"(port) : "memory");
  return value;
}
inline u64 read_msr(u32 number) noexcept {
  u32 low, high;
  asm volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(number) : "memory");
  return u64{high} << 32 | low;
}
inline void write_msr(u32 number, u64 value) noexcept {
  asm volatile("wrmsr" ::"c"(number), "a"(static_cast<u32>(value)),
               "d"(static_cast<u32>(value >> 32))
               : "memory");
}
struct cpuid_answer {
  u32 a, b, c, d;
};
inline cpuid_answer cpuid(u32 leaf, u32 subleaf = 0) noexcept {
  cpuid_answer r;
  asm volatile("cpuid" : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d) : "a"(leaf), "c"(subleaf));
  return r;
}

}  // namespace tutti::kernel::machine
