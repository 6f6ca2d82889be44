// SPDX-License-Identifier: Apache-2.0
// What kernel.c and its part about barriers (kernel_barriers.h) share.
#pragma once

#include "hardware/machine/software/machine.h"

#define MOST_STRUCTURES 8

// The registers of a thread; start.S saves and restores them. x[0] is the program counter.
struct frame {
  uint32_t x[32];
};
// While a handler of a timeout runs, what its thread had in its registers at the barwait; otherwise
// x[0] is 0. It lies behind the thread's frame.
static struct frame* interrupted(struct frame* thread) { return thread + 1; }
#define A0 10
#define A7 17

// What a core knows of its thread.
struct core {
  uint32_t group, signals, ticks;
  // What barcap says, or 0 without a barrier unit.
  uint32_t capacity;
  // What this core has installed: wide_changes, and the number of each barrier.
  uint32_t changes, installed[MOST_STRUCTURES];
  // Where the handler of its timeouts begins, or 0.
  uint32_t on_timeout;
  // The next timer interrupt of the quantum.
  uint64_t next_tick;
} __attribute__((aligned(CACHE_LINE)));

// All zero at the start.
static struct core core_of[MOST_CORES];

extern char user_stacks[];

static void lock(uint32_t* word) {
  // acquire: pairs with unlock, so that what the last owner wrote is seen.
  while (__atomic_exchange_n(word, 1u, __ATOMIC_ACQUIRE) != 0)
    // relaxed: the exchange decides; waiters poll their own copy of the line.
    while (__atomic_load_n(word, __ATOMIC_RELAXED) != 0) {
    }
}
static void unlock(uint32_t* word) {
  // release: publishes what was written under the lock.
  __atomic_store_n(word, 0u, __ATOMIC_RELEASE);
}

static uint32_t group_of(uint32_t core) { return PARAMETER(PARAM_GROUPS) == 2 ? 1 + core % 2 : 1; }
