// SPDX-License-Identifier: Apache-2.0
// The kernel: one thread on each core, in user mode. It takes timer and software interrupts, serves
// system calls, and ends a thread that does what it must not, with a sentence that names the cause.
// What it does about barriers is in kernel_barriers.h. It runs in machine mode with interrupts off,
// so a core's own state needs no lock.
#include "hardware/machine/software/kernel.h"

#include "hardware/isa/software/isa.h"
#include "hardware/machine/software/block.h"
#include "hardware/machine/software/kernel_barriers.h"
#include "hardware/machine/software/messages.h"

_Static_assert(CALL_RESUME == RESUME_CALL, "start.S ends a handler by this call");

#define FOREVER 0xffffffffffffffffull

#define INTERRUPT 0x80000000u
enum cause {
  CAUSE_FETCH = 1,
  CAUSE_ILLEGAL = 2,
  CAUSE_BREAKPOINT = 3,
  CAUSE_LOAD_MISALIGNED = 4,
  CAUSE_LOAD = 5,
  CAUSE_STORE_MISALIGNED = 6,
  CAUSE_STORE = 7,
  CAUSE_CALL = 8,
  // An instruction of the extension did not complete; the port tells why.
  CAUSE_EXTENSION = 24,
  CAUSE_SOFTWARE_INTERRUPT = 3,
  CAUSE_TIMER_INTERRUPT = 7
};
// A line of its own, so that the console does not disturb the barriers.
static uint32_t console_lock __attribute__((aligned(CACHE_LINE)));

extern void thread_start(void);

#define csr_read(name)                                               \
  ({                                                                 \
    uint32_t value_;                                                 \
    __asm__ volatile("csrr %0, " #name : "=r"(value_) : : "memory"); \
    value_;                                                          \
  })
#define csr_write(name, value) __asm__ volatile("csrw " #name ", %0" : : "r"(value) : "memory")
#define SOFTWARE_INTERRUPT (1u << 3)
#define TIMER_INTERRUPT (1u << 7)

static void print(const char* text) {
  for (; *text != '\0'; ++text) CONSOLE = (uint8_t)*text;
}
static void print_hex(uint32_t value) {
  print("0x");
  for (int shift = 28; shift >= 0; shift -= 4)
    CONSOLE = (uint8_t) "0123456789abcdef"[value >> shift & 15];
}

static void set_timer(uint64_t when) {
  // In between, the time is never earlier than both the old one and the new one.
  COMPARE_HIGH = 0xffffffffu;
  COMPARE_LOW = (uint32_t)when;
  COMPARE_HIGH = (uint32_t)(when >> 32);
}

static void halt(void) {
  csr_write(mie, 0);
  for (;;) __asm__ volatile("wfi");
}

static void end(uint32_t status) {
  END = status;
  halt();
}

// Threads send remote calls to those of their own group.
static void allow_calls(uint32_t group) {
  uint64_t callable = 0;
  for (uint32_t core = 0; core < CORES; ++core)
    if (group_of(core) == group) callable |= 1ull << core;
  CALLABLE_LOW = (uint32_t)callable;
  CALLABLE_HIGH = (uint32_t)(callable >> 32);
}

void kernel_boot(uint32_t me, struct frame* thread) {
  struct core* const core = &core_of[me];
  core->group = group_of(me);
  core->next_tick = FOREVER;
  const uint32_t quantum = PARAMETER(PARAM_QUANTUM);
  if (quantum != 0) core->next_tick = machine_time() + quantum;
  set_timer(core->next_tick);
  allow_calls(core->group);
  core->capacity = barcap();
  if (core->capacity != 0) barctx_write(CTX_GROUP, core->group);
  for (uint32_t i = 0; i < 32; ++i) thread->x[i] = 0;
  interrupted(thread)->x[0] = 0;
  thread->x[0] = (uint32_t)&thread_start;
  thread->x[2] = (uint32_t)user_stacks + (me + 1) * STACK;
  thread->x[A0] = me;
  csr_write(mie, SOFTWARE_INTERRUPT | TIMER_INTERRUPT);
  // To user mode, with interrupts on.
  csr_write(mstatus, 0x80u);
}

// Signals and requests to install or remove a barrier come by the same interrupt, and await counts
// both.
static void take_software_interrupt(struct core* core) {
  SOFTWARE_CLEAR = 0;
  ++core->signals;
  install_all();
}

static uint32_t take_signals(struct core* core) {
  const uint32_t taken = core->signals;
  core->signals = 0;
  return taken;
}

static uint32_t await(struct core* core, uint32_t most_cycles) {
  const uint64_t until = machine_time() + most_cycles;
  set_timer(until);
  while (core->signals == 0 && machine_time() < until) {
    __asm__ volatile("wfi");
    if (csr_read(mip) & SOFTWARE_INTERRUPT) take_software_interrupt(core);
  }
  set_timer(core->next_tick);
  return take_signals(core);
}

static int32_t send_signal(uint32_t core) {
  if (core >= CORES) return ERROR_CORE;
  SOFTWARE_SEND = core;
  return 0;
}

static int32_t take_remote_calls(uint32_t entry) {
  if (entry % 4 != 0 || entry >= IMAGE_SIZE) return ERROR_CALL;
  // mrcentry, and in mrcall that user mode takes calls. The call can come from a handler, whose
  // registers bit 2 keeps.
  csr_write(0x7c1, entry);
  __asm__ volatile("csrci 0x7c0, 2" ::: "memory");
  __asm__ volatile("csrsi 0x7c0, 1" ::: "memory");
  return 0;
}

static void serve_call(struct frame* thread, struct core* core) {
  const uint32_t a = thread->x[A0], b = thread->x[A0 + 1], c = thread->x[A0 + 2];
  thread->x[0] += 4;
  int32_t result = ERROR_CALL;
  switch (thread->x[A7]) {
    case CALL_EXIT: end(a); break;
    case CALL_CREATE: result = create((const uint8_t*)a, b, c); break;
    case CALL_DESTROY: result = destroy(a); break;
    case CALL_SIGNAL: result = send_signal(a); break;
    case CALL_AWAIT: result = (int32_t)await(core, a); break;
    case CALL_TICKS: result = (int32_t)core->ticks; break;
    case CALL_CREATE_STRUCTURE: result = create_structure((const uint8_t*)a, b, c); break;
    case CALL_OPEN: result = open(a, b); break;
    case CALL_ON_TIMEOUT: result = set_on_timeout(a); break;
    case CALL_RESUME: result = resume(thread, a); break;
    case CALL_TAKE_CALLS: result = take_remote_calls(a); break;
    default: break;
  }
  thread->x[A0] = (uint32_t)result;
}

static void tick(struct core* core) {
  ++core->ticks;
  core->next_tick = machine_time() + PARAMETER(PARAM_QUANTUM);
  set_timer(core->next_tick);
}

static const char* what(uint32_t cause) {
  switch (cause) {
    case CAUSE_FETCH: return "it jumped to where there is no program: ";
    case CAUSE_ILLEGAL:
      return "an instruction that does not exist or that user mode must not use: ";
    case CAUSE_BREAKPOINT: return "a breakpoint at ";
    case CAUSE_LOAD_MISALIGNED: return "a load from an address that is not aligned: ";
    case CAUSE_LOAD: return "a load from memory that is not there or not its own: ";
    case CAUSE_STORE_MISALIGNED: return "a store to an address that is not aligned: ";
    case CAUSE_STORE: return "a store to memory that is not there or not its own: ";
    case CAUSE_EXTENSION:
      return "an instruction of the barrier unit that only the kernel may use: ";
    default: return "a trap of unknown cause: ";
  }
}

static void end_with(const struct frame* thread, const char* sentence, uint32_t cause,
                     uint32_t value) {
  lock(&console_lock);
  print("core ");
  print_hex(THIS_CORE);
  print(", at ");
  print_hex(thread->x[0]);
  print(": ");
  print(sentence);
  print_hex(value);
  print("\n");
  unlock(&console_lock);
  trace(TRACE_TRAP, cause << 16 | (value & 0xffffu));
  end(STATUS_TRAP | cause);
}

static void end_by_trap(const struct frame* thread, uint32_t cause, uint32_t value) {
  end_with(thread, what(cause), cause, value);
}

static int is_barwait(uint32_t insn) { return (insn & 0xfe00707fu) == 0x2bu; }

// Returns the instruction at an address, or 0 if there is none.
static uint32_t instruction_at(uint32_t pc) { return pc < IMAGE_SIZE ? *(const uint32_t*)pc : 0; }

void kernel_trap(struct frame* thread, uint32_t cause, uint32_t value) {
  struct core* const core = &core_of[THIS_CORE];
  // The kernel itself traps only if it is wrong.
  if ((csr_read(mstatus) >> 11 & 3) != 0) {
    print("the kernel trapped: ");
    end_by_trap(thread, cause, value);
  }
  if (cause & INTERRUPT) {
    // mepc is at the instruction that was interrupted, if it was a barwait that has not departed.
    if (is_barwait(instruction_at(thread->x[0]))) trace(TRACE_RESTART, thread->x[0]);
    if ((cause & ~INTERRUPT) == CAUSE_TIMER_INTERRUPT)
      tick(core);
    else
      take_software_interrupt(core);
    return;
  }
  if (cause == CAUSE_CALL) return serve_call(thread, core);
  if (cause == CAUSE_EXTENSION) {
    const uint32_t insn = instruction_at(thread->x[0]);
    if (is_barwait(insn)) return serve_wait(thread, insn);
    const uint32_t why = is_of_mailbox(insn) ? message_cause() : 0;
    if (why != 0) end_with(thread, message_complaint(why), cause, why);
    trace(TRACE_DENIED, insn);
    value = insn;
  }
  end_by_trap(thread, cause, value);
}
