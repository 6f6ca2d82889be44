// SPDX-License-Identifier: Apache-2.0
// Switches from one stack to another in the middle of a function.
//
// Libraries implement a switch as a function that returns by a jump. The processor predicts returns
// from its own stack of calls, which is then off by one: it mispredicts each return after a switch,
// and a switch takes 25 to 30 ns instead of 8 to 12. The switch here is inlined: calls and returns
// stay in pairs, and fibers that wait at the same place return to the same place.
#pragma once

#include "tutti/platform/config.hpp"

#if TUTTI_HOSTED && defined(__x86_64__) && !defined(__ILP32__)
#define TUTTI_HAS_STACK_SWITCH 1
#else
#define TUTTI_HAS_STACK_SWITCH 0
#endif

namespace tutti::platform {

#if TUTTI_HAS_STACK_SWITCH

// The top of a stack that is not running.
using suspended = void*;

// Prepares a stack for the first switch to it, which calls `begin` there. `begin` must not return.
// `top` is the end of the stack's memory.
inline suspended prepare_stack(void* top, void (*begin)()) noexcept {
  auto* const aligned =
      reinterpret_cast<void**>(reinterpret_cast<std::uintptr_t>(top) & ~std::uintptr_t{15});
  // Debuggers take a null return address for the end of the stack.
  aligned[-1] = nullptr;
  aligned[-2] = reinterpret_cast<void*>(begin);
  return aligned - 2;
}

// Stores the top of this stack in `from` and continues where `to` was left.
[[gnu::always_inline]] inline void switch_stack(suspended& from, suspended to) noexcept {
  suspended* where = &from;
  // The clobber list names all registers but one, so the compiler saves what it needs on the stack.
  // The frame pointer must not be in that list, so the code pushes it. It first skips 128 bytes,
  // because a function that calls no other may use them below the stack pointer.
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

// The rounding modes and traps of the floating-point units, which a function must preserve.
struct float_control {
  std::uint32_t sse = 0;
  std::uint16_t x87 = 0;

  static float_control now() noexcept {
    float_control c;
    asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(c.sse), "=m"(c.x87));
    return c;
  }
  // Writing takes longer than reading, and nearly all fibers have the same modes.
  void restore() const noexcept {
    const float_control c = now();
    if (c.sse != sse) asm volatile("ldmxcsr %0" : : "m"(sse));
    if (c.x87 != x87) asm volatile("fldcw %0" : : "m"(x87));
  }
};

#endif

}  // namespace tutti::platform
