// SPDX-License-Identifier: Apache-2.0
// The instructions of the mailbox, for C and C++: messages.md has their encodings and rules. The
// functions are those of Naylor et al. 2020, sections II-B and III.
#pragma once

#include <stdint.h>

// Words of a message at most, and slots of a mailbox, as rtl/tutti_machine_config_pkg.sv says.
#define MESSAGE_WORDS 4u
#define MESSAGE_SLOTS 16u

// The words of a slot. The mailbox owns a slot from message_alloc to message_receive; meanwhile a
// store to it is a fault.
static inline volatile uint32_t* message_slot(uint32_t slot) {
  return (volatile uint32_t*)(0x30000000u + slot * 64u);
}

#define MESSAGE_CAN_SEND 1u
#define MESSAGE_CAN_RECEIVE 2u

// Returns MESSAGE_CAN_SEND if there is room for a message, and MESSAGE_CAN_RECEIVE if one has come.
static inline uint32_t message_status(void) {
  uint32_t status;
  __asm__ volatile(".insn r 0x0b, 0, 0, %0, x0, x0" : "=r"(status) : : "memory");
  return status;
}

// Sends the first words of a slot to a core, and returns 1; without room it does nothing, and
// returns 0. Never waits. The slot can be written again at once.
static inline uint32_t message_send(uint32_t core, uint32_t slot, uint32_t words) {
  uint32_t sent;
  __asm__ volatile(".insn r 0x0b, 1, 0, %0, %1, %2"
                   : "=r"(sent)
                   : "r"(core), "r"(words << 8 | slot)
                   : "memory");
  return sent;
}

// Gives an own slot to the mailbox, for a message.
static inline void message_alloc(uint32_t slot) {
  __asm__ volatile(".insn r 0x0b, 2, 0, x0, %0, x0" : : "r"(slot) : "memory");
}

// Takes the oldest message, of which there must be one. Returns its slot, which is the program's
// again, its length << 8 and its sender << 16.
static inline uint32_t message_receive(void) {
  uint32_t got;
  __asm__ volatile(".insn r 0x0b, 3, 0, %0, x0, x0" : "=r"(got) : : "memory");
  return got;
}

// Parks this thread until a message has come (returns 0), or all threads are in this call and no
// message is under way (returns 1, or 2 if all voted 1).
static inline uint32_t message_idle(uint32_t vote) {
  uint32_t result;
  __asm__ volatile(".insn r 0x0b, 4, 0, %0, %1, x0" : "=r"(result) : "r"(vote) : "memory");
  return result;
}

// What becomes of the values that threads give to message_idle_with: numbered as in
// hardware/detector/rtl/tutti_detector_pkg.sv. A sum wraps.
enum message_aggregator {
  MESSAGE_NO_VALUE = 0,
  MESSAGE_SUM = 1,
  MESSAGE_MIN = 2,
  MESSAGE_MAX = 3,
  MESSAGE_AND = 4,
  MESSAGE_OR = 5,
  MESSAGE_MIN_UNSIGNED = 6,
  MESSAGE_MAX_UNSIGNED = 7
};
// message_idle that gives a value. If it returns 0, the value has not been used.
static inline uint32_t message_idle_with(uint32_t vote, uint32_t how, uint32_t value) {
  uint32_t result;
  __asm__ volatile(".insn r 0x0b, 4, 0, %0, %1, %2"
                   : "=r"(result)
                   : "r"((vote & 1) | how << 8), "r"(value)
                   : "memory");
  return result;
}
// The total of the values with which the threads of this group were idle, until their next release.
// It is refused if nobody gave one, or if they named different aggregators.
static inline uint32_t message_total(void) {
  uint32_t total;
  __asm__ volatile(".insn r 0x0b, 0, 1, %0, x0, x0" : "=r"(total) : : "memory");
  return total;
}

// Group 0 is that of all threads, in which each begins. After the next release this thread goes on
// in that group, and stays there. Returns its group. A thread of a group other than 0 can only go
// back to 0.
static inline uint32_t message_next_group(uint32_t group) {
  uint32_t now;
  __asm__ volatile(".insn r 0x0b, 1, 1, %0, %1, x0" : "=r"(now) : "r"(group) : "memory");
  return now;
}

// Parks this thread until one of these is so; returns the status.
static inline uint32_t message_wait(uint32_t wanted) {
  uint32_t status;
  __asm__ volatile(".insn r 0x0b, 5, 0, %0, %1, x0" : "=r"(status) : "r"(wanted) : "memory");
  return status;
}

// Why the mailbox refused the last instruction, numbered as in rtl/tutti_machine_message_pkg.sv.
enum message_cause {
  MESSAGE_NO_CORE = 2,
  MESSAGE_TOO_LONG = 3,
  MESSAGE_NO_SLOT = 4,
  MESSAGE_GIVEN = 5,
  MESSAGE_NONE = 6,
  MESSAGE_IN_IDLE = 7,
  MESSAGE_STRANGER = 8,
  MESSAGE_NO_GROUP = 9,
  MESSAGE_FROM_GROUP = 10,
  MESSAGE_NO_TOTAL = 11,
  MESSAGE_MIXED = 12
};
static inline int is_of_mailbox(uint32_t insn) { return (insn & 0x7fu) == 0x0bu; }
static inline const char* message_complaint(uint32_t cause) {
  switch (cause) {
    case MESSAGE_NO_CORE: return "a message to a core that does not exist, cause ";
    case MESSAGE_TOO_LONG: return "a message that is too long, cause ";
    case MESSAGE_NO_SLOT: return "a slot that the mailbox does not have, cause ";
    case MESSAGE_GIVEN: return "a slot that belongs to the mailbox, cause ";
    case MESSAGE_NONE: return "a receive without a message, cause ";
    case MESSAGE_IN_IDLE: return "an instruction of the mailbox while the thread is idle, cause ";
    case MESSAGE_STRANGER: return "a message to a thread of another group, cause ";
    case MESSAGE_NO_GROUP: return "a group that does not exist, cause ";
    case MESSAGE_FROM_GROUP: return "a group that is entered from another one than 0, cause ";
    case MESSAGE_NO_TOTAL: return "a total of no values, cause ";
    case MESSAGE_MIXED: return "a total of values for different aggregators, cause ";
    default: return "an instruction of the mailbox, cause ";
  }
}
static inline uint32_t message_cause(void) {
  uint32_t cause;
  __asm__ volatile(".insn r 0x0b, 6, 0, %0, x0, x0" : "=r"(cause));
  return cause;
}
