// SPDX-License-Identifier: Apache-2.0
// The kernel: one thread on each core, in user mode. It takes timer and software interrupts, makes
// barriers of the hardware, restarts interrupted waits and decides after timeouts, and ends a
// thread that does what it must not, with a sentence that names the cause. It runs in machine mode
// with interrupts off, so a core's own state needs no lock.
#include "hardware/isa/software/isa.h"
#include "hardware/machine/software/block.h"
#include "hardware/machine/software/machine.h"
#include "hardware/machine/software/messages.h"

#define LONGEST_TIMEOUT (1u << 20)
// The kernel uses so many of a unit.
#define MOST_BARRIERS 16
#define MOST_SOCKETS 4
#define MOST_STRUCTURES 8
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
  // What this core has installed: wide_changes, and the number of each barrier.
  uint32_t changes, installed[MOST_STRUCTURES];
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

// A bit for each core of each socket.
struct members {
  uint32_t of_socket[MOST_SOCKETS][2];
};
// A barrier of the structures. `timeout` is 0 if there is none; `made` counts how often there was
// one.
struct wide_barrier {
  struct members members;
  uint32_t timeout, group, made;
};

// All zero at the start.
static struct core core_of[MOST_CORES];
static struct barrier barriers[MOST_SOCKETS][MOST_BARRIERS];
static struct wide_barrier wide_barriers[MOST_STRUCTURES];
// Twice how often wide_barriers has changed, odd while it changes; cores of the units' barriers.
static uint32_t wide_changes, mask_size, counting_size;
// A line each, so that the console does not disturb the barriers.
static uint32_t barrier_lock __attribute__((aligned(CACHE_LINE)));
static uint32_t console_lock __attribute__((aligned(CACHE_LINE)));

extern void thread_start(void);
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

static int is_member(const struct members* m, uint32_t core) {
  const uint32_t place = place_in_socket(core);
  return m->of_socket[core / cores_of_socket()][place / 32] >> place % 32 & 1;
}

// wide_barriers changes between these two, under the lock. All cores read it at once, without the
// lock, and again if it changes meanwhile.
static void begin_change(void) {
  // relaxed: the fence orders it.
  __atomic_store_n(&wide_changes, wide_changes + 1, __ATOMIC_RELAXED);
  // release: who reads what is written below finds an odd count, or another one than before.
  __atomic_thread_fence(__ATOMIC_RELEASE);
}
static void end_of_change(void) {
  // release: publishes what was written; pairs with install_wide.
  __atomic_store_n(&wide_changes, wide_changes + 1, __ATOMIC_RELEASE);
}

// Installs on this core the barriers of the structures that name it, and takes the permission for
// others away.
static void install_wide(void) {
  const uint32_t me = THIS_CORE;
  uint32_t now, made[MOST_STRUCTURES], timeout[MOST_STRUCTURES];
  do {
    // acquire: pairs with end_of_change, so that what was written before it is seen.
    now = __atomic_load_n(&wide_changes, __ATOMIC_ACQUIRE);
    if (core_of[me].changes == now) return;
    for (uint32_t h = 0; h < MOST_STRUCTURES; ++h) {
      timeout[h] = wide_barriers[h].timeout;
      const int wanted = timeout[h] != 0 && is_member(&wide_barriers[h].members, me);
      made[h] = wanted ? wide_barriers[h].made : 0;
    }
    // acquire: what was read above is not read after the second look at the count.
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    // relaxed: the fence orders it.
  } while (now % 2 != 0 || __atomic_load_n(&wide_changes, __ATOMIC_RELAXED) != now);
  core_of[me].changes = now;
  for (uint32_t h = 0; h < MOST_STRUCTURES; ++h) {
    const uint32_t b = FIRST_STRUCTURE + h;
    if (core_of[me].installed[h] == made[h]) continue;
    core_of[me].installed[h] = made[h];
    if (made[h] != 0) {
      barinit(b);
      barset(BAR_TIMEOUT, b, timeout[h]);
    } else {
      barset(BAR_PARTICIPANTS, b, 0);
    }
  }
}

static void set_register(struct frame* thread, uint32_t number, uint32_t value) {
  if (number != 0) thread->x[number] = value;
}

// Installs on this core the barriers that name it.
static void install_all(void) {
  install_wide();
  const uint32_t count = barriers_of_unit(), mine = 1u << place_in_socket(THIS_CORE);
  for (uint32_t b = 0; b < count; ++b)
    if ((barget(BAR_PARTICIPANTS, b) & mine) && !(barget(BAR_INSTALLED, b) & mine)) barinit(b);
}

// Checks what a thread wants of a barrier. Returns 0 and the members, or an error.
static int32_t vet(const uint8_t* list, uint32_t count, uint32_t timeout, struct members* members) {
  if (timeout == 0 || timeout > LONGEST_TIMEOUT) return ERROR_TIMEOUT;
  // Read the list only if it lies in the caller's own stack.
  const uint32_t me = THIS_CORE, first = (uint32_t)list;
  const uint32_t stack = (uint32_t)user_stacks + me * STACK;
  if (count == 0 || count > CORES || first < stack || first > stack + STACK - count)
    return ERROR_LIST;
  for (uint32_t s = 0; s < MOST_SOCKETS; ++s)
    members->of_socket[s][0] = members->of_socket[s][1] = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t core = list[i];
    if (core >= CORES || group_of(core) != core_of[me].group || is_member(members, core))
      return ERROR_LIST;
    const uint32_t place = place_in_socket(core);
    members->of_socket[core / cores_of_socket()][place / 32] |= 1u << place % 32;
  }
  return is_member(members, me) ? 0 : ERROR_LIST;
}

static void interrupt_others(const uint8_t* list, uint32_t count) {
  const uint32_t me = THIS_CORE;
  for (uint32_t i = 0; i < count; ++i)
    if (list[i] != me) SOFTWARE_SEND = list[i];
}

// ---- barriers of the structures, which reach over all sockets ----

static void write_unit(uint32_t socket, uint32_t device, uint32_t offset, uint32_t low,
                       uint32_t high) {
  UNIT(socket, device, offset + 4) = high;
  UNIT(socket, device, offset) = low;
}
// What the structures are, from their capability register.
static uint32_t structures(void) {
  const uint32_t all = UNIT(0u, DEVICE_STRUCTURE, 0x80u) >> 16;
  return all < MOST_STRUCTURES ? all : MOST_STRUCTURES;
}
static uint32_t structure_threads(void) { return UNIT(0u, DEVICE_STRUCTURE, 0x84u) >> 8 & 0xffffu; }
// The address of a word in a barrier's cluster, or with `from` 0x20000 in its state.
static uint32_t cluster_word(uint32_t from, uint32_t h, uint32_t word) {
  const uint32_t words = UNIT(0u, DEVICE_STRUCTURE, 0x84u) & 0xffu;
  return from + (h * words + word) * 8u;
}

static int has_members(const struct members* m, uint32_t socket) {
  return (m->of_socket[socket][0] | m->of_socket[socket][1]) != 0;
}

// Writes a barrier's cluster in the structure of one socket: its threads there, and the peers.
// Writing the last word, which is 0, makes the barrier.
static void write_cluster(uint32_t socket, uint32_t h, const struct members* m) {
  const uint32_t words = UNIT(socket, DEVICE_STRUCTURE, 0x84u) & 0xffu;
  const uint32_t threads = structure_threads(), sockets = SOCKETS;
  uint32_t bits[10] = {m->of_socket[socket][0], m->of_socket[socket][1]};
  for (uint32_t peer = 0, other = 0; other < sockets; ++other) {
    if (other == socket) continue;
    const uint32_t bit = threads + peer++;
    if (has_members(m, other)) bits[bit / 32] |= 1u << bit % 32;
  }
  for (uint32_t w = 0; w < words; ++w)
    write_unit(socket, DEVICE_STRUCTURE, cluster_word(0x10000u, h, w), bits[2 * w],
               bits[2 * w + 1]);
}

static int32_t create_structure(const uint8_t* list, uint32_t count, uint32_t timeout) {
  struct members m;
  const int32_t wrong = vet(list, count, timeout, &m);
  if (wrong != 0) return wrong;
  const uint32_t most = structures();
  uint32_t h = 0;
  lock(&barrier_lock);
  while (h < most && wide_barriers[h].timeout != 0) ++h;
  if (h < most) {
    // No thread arrives before the barrier exists in all sockets: none of them has it installed.
    for (uint32_t s = 0; s < SOCKETS; ++s)
      if (has_members(&m, s)) write_cluster(s, h, &m);
    begin_change();
    wide_barriers[h].members = m;
    wide_barriers[h].group = core_of[THIS_CORE].group;
    wide_barriers[h].timeout = timeout;
    ++wide_barriers[h].made;
    end_of_change();
  }
  unlock(&barrier_lock);
  if (h == most) return ERROR_FULL;
  install_wide();
  interrupt_others(list, count);
  return (int32_t)(FIRST_STRUCTURE + h);
}

static int32_t destroy_structure(uint32_t h) {
  if (h >= structures()) return ERROR_OWNER;
  struct wide_barrier* const w = &wide_barriers[h];
  lock(&barrier_lock);
  const int there = w->timeout != 0 && w->group == core_of[THIS_CORE].group;
  if (there) {
    begin_change();
    w->timeout = 0;
    end_of_change();
  }
  unlock(&barrier_lock);
  // The others take their permission away before they do anything else in the kernel.
  if (there)
    for (uint32_t core = 0; core < CORES; ++core)
      if (is_member(&w->members, core)) SOFTWARE_SEND = core;
  return there ? 0 : ERROR_OWNER;
}

// Opens a unit that serves all threads from 0 to count - 1.
static int32_t open(uint32_t device, uint32_t count) {
  if (device != DEVICE_COUNTING && device != DEVICE_MASK) return ERROR_CALL;
  if (count == 0 || count > CORES || PARAMETER(PARAM_GROUPS) == 2) return ERROR_LIST;
  uint32_t* const size = device == DEVICE_MASK ? &mask_size : &counting_size;
  lock(&barrier_lock);
  const int is_free = *size == 0;
  if (is_free) {
    // The number of threads; then it begins.
    write_unit(0, device, 0x100u, count, 0);
    write_unit(0, device, 0xc0u, 3, 0);
    *size = count;
  }
  unlock(&barrier_lock);
  return is_free ? 0 : ERROR_FULL;
}

// Decides about a barwait at a barrier of the structures or the mask unit that did not depart.
static void serve_wide_wait(struct frame* thread, uint32_t b, uint32_t insn, uint32_t why) {
  const uint32_t me = THIS_CORE, h = b - FIRST_STRUCTURE;
  const int is_mask = b == MASK_BARRIER;
  lock(&barrier_lock);
  const int ours = is_mask ? me < mask_size
                           : h < structures() && wide_barriers[h].timeout != 0 &&
                                 is_member(&wide_barriers[h].members, me);
  unlock(&barrier_lock);
  if (!ours) {
    trace(TRACE_DENIED, insn);
    set_register(thread, insn >> 7 & 31, (uint32_t)ERROR_OWNER);
    thread->x[0] += 4;
  } else if (why == REFUSED_TIMEOUT) {
    // An announcement to another socket cannot be withdrawn, so that the barrier cannot be broken
    // for all. The kernel tells who is missing in this socket, and waits on.
    const uint32_t at = cluster_word(0x20000u, h, 0);
    const uint32_t missing = wide_barriers[h].members.of_socket[THIS_SOCKET][0] &
                             ~UNIT(THIS_SOCKET, DEVICE_STRUCTURE, at);
    // The last core may have arrived meanwhile; the answer came behind the end of the episode.
    if (barget(BAR_OWED, b)) return;
    trace(TRACE_TIMEOUT, missing);
    barset(BAR_TIMEOUT, b, wide_barriers[h].timeout);
  } else if (is_mask) {
    barinit(b);
  } else {
    install_wide();
  }
}

// ---- barriers of the socket's unit ----

static int32_t create(const uint8_t* list, uint32_t count, uint32_t timeout) {
  struct members m;
  const int32_t wrong = vet(list, count, timeout, &m);
  if (wrong != 0) return wrong;
  for (uint32_t s = 0; s < SOCKETS; ++s)
    if (s != THIS_SOCKET && has_members(&m, s)) return create_structure(list, count, timeout);
  const uint32_t most = barriers_of_unit();
  if (most == 0) return create_structure(list, count, timeout);
  const uint32_t group = core_of[THIS_CORE].group, mask = m.of_socket[THIS_SOCKET][0];

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
  interrupt_others(list, count);
  return (int32_t)b;
}

static int32_t destroy(uint32_t b) {
  if (b >= FIRST_STRUCTURE) return destroy_structure(b - FIRST_STRUCTURE);
  if (b >= barriers_of_unit()) return ERROR_OWNER;
  lock(&barrier_lock);
  const int there = barget(BAR_PARTICIPANTS, b) != 0 && state_of(b)->broken == 0 &&
                    barget(BAR_OWNER, b) == core_of[THIS_CORE].group;
  if (there) barset(BAR_PARTICIPANTS, b, 0);
  unlock(&barrier_lock);
  return there ? 0 : ERROR_OWNER;
}

// Decides about a barwait that did not depart. The program counter is at it, so returning there
// restarts it.
static void serve_wait(struct frame* thread, uint32_t insn) {
  const uint32_t b = thread->x[insn >> 15 & 31], result = insn >> 7 & 31;
  const uint32_t why = barctx_read(CTX_CAUSE);
  if (why == REFUSED_INTERRUPT) return;
  if (b >= FIRST_STRUCTURE) return serve_wide_wait(thread, b, insn, why);
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

static int32_t take_remote_calls(uint32_t entry) {
  if (entry % 4 != 0 || entry >= IMAGE_SIZE) return ERROR_CALL;
  // mrcentry, and in mrcall that user mode takes calls.
  csr_write(0x7c1, entry);
  csr_write(0x7c0, 1);
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
