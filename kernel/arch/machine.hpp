// SPDX-License-Identifier: Apache-2.0
// All that the kernel knows of the machine. A machine implements these functions in a folder beside
// this file; arch/x86_64 is the first.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti::kernel {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
// What the processor reads and writes in one instruction, atomically too.
using native_word = std::uintptr_t;

// An address as a number. A cast to u64 would extend its sign where addresses have 32 bits.
template <class T>
u64 address_of(T* pointer) noexcept {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

struct core;
struct thread;

namespace machine {

inline constexpr u32 most_cores = 64;
inline constexpr u32 most_nodes = 16;

// --- what the boot loader and the firmware say

struct memory_range {
  u64 begin, end;
  u32 node;
};
struct description {
  // How the kernel was loaded, and which kind of interrupt controller is in use.
  const char* loader = "";
  const char* controller = "";
  const char* command_line = "";
  // Whether a hypervisor or an emulator says that it runs the kernel.
  bool is_virtual = false;
  u32 cores = 0;
  // The interrupt controller's number and the NUMA node of each core; core 0 is the running one.
  u32 hardware_id[most_cores] = {};
  u32 node_of_core[most_cores] = {};
  u32 nodes = 1;
  // Usable memory, without the kernel itself.
  memory_range memory[64] = {};
  u32 memory_ranges = 0;
  // A file that the loader put into memory.
  const char* file = nullptr;
  u64 file_bytes = 0;
};
const description& described() noexcept;

// --- output

void write(const char* text, std::size_t bytes) noexcept;
// Ends the machine: QEMU exits with the status, on a real machine this core halts.
[[noreturn]] void power_off(u8 status) noexcept;

// --- time

// The processor's counter, and how many ticks it makes in a microsecond.
inline u64 ticks() noexcept;
// The low word of ticks(), which takes as little as the processor can. Differences of times that
// are less than 2^32 ticks apart are right.
inline native_word stamp() noexcept;
u64 ticks_per_us() noexcept;
// Raises the timer's interrupt on this core after about `ticks`; 0 stops the timer.
void arm_timer(u64 ticks) noexcept;

// --- interrupts

// Numbers of interrupts. A handler of one below first_plain may switch to another thread.
inline constexpr u8 timer_interrupt = 0x20, kick_interrupt = 0x21, first_plain = 0x40;
using handler = void (*)() noexcept;
// Sets the handler for all cores. It runs with interrupts off. Handlers and what they call use no
// floating-point registers.
// Returns the handler before.
handler on_interrupt(u8 number, handler act) noexcept;
// The same without any table between the interrupt and the handler; there is one such number.
inline constexpr u8 shortcut_interrupt = 0x41;
void on_shortcut(handler act) noexcept;

// The interrupt of events. Its handler may be called when nobody has sent it: a machine whose
// interrupts have no numbers calls it with every other one.
inline constexpr u8 event_interrupt = 0x40;

// Sends an interrupt to a core, or to all others.
void interrupt_core(u32 core, u8 number) noexcept;
void interrupt_others(u8 number) noexcept;
// Interrupts this core by an instruction instead, without the interrupt controller: what handling
// an interrupt takes, for the bench.
void interrupt_self_by_instruction() noexcept;
inline constexpr u8 self_interrupt = 0x42;

// In a handler: when the first instruction of the interrupt ran. Only if the machine has
// has_entry_stamp.
inline native_word entry_stamp() noexcept;

// A remote call interrupts a core as an interrupt does, and jumps to the handler without saving
// anything: Hale and Dinda 2018, section V, propose it. It is taken while interrupts are on. The
// handler runs with interrupts off and is given when its first instruction ran. Calls that come
// before the core has taken one are one. Only if the machine has has_remote_calls.
using call_handler = void (*)(native_word at) noexcept;
void on_remote_call(call_handler act) noexcept;
void call_core(u32 core) noexcept;
void call_others() noexcept;

inline bool are_interrupts_on() noexcept;
inline void interrupts_on() noexcept;
inline void interrupts_off() noexcept;
// Turns interrupts on and sleeps until one comes; none is missed in between.
inline void sleep_until_interrupt() noexcept;
inline void pause() noexcept;

// --- cores and threads

inline core& here() noexcept;
// Starts the other cores; each calls `run` on the stack that ends at stack_end(core).
void start_cores(u64 (*stack_end)(u32 core), void (*run)(u32 core)) noexcept;

// What a thread that does not run keeps of the processor; the machine defines it.
struct context;
// The first switch to a fresh context calls run(argument) with interrupts off.
void prepare(context& fresh, u64 stack_end, void (*run)(void*), void* argument) noexcept;
void switch_context(context& from, context& to) noexcept;
// Where the thread's own variables of compiled code are, if the machine has them.
inline void set_thread_pointer(context& of, u64 pointer) noexcept;

// Calls visit(address) for each return address of the calling function's stack frames, or of those
// at `frame`.
using visitor = void (*)(u64 address);
void walk_stack(u64 frame, visitor visit) noexcept;
u64 frame_here() noexcept;

// The instruction for calls of the kernel, from here to its handler and back, in ticks.
u64 ticks_of_system_call() noexcept;

}  // namespace machine
}  // namespace tutti::kernel

#if defined(__x86_64__)
#include "kernel/arch/x86_64/inline.hpp"
#elif defined(__riscv) && __riscv_xlen == 32
#include "kernel/arch/rv32/inline.hpp"
#else
#error "The kernel has no machine for this processor."
#endif
