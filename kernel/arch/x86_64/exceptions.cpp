// SPDX-License-Identifier: Apache-2.0
// Exceptions end the kernel with a dump, except the barrier instructions, which it emulates.
#include "kernel/arch/x86_64/parts.hpp"
#include "kernel/core/panic.hpp"

namespace tutti::kernel {
namespace machine {

namespace {
const char* name_of_exception(u64 vector) noexcept {
  constexpr const char* names[] = {"division error",
                                   "debug exception",
                                   "non-maskable interrupt",
                                   "breakpoint",
                                   "overflow",
                                   "bound exceeded",
                                   "invalid opcode",
                                   "device not available",
                                   "double fault",
                                   "coprocessor overrun",
                                   "invalid task state",
                                   "segment not present",
                                   "stack segment fault",
                                   "general protection fault",
                                   "page fault",
                                   "reserved exception",
                                   "x87 error",
                                   "alignment check",
                                   "machine check",
                                   "SIMD error"};
  return vector < sizeof names / sizeof *names ? names[vector] : "exception";
}
}  // namespace

extern "C" void handle_exception(exception_frame& f) {
  constexpr u64 invalid_opcode = 6, page_fault = 14;
  if (f.vector == invalid_opcode && emulate(f)) return;
  enter_panic();
  print("panic on core ", index_of_this_core(), ": ", name_of_exception(f.vector), ", error code ",
        hex{f.error});
  if (f.vector == page_fault) {
    u64 address;
    asm volatile("movq %%cr2, %0" : "=r"(address));
    print("  address ", hex{address});
  }
  print("  rip ", hex{f.rip}, " rsp ", hex{f.rsp}, " rbp ", hex{f.rbp}, " rflags ", hex{f.rflags});
  print("  rax ", hex{f.rax}, " rbx ", hex{f.rbx}, " rcx ", hex{f.rcx}, " rdx ", hex{f.rdx});
  print("  rsi ", hex{f.rsi}, " rdi ", hex{f.rdi}, " r8 ", hex{f.r8}, " r9 ", hex{f.r9});
  print("  r10 ", hex{f.r10}, " r11 ", hex{f.r11}, " r12 ", hex{f.r12}, " r13 ", hex{f.r13});
  print("  r14 ", hex{f.r14}, " r15 ", hex{f.r15});
  end_with_trace(f.rbp, f.rip);
}

}  // namespace machine
}  // namespace tutti::kernel
