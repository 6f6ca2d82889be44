// SPDX-License-Identifier: Apache-2.0
// What the sources of this folder call in each other.
#pragma once

#include "kernel/arch/machine.hpp"

namespace tutti::kernel::machine {

// boot_info.cpp: reads what the loader left, and the tables of the firmware.
void read_boot_information(u64 protocol, u64 information) noexcept;
extern description the_description;

// descriptors.cpp: segments, the stacks for interrupts, and the table of interrupts, of one core.
void load_descriptors(u32 index) noexcept;

// interrupts.cpp: the local interrupt controller of this core, and the clock's rate.
void start_controller() noexcept;
void enable_controller() noexcept;
void measure_clock() noexcept;
u32 own_hardware_id() noexcept;
void send_init(u32 hardware_id) noexcept;
void send_startup(u32 hardware_id, u8 page) noexcept;
void wait_us(u64 us) noexcept;

// start.cpp: makes memory above 4 GiB addressable.
void map(u64 begin, u64 end) noexcept;

struct exception_frame {
  u64 r15, r14, r13, r12, r11, r10, r9, r8, rbp, rdi, rsi, rdx, rcx, rbx, rax;
  u64 vector, error, rip, cs, rflags, rsp, ss;
};

// barrier_instructions.cpp: returns false if the instruction at f.rip is none of those; otherwise
// does what it says and moves f.rip behind it.
bool emulate(exception_frame& f) noexcept;

}  // namespace tutti::kernel::machine
