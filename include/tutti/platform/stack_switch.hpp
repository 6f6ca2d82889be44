// SPDX-License-Identifier: Apache-2.0
// Goes on on another stack, in the middle of a function, and comes back when that one goes on here.
//
// A library's switch is a function that returns by a jump. The processor predicts returns from a stack of its own calls,
// which is then off by one: each return after a switch is mispredicted, and a switch takes 25 to 30 ns instead of 8 to
// 12. This one is no function: calls and returns stay in pairs, and fibers that wait at the same place return to the same
// place.
#pragma once

#include "tutti/platform/config.hpp"

#if TUTTI_HOSTED && defined(__x86_64__) && !defined(__ILP32__)
#define TUTTI_HAS_STACK_SWITCH 1
#else
#define TUTTI_HAS_STACK_SWITCH 0
#endif

namespace tutti::platform {

#if TUTTI_HAS_STACK_SWITCH

// Where a stack goes on: its top.
using suspended = void*;

// For the first switch to a stack: `begin` is called there and must not return. `top` is the end of the memory.
inline suspended prepare_stack(void* top, void (*begin)()) noexcept {
  auto* const aligned =
      reinterpret_cast<void**>(reinterpret_cast<std::uintptr_t>(top) & ~std::uintptr_t{15});
  aligned[-1] = nullptr;  // where a return address would be: the end, for debuggers
  aligned[-2] = reinterpret_cast<void*>(begin);
  return aligned - 2;
}

// Leaves this stack, whose top is stored in `from`, and goes on where `to` was left.
[[gnu::always_inline]] inline void switch_stack(suspended& from, suspended to) noexcept {
  suspended* where = &from;
  // All registers are lost: the compiler keeps what it needs on the stack, which stays. Except the frame pointer, of
  // which it may not be told. 128 bytes below the top may be in use by a function that calls nobody.
  asm volatile(
      "subq $128, %%rsp\n\t"
      "pushq %%rbp\n\t"
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "movq %%rsp, (%0)\n\t"
      "movq %1, %%rsp\n\t"
      "popq %%rax\n\t"
      "jmpq *%%rax\n"
      "1:\n\t"
      "popq %%rbp\n\t"
      "addq $128, %%rsp"
      : "+D"(where), "+S"(to)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0",
        "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
        "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory");
}

// Rounding and traps of the floating-point units, which a function hands back as it found them.
struct float_control {
  std::uint32_t sse = 0;
  std::uint16_t x87 = 0;

  static float_control now() noexcept {
    float_control c;
    asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(c.sse), "=m"(c.x87));
    return c;
  }
  // Setting takes longer than looking, and nearly all fibers agree.
  void restore() const noexcept {
    const float_control c = now();
    if (c.sse != sse) asm volatile("ldmxcsr %0" : : "m"(sse));
    if (c.x87 != x87) asm volatile("fldcw %0" : : "m"(x87));
  }
};

#endif

}  // namespace tutti::platform
