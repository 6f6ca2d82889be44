// SPDX-License-Identifier: Apache-2.0
// The barrier instructions of Hetland et al. 2019, section 4.1, emulated: barinit and barwait raise
// an invalid opcode, and the kernel does what they say.
//
// The paper takes an existing instruction with one operand and a prefix that has no meaning with
// it, and names no bytes. Here they are `lock not` and `lock neg` of a 64-bit register, which every
// x86-64 processor refuses:
//   barinit %reg   F0 48 F7 D0+r   (F0 49 for r8 to r15)
//   barwait %reg   F0 48 F7 D8+r
#include "kernel/arch/x86_64/parts.hpp"
#include "kernel/core/hardware_barrier.hpp"

namespace tutti::kernel::machine {

namespace {

constexpr u8 lock_prefix = 0xF0, wide = 0x48, wide_high = 0x49, unary = 0xF7;
constexpr u8 not_of_register = 0xD0, neg_of_register = 0xD8;
constexpr u64 bytes_of_instruction = 4;

// Returns the register's value in the frame; number 4 is the stack pointer.
u64 value_of(const exception_frame& f, u32 number) noexcept {
  const u64 values[] = {f.rax, f.rcx, f.rdx, f.rbx, f.rsp, f.rbp, f.rsi, f.rdi,
                        f.r8,  f.r9,  f.r10, f.r11, f.r12, f.r13, f.r14, f.r15};
  return values[number];
}

}  // namespace

bool emulate(exception_frame& f) noexcept {
  const u8* code = reinterpret_cast<const u8*>(f.rip);
  if (code[0] != lock_prefix || (code[1] != wide && code[1] != wide_high) || code[2] != unary)
    return false;
  const u32 number = (code[3] & 7u) + (code[1] == wide_high ? 8 : 0);
  const u64 barrier = value_of(f, number);
  // The frame lies on the thread's own stack, so the core may serve others while this one waits.
  constexpr u64 interrupt_flag = 0x200;
  if ((f.rflags & interrupt_flag) != 0) interrupts_on();
  const u8 operation = code[3] & 0xF8;
  bool is_done = false;
  if (operation == not_of_register) is_done = barrier_init(barrier);
  if (operation == neg_of_register) is_done = barrier_wait(barrier);
  if (is_done) f.rip += bytes_of_instruction;
  return is_done;
}

}  // namespace tutti::kernel::machine

namespace tutti::kernel {

// The operand is rax.
void execute_barinit(u64 barrier) noexcept {
  asm volatile(".byte 0xF0, 0x48, 0xF7, 0xD0" ::"a"(barrier) : "memory");
}
void execute_barwait(u64 barrier) noexcept {
  asm volatile(".byte 0xF0, 0x48, 0xF7, 0xD8" ::"a"(barrier) : "memory");
}

}  // namespace tutti::kernel
