// SPDX-License-Identifier: Apache-2.0
// Segments, the stacks on which interrupts run, and the interrupt descriptor table.
#include "kernel/arch/x86_64/parts.hpp"
#include "kernel/core/core.hpp"

extern "C" {
extern char interrupt_entries[], event_shortcut_entry[], syscall_entry[];
tutti::kernel::machine::handler event_shortcut_action;
}

namespace tutti::kernel::machine {
namespace {

constexpr u64 code64 = 0x00AF9B000000FFFF, data = 0x00CF93000000FFFF, code32 = 0x00CF9B000000FFFF;
constexpr u16 code_selector = 8;
constexpr u32 fixed_descriptors = 4;

struct [[gnu::packed]] task_state {
  u32 reserved0;
  u64 stacks[3];
  u64 reserved1;
  u64 interrupt_stacks[7];
  u64 reserved2;
  u16 reserved3, io_map;
};
// The numbers of the interrupt stacks: for interrupts, exceptions, and those that may come while an
// exception is handled.
constexpr u8 on_interrupt_stack = 1, on_exception_stack = 2, on_last_stack = 3;
constexpr u64 stack_bytes = 16384;

struct core_tables {
  u64 segments[fixed_descriptors + 2];
  alignas(16) task_state task;
  alignas(16) u8 stacks[3][stack_bytes];
};
core_tables tables[most_cores];

struct gate {
  u16 low, selector;
  u8 stack, type;
  u16 middle;
  u32 high, reserved;
};
gate gates[256];

struct [[gnu::packed]] table_pointer {
  u16 limit;
  u64 base;
};

void set_gate(u32 vector, const char* entry, u8 stack) noexcept {
  constexpr u8 interrupt_gate = 0x8E;
  const u64 address = reinterpret_cast<u64>(entry);
  gates[vector] = {static_cast<u16>(address),
                   code_selector,
                   stack,
                   interrupt_gate,
                   static_cast<u16>(address >> 16),
                   static_cast<u32>(address >> 32),
                   0};
}

void fill_gates() noexcept {
  constexpr u32 non_maskable = 2, double_fault = 8, machine_check = 18;
  for (u32 vector = 0; vector < 256; ++vector) {
    const bool is_last =
        vector == non_maskable || vector == double_fault || vector == machine_check;
    const u8 stack = vector >= 32 ? on_interrupt_stack
                     : is_last    ? on_last_stack
                                  : on_exception_stack;
    set_gate(vector, interrupt_entries + 16 * vector, stack);
  }
  set_gate(shortcut_interrupt, event_shortcut_entry, on_interrupt_stack);
}

}  // namespace

void load_descriptors(u32 index) noexcept {
  if (index == 0) fill_gates();
  core_tables& mine = tables[index];
  for (u32 i = 0; i < 3; ++i)
    mine.task.interrupt_stacks[i] = reinterpret_cast<u64>(mine.stacks[i]) + stack_bytes;
  mine.task.io_map = sizeof(task_state);
  const u64 task = reinterpret_cast<u64>(&mine.task);
  mine.segments[1] = code64;
  mine.segments[2] = data;
  mine.segments[3] = code32;
  mine.segments[4] = (sizeof(task_state) - 1) | (task & 0xFFFFFF) << 16 | u64{0x89} << 40 |
                     (task >> 24 & 0xFF) << 56;
  mine.segments[5] = task >> 32;

  const table_pointer segments{sizeof mine.segments - 1, reinterpret_cast<u64>(mine.segments)};
  asm volatile("lgdt %0" ::"m"(segments) : "memory");
  asm volatile("ltr %w0" ::"r"(fixed_descriptors * 8));
  const table_pointer interrupts{sizeof gates - 1, reinterpret_cast<u64>(gates)};
  asm volatile("lidt %0" ::"m"(interrupts) : "memory");

  constexpr u32 star = 0xC0000081, long_star = 0xC0000082, flag_mask = 0xC0000084;
  write_msr(star, u64{code_selector} << 32);
  write_msr(long_star, reinterpret_cast<u64>(syscall_entry));
  write_msr(flag_mask, 0x200);
}

void on_shortcut(handler act) noexcept { event_shortcut_action = act; }

}  // namespace tutti::kernel::machine
