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
  MESSAGE_IN_IDLE = 7
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
    default: return "an instruction of the mailbox, cause ";
  }
}
static inline uint32_t message_cause(void) {
  uint32_t cause;
  __asm__ volatile(".insn r 0x0b, 6, 0, %0, x0, x0" : "=r"(cause));
  return cause;
}
