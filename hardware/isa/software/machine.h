// SPDX-License-Identifier: Apache-2.0
// The devices of a tile, the shared memory, and the messages between the harness and the programs.
#pragma once

#include <stdint.h>

#define DEVICE(offset) (*(volatile uint32_t*)(0x20000000u + (offset)))
#define THIS_CORE DEVICE(0x00)
#define CORES DEVICE(0x04)
#define PRIVILEGED DEVICE(0x08)
// Writing n gives interrupt 0 in n cycles; privileged.
#define TIMER DEVICE(0x10)
// Writing a mask of cores gives interrupt 4 there; privileged.
#define IPI DEVICE(0x14)
#define TRACE(tag) DEVICE(0x40 + 4 * (tag))

enum trace_tag {
  // The last word of a core.
  TRACE_EXIT = 0,
  // barrier << 24 | episode, just before the barwait.
  TRACE_ARRIVE = 1,
  // The same, just after the barwait.
  TRACE_DEPART = 2,
  // A result.
  TRACE_VALUE = 3,
  // From the kernel: mask of the missing cores.
  TRACE_TIMEOUT = 5,
  // From the kernel: an interrupted barwait will be restarted.
  TRACE_RESTART = 6,
  // From the kernel: it refused a barwait or a privileged instruction; the data are the
  // instruction.
  TRACE_DENIED = 7,
  // From the kernel: the thread that runs from now on.
  TRACE_SWITCH = 8,
  // From the kernel: an access to memory that is not the thread's.
  TRACE_FAULT = 9,
  // From the kernel: it removed a barrier after a timeout.
  TRACE_BROKEN = 10,
  // From the kernel: it took a thread over from another core.
  TRACE_MOVED = 11
};

// The kernel's part; the user's part begins 4 KiB later.
#define SHARED 0x10000000u
// Bytes, as in rtl/tutti_isa_pkg.sv; an access behind it faults.
#define SHARED_SIZE 0x40000u
#define USER_SHARED (SHARED + 0x1000u)
// Bytes; consecutive lines are in consecutive banks.
#define LINE 128u
#define BANKS 16u

// The harness sets these before it starts the cores.
#define PARAMETER(i) (((volatile const uint32_t*)0xff00u)[i])
enum parameter {
  PARAM_PROGRAM = 0,
  PARAM_CORES = 1,
  PARAM_EPISODES = 2,
  // Threads of a core, 1 or 2.
  PARAM_THREADS = 3,
  // Cycles between context switches; 0 for none.
  PARAM_QUANTUM = 4,
  // For create_barrier.
  PARAM_TIMEOUT = 5,
  // After a timeout, 0 breaks the barrier and reports it, and 1 gives the same time again.
  PARAM_POLICY = 6,
  PARAM_A = 7,
  PARAM_B = 8,
  PARAM_SEED = 9,
  // The core that takes over a waiting thread at an external interrupt; 0 for none.
  PARAM_MOVE_TO = 10,
  // 1 at first, and one more after each reset.
  PARAM_BOOT = 11
};

static inline uint32_t cycles(void) {
  uint32_t now;
  __asm__ volatile("rdcycle %0" : "=r"(now));
  return now;
}

// ---- system calls ----

enum call { CALL_CREATE = 1, CALL_DESTROY = 2, CALL_YIELD = 3, CALL_EXIT = 5 };

// Result of a barwait; the low bits name the missing cores.
#define barrier_broken 0x80000000u
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

// Returns the index of a new barrier of the caller's group among its threads on the listed cores,
// or an error. The kernel checks the timeout (1 to 2^20 cycles) and the list (cores that run a
// thread of the group, each once, with the caller's among them).
static inline int32_t create_barrier(const uint8_t* cores, uint32_t count, uint32_t timeout) {
  return system_call(CALL_CREATE, (uint32_t)(uintptr_t)cores, count, timeout);
}
static inline int32_t destroy_barrier(uint32_t barrier) {
  return system_call(CALL_DESTROY, barrier, 0, 0);
}
static inline void yield(void) { system_call(CALL_YIELD, 0, 0, 0); }
