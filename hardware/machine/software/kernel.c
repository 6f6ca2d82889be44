// SPDX-License-Identifier: Apache-2.0
// The kernel: one thread on each core, in user mode. It takes timer and software interrupts, makes
// barriers of the hardware, restarts interrupted waits and decides after timeouts, and ends a
// thread that does what it must not, with a sentence that names the cause. It runs in machine mode
// with interrupts off, so a core's own state needs no lock.
#include "hardware/isa/software/isa.h"
#include "hardware/machine/software/block.h"
#include "hardware/machine/software/machine.h"

#define LONGEST_TIMEOUT (1u << 20)
// The kernel uses so many of a unit.
#define MOST_BARRIERS 16
#define MOST_SOCKETS 4
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
// Why a barwait did not depart, as the port tells.
enum refusal { REFUSED_INTERRUPT = 1, REFUSED_TIMEOUT = 2 };

// The registers of a thread; start.S saves and restores them. x[0] is the program counter.
struct frame {
  uint32_t x[32];
};
#define A0 10
#define A7 17

// What a core knows of its thread.
struct core {
  uint32_t group, signals, ticks;
  // What barcap says, or 0 without a barrier unit.
  uint32_t capacity;
  // The next timer interrupt of the quantum.
  uint64_t next_tick;
} __attribute__((aligned(CACHE_LINE)));

// A barrier of a socket's unit, beside what the unit keeps itself.
struct barrier {
  // barrier_broken | the missing cores.
  uint32_t broken;
  // Participants of a broken barrier that have not been told of it.
  uint32_t untold;
};

// The thread's group and core, its first trap and its data: all zero at the start.
static struct core core_of[MOST_CORES];
static struct barrier barriers[MOST_SOCKETS][MOST_BARRIERS];
// A line each, so that the console does not disturb the barriers.
static uint32_t barrier_lock __attribute__((aligned(CACHE_LINE)));
static uint32_t console_lock __attribute__((aligned(CACHE_LINE)));

extern void thread_start(void);
// Returns the result of barcap, or 0 if this core has no barrier unit.
extern uint32_t probe_barrier_unit(void);
extern char user_stacks[];

#define csr_read(name)                                               \
  ({                                                                 \
    uint32_t value_;                                                 \
    __asm__ volatile("csrr %0, " #name : "=r"(value_) : : "memory"); \
    value_;                                                          \
  })
#define csr_write(name, value) __asm__ volatile("csrw " #name ", %0" : : "r"(value) : "memory")
#define SOFTWARE_INTERRUPT (1u << 3)
#define TIMER_INTERRUPT (1u << 7)

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

static void print(const char* text) {
  for (; *text != '\0'; ++text) CONSOLE = (uint8_t)*text;
}
static void print_hex(uint32_t value) {
  print("0x");
  for (int shift = 28; shift >= 0; shift -= 4)
    CONSOLE = (uint8_t) "0123456789abcdef"[value >> shift & 15];
}

static uint32_t group_of(uint32_t core) { return PARAMETER(PARAM_GROUPS) == 2 ? 1 + core % 2 : 1; }

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

void kernel_boot(uint32_t me, struct frame* thread) {
  struct core* const core = &core_of[me];
  core->group = group_of(me);
  core->next_tick = FOREVER;
  const uint32_t quantum = PARAMETER(PARAM_QUANTUM);
  if (quantum != 0) core->next_tick = machine_time() + quantum;
  set_timer(core->next_tick);
  core->capacity = probe_barrier_unit();
  if (core->capacity != 0) barctx_write(CTX_GROUP, core->group);
  for (uint32_t i = 0; i < 32; ++i) thread->x[i] = 0;
  thread->x[0] = (uint32_t)&thread_start;
  thread->x[2] = (uint32_t)user_stacks + (me + 1) * STACK;
  thread->x[A0] = me;
  csr_write(mie, SOFTWARE_INTERRUPT | TIMER_INTERRUPT);
  // To user mode, with interrupts on.
  csr_write(mstatus, 0x80u);
}

// ---- barriers of the hardware ----

// Barriers and cores in a unit's masks are those of the socket.
static uint32_t place_in_socket(uint32_t core) { return core % cores_of_socket(); }
static struct barrier* state_of(uint32_t b) { return &barriers[THIS_SOCKET][b]; }
static uint32_t barriers_of_unit(void) {
  const uint32_t all = core_of[THIS_CORE].capacity >> 16;
  return all < MOST_BARRIERS ? all : MOST_BARRIERS;
}

// Installs on this core the barriers that name it.
static void install_all(void) {
  const uint32_t count = barriers_of_unit(), mine = 1u << place_in_socket(THIS_CORE);
  for (uint32_t b = 0; b < count; ++b)
    if ((barget(BAR_PARTICIPANTS, b) & mine) && !(barget(BAR_INSTALLED, b) & mine)) barinit(b);
}

static int32_t create(const uint8_t* list, uint32_t count, uint32_t timeout) {
  const uint32_t most = barriers_of_unit();
  if (most == 0) return ERROR_SOCKET;
  if (timeout == 0 || timeout > LONGEST_TIMEOUT) return ERROR_TIMEOUT;
  // Read the list only if it lies in the caller's own stack.
  const uint32_t me = THIS_CORE, first = (uint32_t)list;
  const uint32_t stack = (uint32_t)user_stacks + me * STACK;
  if (count == 0 || count > cores_of_socket() || first < stack || first > stack + STACK - count)
    return ERROR_LIST;
  const uint32_t group = core_of[me].group;
  uint32_t mask = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t core = list[i];
    if (core >= CORES || group_of(core) != group) return ERROR_LIST;
    if (core / cores_of_socket() != THIS_SOCKET) return ERROR_SOCKET;
    const uint32_t bit = 1u << place_in_socket(core);
    if (mask & bit) return ERROR_LIST;
    mask |= bit;
  }
  if (!(mask & 1u << place_in_socket(me))) return ERROR_LIST;

  uint32_t b = 0;
  lock(&barrier_lock);
  // A thread that has not been told yet that its barrier broke must not arrive at another one with
  // that number.
  while (b < most && (barget(BAR_PARTICIPANTS, b) != 0 || state_of(b)->untold != 0)) ++b;
  if (b < most) {
    state_of(b)->broken = 0;
    barset(BAR_OWNER, b, group);
    barset(BAR_TIMEOUT, b, timeout);
    barset(BAR_PARTICIPANTS, b, mask);
  }
  unlock(&barrier_lock);
  if (b == most) return ERROR_FULL;
  barinit(b);
  for (uint32_t i = 0; i < count; ++i)
    if (list[i] != me) SOFTWARE_SEND = list[i];
  return (int32_t)b;
}

static int32_t destroy(uint32_t b) {
  if (b >= barriers_of_unit()) return ERROR_OWNER;
  lock(&barrier_lock);
  const int there = barget(BAR_PARTICIPANTS, b) != 0 && state_of(b)->broken == 0 &&
                    barget(BAR_OWNER, b) == core_of[THIS_CORE].group;
  if (there) barset(BAR_PARTICIPANTS, b, 0);
  unlock(&barrier_lock);
  return there ? 0 : ERROR_OWNER;
}

static void set_register(struct frame* thread, uint32_t number, uint32_t value) {
  if (number != 0) thread->x[number] = value;
}

// Decides about a barwait that did not depart. The program counter is at it, so returning there
// restarts it.
static void serve_wait(struct frame* thread, uint32_t insn) {
  const uint32_t b = thread->x[insn >> 15 & 31], result = insn >> 7 & 31;
  const uint32_t why = barctx_read(CTX_CAUSE);
  if (why == REFUSED_INTERRUPT) return;
  const uint32_t mine = 1u << place_in_socket(THIS_CORE);
  lock(&barrier_lock);
  const int ours = b < barriers_of_unit() && barget(BAR_OWNER, b) == core_of[THIS_CORE].group;
  const uint32_t broken = ours ? state_of(b)->broken : 0;
  const uint32_t all = ours ? barget(BAR_PARTICIPANTS, b) : 0;
  int departs = 1;
  if (broken != 0 && !(barget(BAR_OWED, b) & mine)) {
    // This also holds for cores that time out at the same moment: the first one has broken the
    // barrier for all.
    state_of(b)->untold &= ~mine;
    set_register(thread, result, broken);
  } else if (why == REFUSED_TIMEOUT) {
    const uint32_t missing = all & ~barget(BAR_ARRIVED, b);
    trace(TRACE_TIMEOUT, missing);
    if (PARAMETER(PARAM_POLICY) == 0 && barset(BAR_BREAK, b, 0) == 0) {
      state_of(b)->broken = barrier_broken | missing;
      state_of(b)->untold = all & ~mine;
      trace(TRACE_BROKEN, b);
      set_register(thread, result, barrier_broken | missing);
    } else {
      // The last core has arrived meanwhile, or the policy is to wait on: wait once more.
      barctx_write(CTX_LEFT, barget(BAR_TIMEOUT, b));
      departs = 0;
    }
  } else if ((all & mine) && !(barget(BAR_INSTALLED, b) & mine)) {
    barinit(b);
    departs = 0;
  } else {
    trace(TRACE_DENIED, insn);
    set_register(thread, result, (uint32_t)ERROR_OWNER);
  }
  unlock(&barrier_lock);
  if (departs) thread->x[0] += 4;
}

// ---- calls, interrupts and misuse ----

// Signals and requests to install a barrier come by the same interrupt.
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

static void end_by_trap(const struct frame* thread, uint32_t cause, uint32_t value) {
  lock(&console_lock);
  print("core ");
  print_hex(THIS_CORE);
  print(", at ");
  print_hex(thread->x[0]);
  print(": ");
  print(what(cause));
  print_hex(value);
  print("\n");
  unlock(&console_lock);
  trace(TRACE_TRAP, cause << 16 | (value & 0xffffu));
  end(STATUS_TRAP | cause);
}

static int is_barwait(uint32_t insn) { return (insn & 0x707fu) == 0x2bu; }

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
    trace(TRACE_DENIED, insn);
    value = insn;
  }
  end_by_trap(thread, cause, value);
}
