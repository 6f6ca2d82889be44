// SPDX-License-Identifier: Apache-2.0
// The devices of a tile, the memory, and the system calls. The README has the address map.
#pragma once

#include <stdint.h>

#include "hardware/machine/software/interface.h"

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
// Writing n sends a remote call to core n; user mode may send it to the cores whose bits are set in
// CALLABLE, which machine mode writes. To all others: EVERYBODY, here and in SOFTWARE_SEND.
#define REMOTE_CALL DEVICE(0x2c)
#define CALLABLE_LOW DEVICE(0x30)
#define CALLABLE_HIGH DEVICE(0x34)
#define EVERYBODY 0xffffffffu
// The harness notes the cycle, the core and the word: a tag and 28 bits.
#define TRACE DEVICE(0x40)
#define CONSOLE DEVICE(0x44)
// The program of this core has ended with this status.
#define END DEVICE(0x48)

// ---- the barrier units that are reached by addresses (tutti_machine_units) ----

// Each socket has a structure; the counting and the mask unit are in socket 0. Registers have 64
// bits: a store to the high half (offset + 4) waits for the one to the low half, which sends both.
#define DEVICE_STRUCTURE 0u
#define DEVICE_COUNTING 1u
#define DEVICE_MASK 2u
#define UNIT(socket, device, offset) \
  (*(volatile uint32_t*)(0x50000000u + ((socket) << 25) + ((device) << 23) + (offset)))
// Programs arrive at the counting unit, and read its number of completed episodes.
#define COUNTING_TRIGGER(copy, thread) \
  UNIT(0u, DEVICE_COUNTING, 0x4000u + (copy)*0x2000u + (thread)*64u)
#define COUNTING_EPISODES(copy, thread) \
  UNIT(0u, DEVICE_COUNTING, 0x8004u + (copy)*0x2000u + (thread)*64u)

// The numbers of barriers: below FIRST_STRUCTURE those of the socket's barrier unit.
#define FIRST_STRUCTURE 128u
#define MASK_BARRIER 192u

static inline void trace(uint32_t tag, uint32_t data) { TRACE = tag << 28 | (data & 0xfffffffu); }

#define PARAMETER(i) (((volatile const uint32_t*)PARAMETERS)[i])

// ---- memory ----

// The image begins at 0; it is read-only and holds the program.
#define IMAGE_SIZE 0x400000u
// The kernel's part of the RAM is machine mode only; programs begin behind it.
#define RAM 0x80000000u
#define KERNEL_RAM 0x10000u
#define CACHE_LINE 64u
// Bytes of a thread's stack.
#define STACK 4096u

static inline uint32_t cycles(void) {
  uint32_t now;
  // No access of the memory may move across it.
  __asm__ volatile("rdcycle %0" : "=r"(now) : : "memory");
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

// Cores are numbered socket by socket. Thread n runs on core n.
static inline uint32_t cores_of_socket(void) { return CORES / SOCKETS; }

// ---- system calls ----

enum call {
  CALL_EXIT = 0,
  CALL_CREATE = 1,
  CALL_DESTROY = 2,
  CALL_SIGNAL = 3,
  CALL_AWAIT = 4,
  CALL_TICKS = 5,
  CALL_CREATE_STRUCTURE = 6,
  CALL_OPEN = 7,
  CALL_ON_TIMEOUT = 8,
  CALL_RESUME = 9,
  CALL_TAKE_CALLS = 16
};

static inline int32_t system_call(uint32_t number, uint32_t a, uint32_t b, uint32_t c) {
  register uint32_t a0 __asm__("a0") = a;
  register uint32_t a1 __asm__("a1") = b;
  register uint32_t a2 __asm__("a2") = c;
  register uint32_t a7 __asm__("a7") = number;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
  return (int32_t)a0;
}

// Returns the number of a new barrier of the threads on the listed cores, or an error. The kernel
// checks the timeout (1 to 2^20 cycles) and the list, which lies on the caller's stack: cores whose
// threads are in its group, each once, with the caller's among them. If all are in the caller's
// socket, the barrier is one of the socket's unit, and otherwise one of the structures.
static inline int32_t create_barrier(const uint8_t* cores, uint32_t count, uint32_t timeout) {
  return system_call(CALL_CREATE, (uint32_t)(uintptr_t)cores, count, timeout);
}
// The same, and the barrier is one of the structures in any case.
static inline int32_t create_structure_barrier(const uint8_t* cores, uint32_t count,
                                               uint32_t timeout) {
  return system_call(CALL_CREATE_STRUCTURE, (uint32_t)(uintptr_t)cores, count, timeout);
}
// Opens the counting unit (DEVICE_COUNTING), or the mask unit, whose barrier is MASK_BARRIER, for
// the threads 0 to count - 1, once.
static inline int32_t open_unit(uint32_t device, uint32_t count) {
  return system_call(CALL_OPEN, device, count, 0);
}
static inline int32_t destroy_barrier(uint32_t barrier) {
  return system_call(CALL_DESTROY, barrier, 0, 0);
}
// Lets this thread go on at `entry` when a wait of it at a barrier of the socket's unit has taken
// too long: timeout_entry, which calls timeout_handler, or 0 for none. The thread has arrived, and
// its arrival stands while the handler runs, which may change all registers. The handler returns
// POLICY_WAIT_ON, and the wait goes on with the same time again; or POLICY_BREAK, and the kernel
// breaks the barrier for all. If the episode has ended meanwhile, the wait departs in either case;
// if another core has broken the barrier, the wait reports that. A timeout inside a handler has no
// handler.
static inline int32_t on_timeout(void (*entry)(void)) {
  return system_call(CALL_ON_TIMEOUT, (uint32_t)(uintptr_t)entry, 0, 0);
}
// Interrupts another core.
static inline int32_t signal_core(uint32_t core) { return system_call(CALL_SIGNAL, core, 0, 0); }
// Halts this core until a software interrupt has come since the last call, or so many cycles have
// passed. Returns how many came: one may stand for several signals, and those by which the kernel
// installs a barrier on its participants or removes it count, too. So a caller looks whether there
// is what it waits for.
static inline uint32_t await_signal(uint32_t most_cycles) {
  return (uint32_t)system_call(CALL_AWAIT, most_cycles, 0, 0);
}
// Lets remote calls of the threads of this group interrupt this core from now on: they enter at
// `entry`, an address of the program (remote_call_entry, or another that ends with uret), in user
// mode. Calls that came before come at once; calls that come together are one.
static inline int32_t take_calls(void (*entry)(void)) {
  return system_call(CALL_TAKE_CALLS, (uint32_t)(uintptr_t)entry, 0, 0);
}
// While calls are masked, they wait; wfi ends when one comes, also if it is masked.
static inline void mask_calls(void) { __asm__ volatile("csrsi 0x800, 1" ::: "memory"); }
static inline void unmask_calls(void) { __asm__ volatile("csrci 0x800, 1" ::: "memory"); }
// Returns the number of timer interrupts that this core has taken.
static inline uint32_t timer_ticks(void) { return (uint32_t)system_call(CALL_TICKS, 0, 0, 0); }
