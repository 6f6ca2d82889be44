// SPDX-License-Identifier: Apache-2.0
// The local interrupt controller (xAPIC or x2APIC), the clock's rate, and the table of handlers.
#include "kernel/arch/x86_64/parts.hpp"
#include "kernel/core/panic.hpp"

namespace tutti::kernel::machine {
namespace {

constexpr u32 apic_base_msr = 0x1B, x2apic_msrs = 0x800;
constexpr u64 apic_enabled = 1u << 11, x2apic_enabled = 1u << 10;

// Registers of the controller, as offsets in its page; x2APIC has them as MSRs.
enum apic_register : u32 {
  id = 0x20,
  end_of_interrupt = 0xB0,
  spurious = 0xF0,
  command = 0x300,
  command_high = 0x310,
  timer = 0x320,
  timer_initial = 0x380,
  timer_current = 0x390,
  timer_divider = 0x3E0,
};
constexpr u8 spurious_interrupt = 0xFF;

bool has_x2apic = false;
volatile u8* apic_page = nullptr;
u64 clock_ticks_per_us = 0, timer_counts_per_1024_ticks = 0;

u32 read(apic_register r) noexcept {
  if (has_x2apic) return static_cast<u32>(read_msr(x2apic_msrs + r / 16));
  return *reinterpret_cast<volatile u32*>(apic_page + r);
}
void write(apic_register r, u32 value) noexcept {
  if (has_x2apic)
    write_msr(x2apic_msrs + r / 16, value);
  else
    *reinterpret_cast<volatile u32*>(apic_page + r) = value;
}

constexpr u32 delivery_pending = 1u << 12, level_assert = 1u << 14, to_all_others = 3u << 18;

// Two writes to xAPIC's command registers belong together, so no interrupt may send between them.
void send(u32 hardware_id, u32 bits) noexcept {
  if (has_x2apic) {
    // The write of an MSR of x2APIC does not wait for earlier stores, which the receiver must see.
    asm volatile("mfence; lfence" ::: "memory");
    write_msr(x2apic_msrs + command / 16, u64{hardware_id} << 32 | bits);
    return;
  }
  const bool were_on = are_interrupts_on();
  interrupts_off();
  while ((read(command) & delivery_pending) != 0) pause();
  write(command_high, hardware_id << 24);
  write(command, bits);
  if (were_on) interrupts_on();
}

handler handlers[256];

// --- the clock

constexpr u16 pit_channel2 = 0x42, pit_mode = 0x43, pit_gate = 0x61;

// Counts ticks during 2 ms of the PC's timer; 0 if there is none that answers.
u64 ticks_in_2_ms() noexcept {
  constexpr u16 pit_counts = 2'386;
  constexpr u64 too_many_ticks = 1'000'000'000;
  out8(pit_gate, static_cast<u8>((in8(pit_gate) & ~2u) | 1u));
  out8(pit_mode, 0xB0);
  out8(pit_channel2, pit_counts & 0xFF);
  out8(pit_channel2, pit_counts >> 8);
  const u64 begin = ticks();
  while ((in8(pit_gate) & 0x20) == 0)
    if (ticks() - begin > too_many_ticks) return 0;
  return ticks() - begin;
}

// The smallest of some measurements: on a virtual machine each may be interrupted.
u64 ticks_per_us_by_timer() noexcept {
  u64 least = 0;
  for (int i = 0; i < 5; ++i) {
    const u64 counted = (ticks_in_2_ms() + 1'000) / 2'000;
    if (least == 0 || counted < least) least = counted;
  }
  return least;
}

u64 ticks_per_us_by_cpuid() noexcept {
  if (cpuid(0).a < 0x15) return 0;
  const cpuid_answer r = cpuid(0x15);
  return r.a == 0 || r.c == 0 ? 0 : u64{r.c} * r.b / r.a / 1'000'000;
}

}  // namespace

u32 own_hardware_id() noexcept {
  return has_x2apic ? read(id) : apic_page != nullptr ? read(id) >> 24 : cpuid(1).b >> 24;
}

// The PC's old interrupt controllers are moved away from the exceptions, and masked.
void mask_old_controllers() noexcept {
  constexpr u16 first = 0x20, second = 0xA0;
  constexpr u8 first_vector = 0x30;
  out8(first, 0x11);
  out8(second, 0x11);
  out8(first + 1, first_vector);
  out8(second + 1, first_vector + 8);
  out8(first + 1, 4);
  out8(second + 1, 2);
  out8(first + 1, 1);
  out8(second + 1, 1);
  out8(first + 1, 0xFF);
  out8(second + 1, 0xFF);
}

void start_controller() noexcept {
  mask_old_controllers();
  constexpr u32 x2apic_bit = 1u << 21;
  has_x2apic = (cpuid(1).c & x2apic_bit) != 0;
  apic_page = reinterpret_cast<volatile u8*>(read_msr(apic_base_msr) & 0xFFFFFF000);
  the_description.controller = has_x2apic ? "x2apic" : "xapic";
}

void enable_controller() noexcept {
  const u64 base = read_msr(apic_base_msr) | apic_enabled;
  write_msr(apic_base_msr, base);
  if (has_x2apic) write_msr(apic_base_msr, base | x2apic_enabled);
  write(spurious, 0x100 | spurious_interrupt);
  write(timer_divider, 0xB);  // no division
  write(timer, timer_interrupt);
}

void measure_clock() noexcept {
  clock_ticks_per_us = ticks_per_us_by_cpuid();
  if (clock_ticks_per_us == 0) clock_ticks_per_us = ticks_per_us_by_timer();
  if (clock_ticks_per_us == 0) panic("no timer tells the rate of the clock");
  constexpr u32 all = 0xFFFFFFFF;
  write(timer, timer_interrupt | 1u << 16);
  write(timer_initial, all);
  const u64 begin = ticks();
  while (ticks() - begin < 1000 * clock_ticks_per_us) {
  }
  const u64 counts = all - read(timer_current), elapsed = ticks() - begin;
  write(timer_initial, 0);
  write(timer, timer_interrupt);
  timer_counts_per_1024_ticks = counts * 1024 / elapsed;
  if (timer_counts_per_1024_ticks == 0) timer_counts_per_1024_ticks = 1;
}

u64 ticks_per_us() noexcept { return clock_ticks_per_us; }

void arm_timer(u64 after) noexcept {
  if (after == 0) return write(timer_initial, 0);
  constexpr u64 most_ticks = u64{1} << 40;
  const u64 counts = (after < most_ticks ? after : most_ticks) * timer_counts_per_1024_ticks / 1024;
  write(timer_initial, static_cast<u32>(counts == 0           ? 1
                                        : counts > 0xFFFFFFFF ? 0xFFFFFFFF
                                                              : counts));
}

void wait_us(u64 us) noexcept {
  for (const u64 begin = ticks(); ticks() - begin < us * clock_ticks_per_us;) pause();
}

handler on_interrupt(u8 number, handler act) noexcept {
  const handler before = handlers[number];
  handlers[number] = act;
  return before;
}

void interrupt_core(u32 core, u8 number) noexcept {
  send(the_description.hardware_id[core], level_assert | number);
}
void interrupt_others(u8 number) noexcept { send(0, to_all_others | level_assert | number); }
void interrupt_self_by_instruction() noexcept {
  asm volatile("int %0" ::"i"(self_interrupt) : "memory");
}

void send_init(u32 hardware_id) noexcept { send(hardware_id, level_assert | 5u << 8); }
void send_startup(u32 hardware_id, u8 page) noexcept {
  send(hardware_id, level_assert | 6u << 8 | page);
}

extern "C" void handle_interrupt(u32 vector) {
  if (vector == spurious_interrupt) return;
  // The controller may deliver the next interrupt from here on, but interrupts are off.
  if (vector != self_interrupt) write(end_of_interrupt, 0);
  if (handlers[vector] == nullptr) panic("an interrupt without a handler: ", vector);
  handlers[vector]();
}

// The interrupt of the short cut has been handled.
extern "C" void end_shortcut() { write(end_of_interrupt, 0); }

extern "C" u32 measure_syscall();
u64 ticks_of_system_call() noexcept { return measure_syscall(); }

}  // namespace tutti::kernel::machine
