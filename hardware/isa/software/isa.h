// SPDX-License-Identifier: Apache-2.0
// The barrier instructions, for C and C++. The README has the encodings.
#pragma once

#include <stdint.h>

// Arrives at a barrier and returns when all participants have arrived. Returns 0, or the kernel's
// report (barrier_broken | missing). Publishes what this thread wrote before; what the others wrote
// before is visible afterwards.
static inline uint32_t barwait(uint32_t barrier) {
  uint32_t result;
  __asm__ volatile(".insn r 0x2b, 0, 0, %0, %1, x0" : "=r"(result) : "r"(barrier) : "memory");
  return result;
}

// Returns the unit's number of participants in the low half and of barriers in the high half.
static inline uint32_t barcap(void) {
  uint32_t result;
  __asm__ volatile(".insn r 0x2b, 1, 0, %0, x0, x0" : "=r"(result));
  return result;
}

// ---- Privileged from here on. Results: 0, or 1 if the unit refuses. ----

static inline uint32_t barinit(uint32_t barrier) {
  uint32_t result;
  __asm__ volatile(".insn r 0x2b, 2, 0, %0, %1, x0" : "=r"(result) : "r"(barrier) : "memory");
  return result;
}

#define BAR_PARTICIPANTS 0
#define BAR_TIMEOUT 1
#define BAR_OWNER 2
#define BAR_ARRIVED 3
#define BAR_OWED 4
#define BAR_INSTALLED 5
#define BAR_BREAK 6
#define CTX_GROUP 0
#define CTX_LEFT 1
#define CTX_CAUSE 2

#define barset(field, barrier, value)                                               \
  ({                                                                                \
    uint32_t result_;                                                               \
    __asm__ volatile(".insn r 0x2b, 3, %3, %0, %1, %2"                              \
                     : "=r"(result_)                                                \
                     : "r"((uint32_t)(barrier)), "r"((uint32_t)(value)), "i"(field) \
                     : "memory");                                                   \
    result_;                                                                        \
  })
#define barget(field, barrier)                              \
  ({                                                        \
    uint32_t result_;                                       \
    __asm__ volatile(".insn r 0x2b, 4, %2, %0, %1, x0"      \
                     : "=r"(result_)                        \
                     : "r"((uint32_t)(barrier)), "i"(field) \
                     : "memory");                           \
    result_;                                                \
  })
#define barctx_read(field)                                                                       \
  ({                                                                                             \
    uint32_t result_;                                                                            \
    __asm__ volatile(".insn r 0x2b, 6, %1, %0, x0, x0" : "=r"(result_) : "i"(field) : "memory"); \
    result_;                                                                                     \
  })
#define barctx_write(field, value)                      \
  __asm__ volatile(".insn r 0x2b, 7, %1, x0, %0, x0"    \
                   :                                    \
                   : "r"((uint32_t)(value)), "i"(field) \
                   : "memory")

// Moves a thread to another core, with its participation, arrival and departure.
static inline uint32_t barmove(uint32_t barrier, uint32_t from, uint32_t to) {
  uint32_t result;
  __asm__ volatile(".insn r 0x2b, 5, 0, %0, %1, %2"
                   : "=r"(result)
                   : "r"(barrier), "r"(from | to << 8)
                   : "memory");
  return result;
}
