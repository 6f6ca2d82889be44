// SPDX-License-Identifier: Apache-2.0
// The devices of a tile, the parameters that the harness gives a program, the trace, and the
// system calls. The README has the address map.
#pragma once

#include <stdint.h>

// ---- the devices of this core's tile ----

#define DEVICE(offset) (*(volatile uint32_t*)(0x20000000u + (offset)))
#define THIS_CORE DEVICE(0x00)
#define CORES DEVICE(0x04)
#define SOCKETS DEVICE(0x08)
#define THIS_SOCKET DEVICE(0x0c)
// Writing anything clears this core's software interrupt; machine mode only.
#define SOFTWARE_CLEAR DEVICE(0x10)
// Writing n sends a software interrupt to core n; machine mode only.
#define SOFTWARE_SEND DEVICE(0x14)
// The clock of the whole machine, in cycles.
#define TIME_LOW DEVICE(0x18)
#define TIME_HIGH DEVICE(0x1c)
// The timer interrupt is pending from this time on; machine mode only.
#define COMPARE_LOW DEVICE(0x20)
#define COMPARE_HIGH DEVICE(0x24)
// The harness notes the cycle, the core and the word: a tag and 28 bits.
#define TRACE DEVICE(0x40)
#define CONSOLE DEVICE(0x44)
// The program of this core has ended with this status.
#define END DEVICE(0x48)

static inline void trace(uint32_t tag, uint32_t data) { TRACE = tag << 28 | (data & 0xfffffffu); }

enum trace_tag {
  // The episode, just before the barrier is called and just after it has returned.
  TRACE_ARRIVE = 1,
  TRACE_DEPART = 2,
  // A result. Those of one core stay in order.
  TRACE_VALUE = 3,
  // From core 0: the case that begins now. algorithm << 8 | participants.
  TRACE_CASE = 4,
  // A program found an error: its number.
  TRACE_WRONG = 5,
  // From the kernel: a thread was ended by a trap. cause << 16 | the low bits of its mtval.
  TRACE_TRAP = 6,
  // From the kernel: it refused a barwait. The low bits of the instruction.
  TRACE_DENIED = 7,
  // From the kernel: an interrupt was taken while the thread was in a barwait.
  TRACE_RESTART = 8,
  // From the kernel: cores of the socket that a barwait still lacks after its timeout.
  TRACE_TIMEOUT = 9,
  // From the kernel: it removed this barrier after a timeout.
  TRACE_BROKEN = 10
};

// ---- parameters, which the harness writes into the image before the start ----

#define PARAMETERS 0x80u
#define PARAMETER(i) (((volatile const uint32_t*)PARAMETERS)[i])
enum parameter {
  // Which part of a program to run.
  PARAM_PROGRAM = 0,
  // The cores that take part, from core 0 on; 0 for all. The others end at once.
  PARAM_CORES = 1,
  PARAM_EPISODES = 2,
  // Which algorithm.
  PARAM_ALGORITHM = 3,
  // The longest random delay, in steps of a loop.
  PARAM_DELAY = 4,
  PARAM_SEED = 5,
  // Cycles between two timer interrupts of a core; 0 for none.
  PARAM_QUANTUM = 6,
  // For create_barrier.
  PARAM_TIMEOUT = 7,
  // After a timeout, 0 breaks the barrier and reports it, and 1 gives the same time again.
  PARAM_POLICY = 8,
  // The threads of even and odd cores belong to so many groups, 1 (or 0) or 2.
  PARAM_GROUPS = 9,
  PARAM_A = 10,
  PARAM_B = 11
};

// ---- memory ----

// The image begins at 0; it is read-only and holds the program.
#define IMAGE_SIZE 0x400000u
// The kernel's part of the RAM is machine mode only; programs begin behind it.
#define RAM 0x80000000u
#define KERNEL_RAM 0x10000u
#define CACHE_LINE 64u
// The largest machine.
#define MOST_CORES 64u
// Bytes of a thread's stack.
#define STACK 4096u

static inline uint32_t cycles(void) {
  uint32_t now;
  __asm__ volatile("rdcycle %0" : "=r"(now));
  return now;
}

// Returns the clock of the whole machine.
static inline uint64_t machine_time(void) {
  uint32_t high, low;
  do {
    high = TIME_HIGH;
    low = TIME_LOW;
  } while (TIME_HIGH != high);
  return (uint64_t)high << 32 | low;
}

// ---- system calls ----

enum call {
  CALL_EXIT = 0,
  CALL_CREATE = 1,
  CALL_DESTROY = 2,
  CALL_SIGNAL = 3,
  CALL_AWAIT = 4,
  CALL_TICKS = 5
};

// The result of a barwait; the low bits name the missing cores of the socket.
#define barrier_broken 0x80000000u
enum error {
  ERROR_TIMEOUT = -1,
  ERROR_LIST = -2,
  ERROR_FULL = -3,
  ERROR_OWNER = -4,
  ERROR_CALL = -5,
  ERROR_CORE = -6,
  ERROR_SOCKET = -7
};
// The status of a thread that a trap has ended: this, and the cause.
#define STATUS_TRAP 0x100u

static inline int32_t system_call(uint32_t number, uint32_t a, uint32_t b, uint32_t c) {
  register uint32_t a0 __asm__("a0") = a;
  register uint32_t a1 __asm__("a1") = b;
  register uint32_t a2 __asm__("a2") = c;
  register uint32_t a7 __asm__("a7") = number;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
  return (int32_t)a0;
}

// Returns the number of a new barrier of the caller's group among its threads on the listed cores,
// or an error. The kernel checks the timeout (1 to 2^20 cycles) and the list: cores of the caller's
// socket that run a thread of the group, each once, with the caller's among them.
static inline int32_t create_barrier(const uint8_t* cores, uint32_t count, uint32_t timeout) {
  return system_call(CALL_CREATE, (uint32_t)(uintptr_t)cores, count, timeout);
}
static inline int32_t destroy_barrier(uint32_t barrier) {
  return system_call(CALL_DESTROY, barrier, 0, 0);
}
// Interrupts the core on which another thread runs.
static inline int32_t signal_core(uint32_t core) { return system_call(CALL_SIGNAL, core, 0, 0); }
// Halts this core until a signal has come since the last call, or so many cycles have passed.
// Returns how many came.
static inline uint32_t await_signal(uint32_t most_cycles) {
  return (uint32_t)system_call(CALL_AWAIT, most_cycles, 0, 0);
}
// Returns the number of timer interrupts that this core has taken.
static inline uint32_t timer_ticks(void) { return (uint32_t)system_call(CALL_TICKS, 0, 0, 0); }
