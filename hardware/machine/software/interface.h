// SPDX-License-Identifier: Apache-2.0
// What the programs, the kernel and the harness agree about. C, C++ and the harness include it.
#pragma once

// The largest machine.
#define MOST_CORES 64u

// ---- the trace ----

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
  // From the kernel: cores of the socket that a barwait still lacks after its timeout. A trace has
  // 28 bits, so the cores from the 29th on are not among them.
  TRACE_TIMEOUT = 9,
  // From the kernel: it removed this barrier after a timeout.
  TRACE_BROKEN = 10,
  // From the kernel: the handler of a timeout begins. The barrier.
  TRACE_SIGNAL = 11
};

// ---- parameters, which the harness writes into the image before the start ----

#define PARAMETERS 0x80u
enum parameter {
  // Which part of a program to run.
  PARAM_PROGRAM = 0,
  PARAM_EPISODES = 1,
  // Which algorithm.
  PARAM_ALGORITHM = 2,
  // The longest random delay, in steps of a loop.
  PARAM_DELAY = 3,
  PARAM_SEED = 4,
  // Cycles between two timer interrupts of a core; 0 for none.
  PARAM_QUANTUM = 5,
  // For create_barrier.
  PARAM_TIMEOUT = 6,
  // After a timeout of a thread without a handler: POLICY_BREAK or POLICY_WAIT_ON.
  PARAM_POLICY = 7,
  // Even and odd threads belong to so many groups, 1 (or 0) or 2.
  PARAM_GROUPS = 8,
  PARAM_A = 9,
  PARAM_B = 10
};

// What happens after a timeout: the kernel breaks the barrier for all and reports it, gives the
// same time again, or lets the thread go on in its handler, which chooses one of the first two.
enum policy { POLICY_BREAK = 0, POLICY_WAIT_ON = 1, POLICY_SIGNAL = 2 };

// ---- results ----

// The result of a barwait; the low bits name the missing cores of the socket. They cannot name its
// 32nd core, whose bit is this one.
#define barrier_broken 0x80000000u
enum error {
  ERROR_TIMEOUT = -1,
  ERROR_LIST = -2,
  ERROR_FULL = -3,
  ERROR_OWNER = -4,
  ERROR_CALL = -5,
  ERROR_CORE = -6
};
// The status of a thread that a trap has ended: this, and the cause.
#define STATUS_TRAP 0x100u
