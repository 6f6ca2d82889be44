// SPDX-License-Identifier: Apache-2.0
// The devices of a tile, the shared memory, and what the harness and the programs tell each other.
#pragma once

#include <stdint.h>

#define DEVICE(offset) (*(volatile uint32_t*)(0x20000000u + (offset)))
#define THIS_CORE DEVICE(0x00)
#define CORES DEVICE(0x04)
#define PRIVILEGED DEVICE(0x08)
#define TIMER DEVICE(0x10)  // write n: interrupt 0 in n cycles; privileged
#define IPI DEVICE(0x14)    // write a mask of cores: interrupt 4 there; privileged
#define TRACE(tag) DEVICE(0x40 + 4 * (tag))

enum trace_tag {
  TRACE_EXIT = 0,     // last word of a core
  TRACE_ARRIVE = 1,   // barrier << 24 | episode, just before the barwait
  TRACE_DEPART = 2,   // the same, just after
  TRACE_VALUE = 3,    // a result
  TRACE_TIMEOUT = 5,  // kernel: mask of those who are missing
  TRACE_RESTART = 6,  // kernel: an interrupted barwait will be restarted
  TRACE_DENIED = 7,   // kernel: a barwait or privileged instruction refused; the instruction
  TRACE_SWITCH = 8,   // kernel: the thread that runs from now on
  TRACE_FAULT = 9,    // kernel: memory that is not the thread's
  TRACE_BROKEN = 10,  // kernel: a barrier removed after a timeout
  TRACE_MOVED = 11    // kernel: a thread taken over from another core
};

#define SHARED 0x10000000u    // the kernel's; the user's begin 4 KiB later
#define SHARED_SIZE 0x40000u  // bytes, as rtl/tutti_isa_pkg.sv; what is behind it faults
#define USER_SHARED (SHARED + 0x1000u)
#define LINE 128u  // bytes; consecutive lines are in consecutive banks
#define BANKS 16u

// Filled in by the harness before it starts.
#define PARAMETER(i) (((volatile const uint32_t*)0xff00u)[i])
enum parameter {
  PARAM_PROGRAM = 0,
  PARAM_CORES = 1,
  PARAM_EPISODES = 2,
  PARAM_THREADS = 3,  // a core; 1 or 2
  PARAM_QUANTUM = 4,  // cycles between context switches; 0: none
  PARAM_TIMEOUT = 5,  // for create_barrier
  PARAM_POLICY =
      6,  // after a timeout. 0: break the barrier and report; 1: give the same time again
  PARAM_A = 7,
  PARAM_B = 8,
  PARAM_SEED = 9,
  PARAM_MOVE_TO = 10,  // core that takes a waiting thread over at an external interrupt; 0: none
  PARAM_BOOT = 11      // 1, and one more after each reset
};

static inline uint32_t cycles(void) {
  uint32_t now;
  __asm__ volatile("rdcycle %0" : "=r"(now));
  return now;
}

// ---- system calls ----

enum call { CALL_CREATE = 1, CALL_DESTROY = 2, CALL_YIELD = 3, CALL_EXIT = 5 };

#define barrier_broken \
  0x80000000u  // result of a barwait; the low bits name the cores that are missing
enum error {
  ERROR_TIMEOUT = -1,
  ERROR_LIST = -2,
  ERROR_FULL = -3,
  ERROR_OWNER = -4,
  ERROR_CALL = -5
};

static inline int32_t system_call(uint32_t number, uint32_t a, uint32_t b, uint32_t c) {
  register uint32_t a0 __asm__("a0") = a;
  register uint32_t a1 __asm__("a1") = b;
  register uint32_t a2 __asm__("a2") = c;
  register uint32_t a7 __asm__("a7") = number;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
  return (int32_t)a0;
}

// The index of a new barrier of the caller's group among its threads on the cores listed, or an error. The kernel vets
// the timeout (1 to 2^20 cycles) and the list (cores that run a thread of the group, each once, the caller's among them).
static inline int32_t create_barrier(const uint8_t* cores, uint32_t count, uint32_t timeout) {
  return system_call(CALL_CREATE, (uint32_t)(uintptr_t)cores, count, timeout);
}
static inline int32_t destroy_barrier(uint32_t barrier) {
  return system_call(CALL_DESTROY, barrier, 0, 0);
}
static inline void yield(void) { system_call(CALL_YIELD, 0, 0, 0); }
