// SPDX-License-Identifier: Apache-2.0
// The kernel's part: checks and makes barriers, restarts interrupted waits, decides after timeouts,
// switches threads, and refuses what a thread must not do. It runs in the interrupt handler only;
// each core has its own copy of all data but `shared`.
#include "isa.h"
#include "machine.h"

#define LONGEST_TIMEOUT (1u << 20)
#define MOST_BARRIERS 128
#define THREADS 2
#define GROUPS (THREADS + 1)
// A barrier that was destroyed, whose participants may still be owed a departure.
#define BARRIER_DESTROYED 1u

#define IRQ_TIMER (1u << 0)
#define IRQ_ILLEGAL (1u << 1)
#define IRQ_FAULT (1u << 2)
#define IRQ_IPI (1u << 4)
#define IRQ_EXTERNAL (1u << 5)

enum cause { CAUSE_NONE, CAUSE_INTERRUPT, CAUSE_TIMEOUT, CAUSE_DENIED };

struct frame {
  uint32_t pc;
  // x1 and up.
  uint32_t x[31];
};
#define A0 9
#define A7 16

struct thread {
  struct frame frame;
  uint32_t group, left, alive;
};

struct shared_state {
  // The boot number for which the following fields are ready.
  uint32_t booted;
  uint32_t lock;
  uint32_t cores_of_group[GROUPS];
  // barrier_broken | the missing cores; or BARRIER_DESTROYED.
  uint32_t broken[MOST_BARRIERS];
  // Participants of a broken barrier that have not been told of it.
  uint32_t untold[MOST_BARRIERS];
  // If not 0, a thread is on its way: 1 + the core that must take it.
  uint32_t moving;
  uint32_t moving_stack_words;
  struct thread parcel;
  uint32_t parcel_stack[256];
};
#define shared ((volatile struct shared_state*)SHARED)

extern struct frame kernel_frame;
extern void thread_start(void);

static struct thread threads[THREADS];
static uint32_t current, cores, me;

static void lock(void) {
  // acquire: pairs with unlock, so that what the last owner wrote is visible.
  while (__atomic_exchange_n(&shared->lock, 1u, __ATOMIC_ACQUIRE) != 0) {
  }
}
static void unlock(void) {
  // release: publishes what was written under the lock.
  __atomic_store_n(&shared->lock, 0u, __ATOMIC_RELEASE);
}

static uint32_t stack_top(uint32_t thread) { return 0xff00u - thread * 0xf00u; }

void kernel_boot(void) {
  me = THIS_CORE;
  cores = PARAMETER(PARAM_CORES);
  const uint32_t count = PARAMETER(PARAM_THREADS), boot = PARAMETER(PARAM_BOOT);
  // Memory survives a reset, so clear what an earlier boot left there, such as a held lock.
  if (me == 0) {
    if (boot != 1)
      for (volatile uint32_t* word = (volatile uint32_t*)SHARED + 1;
           (uint32_t)word < USER_SHARED + 0x2000u; ++word)
        *word = 0;
    // release: publishes the cleared memory.
    __atomic_store_n(&shared->booted, boot, __ATOMIC_RELEASE);
  }
  // acquire: pairs with core 0's release.
  while (__atomic_load_n(&shared->booted, __ATOMIC_ACQUIRE) != boot) {
  }
  lock();
  for (uint32_t t = 0; t < count; ++t) shared->cores_of_group[t + 1] |= 1u << me;
  unlock();
  // All threads of a group must exist before one of them may name them.
  // acquire: pairs with the others' unlock.
  while (__atomic_load_n(&shared->cores_of_group[count], __ATOMIC_ACQUIRE) != (1u << cores) - 1) {
  }
  for (uint32_t t = 0; t < count; ++t) {
    threads[t].frame.pc = (uint32_t)&thread_start;
    threads[t].frame.x[1] = stack_top(t);
    threads[t].frame.x[A0] = t;
    threads[t].group = t + 1;
    threads[t].alive = 1;
  }
  kernel_frame = threads[0].frame;
  barctx_write(CTX_GROUP, threads[0].group);
  if (PARAMETER(PARAM_QUANTUM) != 0) TIMER = PARAMETER(PARAM_QUANTUM);
}

// Saves the interrupted thread, with the unit's state for its core, and continues with the next.
static void switch_thread(void) {
  if (PARAMETER(PARAM_QUANTUM) != 0) TIMER = PARAMETER(PARAM_QUANTUM);
  uint32_t next = current;
  do {
    next = next + 1 == THREADS ? 0 : next + 1;
  } while (!threads[next].alive && next != current);
  if (next == current) return;
  threads[current].frame = kernel_frame;
  threads[current].left = barctx_read(CTX_LEFT);
  current = next;
  kernel_frame = threads[next].frame;
  barctx_write(CTX_GROUP, threads[next].group);
  barctx_write(CTX_LEFT, threads[next].left);
  TRACE(TRACE_SWITCH) = next;
}

// Installs the barriers that name this core on it.
static void install_all(void) {
  const uint32_t count = barcap() >> 16;
  for (uint32_t b = 0; b < count; ++b) {
    const uint32_t mine = 1u << me;
    if ((barget(BAR_PARTICIPANTS, b) & mine) && !(barget(BAR_INSTALLED, b) & mine)) barinit(b);
  }
}

static int32_t create(const uint8_t* list, uint32_t count, uint32_t timeout) {
  if (timeout == 0 || timeout > LONGEST_TIMEOUT) return ERROR_TIMEOUT;
  // Read the list only if it lies in the thread's own stack or data.
  const uint32_t first = (uint32_t)list;
  if (count == 0 || count > cores || first < 0xc000u || first > 0xff00u - count) return ERROR_LIST;
  const uint32_t group = threads[current].group;
  uint32_t mask = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t bit = list[i] < cores ? 1u << list[i] : 0;
    if (bit == 0 || (mask & bit) || !(shared->cores_of_group[group] & bit)) return ERROR_LIST;
    mask |= bit;
  }
  if (!(mask & 1u << me)) return ERROR_LIST;

  const uint32_t barriers = barcap() >> 16;
  lock();
  uint32_t b = 0;
  // A thread that has not been told yet that its barrier broke must not arrive at another one with
  // that index.
  while (b < barriers && (barget(BAR_PARTICIPANTS, b) != 0 || shared->untold[b] != 0)) ++b;
  if (b < barriers) {
    shared->broken[b] = 0;
    barset(BAR_OWNER, b, group);
    barset(BAR_TIMEOUT, b, timeout);
    barset(BAR_PARTICIPANTS, b, mask);
  }
  unlock();
  if (b == barriers) return ERROR_FULL;
  barinit(b);
  IPI = mask & ~(1u << me);
  return (int32_t)b;
}

static int32_t destroy(uint32_t b) {
  if (b >= barcap() >> 16) return ERROR_OWNER;
  lock();
  const int there = barget(BAR_PARTICIPANTS, b) != 0 && shared->broken[b] == 0 &&
                    barget(BAR_OWNER, b) == threads[current].group;
  // A break leaves the departures that others are owed from a complete episode; their cores are
  // the participants until then. The unit refuses it while an episode ends. The caller is not in a
  // wait, so its core is owed nothing.
  while (there && barset(BAR_BREAK, b, 0) != 0) {
  }
  if (there) shared->broken[b] = BARRIER_DESTROYED;
  unlock();
  return there ? 0 : ERROR_OWNER;
}

// Returns the thread's registers as the interrupted instruction sees them.
static uint32_t reg(uint32_t number) { return number == 0 ? 0 : kernel_frame.x[number - 1]; }
static void set_reg(uint32_t number, uint32_t value) {
  if (number != 0) kernel_frame.x[number - 1] = value;
}

// Moves the running thread, in the middle of its program, to another core: registers, stack, and
// its place at a barrier.
static void move_to(uint32_t to, uint32_t barrier) {
  if (to >= cores || to == me || PARAMETER(PARAM_THREADS) != 1) return;
  lock();
  if (barget(BAR_OWNER, barrier) != threads[current].group || barmove(barrier, me, to) != 0) {
    unlock();
    return;
  }
  if (shared->untold[barrier] & 1u << me) shared->untold[barrier] ^= 1u << me | 1u << to;
  threads[current].frame = kernel_frame;
  threads[current].left = barctx_read(CTX_LEFT);
  for (uint32_t i = 0; i < sizeof(struct thread) / 4; ++i)
    ((volatile uint32_t*)&shared->parcel)[i] = ((uint32_t*)&threads[current])[i];
  const uint32_t* const stack = (const uint32_t*)kernel_frame.x[1];
  const uint32_t words = (stack_top(0) - kernel_frame.x[1]) / 4;
  for (uint32_t i = 0; i < words; ++i) shared->parcel_stack[i] = stack[i];
  shared->moving_stack_words = words;
  shared->moving = 1 + to;
  unlock();
  IPI = 1u << to;
  // No thread is left to run here.
  TRACE(TRACE_EXIT) = 0;
  for (;;) {
  }
}

static void take_parcel(void) {
  lock();
  if (shared->moving == 1 + me) {
    shared->moving = 0;
    for (uint32_t i = 0; i < sizeof(struct thread) / 4; ++i)
      ((uint32_t*)&threads[0])[i] = ((volatile uint32_t*)&shared->parcel)[i];
    const uint32_t words = shared->moving_stack_words;
    uint32_t* const stack = (uint32_t*)threads[0].frame.x[1];
    for (uint32_t i = 0; i < words; ++i) stack[i] = shared->parcel_stack[i];
    kernel_frame = threads[0].frame;
    barctx_write(CTX_GROUP, threads[0].group);
    barctx_write(CTX_LEFT, threads[0].left);
    TRACE(TRACE_MOVED) = me;
  }
  unlock();
}

static void leave_thread(uint32_t result) {
  threads[current].alive = 0;
  // The thread will not be told of a broken barrier any more.
  const uint32_t count = barcap() >> 16;
  lock();
  for (uint32_t b = 0; b < count; ++b)
    if (barget(BAR_OWNER, b) == threads[current].group) shared->untold[b] &= ~(1u << me);
  unlock();
  for (uint32_t t = 0; t < THREADS; ++t)
    if (threads[t].alive) {
      switch_thread();
      return;
    }
  TRACE(TRACE_EXIT) = result;
  for (;;) {
  }
}

static void serve_call(void) {
  const uint32_t a = kernel_frame.x[A0], b = kernel_frame.x[A0 + 1], c = kernel_frame.x[A0 + 2];
  int32_t result = ERROR_CALL;
  switch (kernel_frame.x[A7]) {
    case CALL_CREATE: result = create((const uint8_t*)a, b, c); break;
    case CALL_DESTROY: result = destroy(a); break;
    case CALL_YIELD:
      kernel_frame.x[A0] = 0;
      switch_thread();
      return;
    case CALL_EXIT: leave_thread(a); return;
    default: break;
  }
  kernel_frame.x[A0] = (uint32_t)result;
}

// Handles a barwait that did not depart. The program counter is behind it; going one instruction
// back restarts it.
static void serve_wait(uint32_t insn) {
  const uint32_t b = reg(insn >> 15 & 31), result = insn >> 7 & 31, mine = 1u << me;
  const uint32_t cause = barctx_read(CTX_CAUSE);
  if (cause == CAUSE_INTERRUPT) {
    TRACE(TRACE_RESTART) = b;
    kernel_frame.pc -= 4;
    return;
  }
  lock();
  const int ours = b < barcap() >> 16 && barget(BAR_OWNER, b) == threads[current].group;
  const uint32_t broken = ours ? shared->broken[b] : 0;
  const uint32_t all = ours ? barget(BAR_PARTICIPANTS, b) : 0;
  if ((broken & barrier_broken) && !(barget(BAR_OWED, b) & mine)) {
    // This also holds for cores that time out at the same moment: the first one has broken the
    // barrier for all.
    shared->untold[b] &= ~mine;
    set_reg(result, broken);
  } else if (cause == CAUSE_TIMEOUT && (all & mine)) {
    const uint32_t missing = all & ~barget(BAR_ARRIVED, b);
    TRACE(TRACE_TIMEOUT) = missing;
    if (PARAMETER(PARAM_POLICY) == 0 && barset(BAR_BREAK, b, 0) == 0) {
      shared->broken[b] = barrier_broken | missing;
      shared->untold[b] = all & ~mine;
      TRACE(TRACE_BROKEN) = b;
      set_reg(result, barrier_broken | missing);
    } else {
      // The last core has arrived meanwhile, or the policy is to wait on: wait once more.
      barctx_write(CTX_LEFT, barget(BAR_TIMEOUT, b));
      kernel_frame.pc -= 4;
    }
  } else if ((all & mine) && !(barget(BAR_INSTALLED, b) & mine)) {
    barinit(b);
    kernel_frame.pc -= 4;
  } else {
    TRACE(TRACE_DENIED) = insn;
    set_reg(result, (uint32_t)ERROR_OWNER);
  }
  unlock();
}

void kernel_interrupt(uint32_t causes) {
  if (causes & IRQ_ILLEGAL) {
    const uint32_t insn = *(const uint32_t*)(kernel_frame.pc - 4);
    if (insn == 0x73u) {
      serve_call();
    } else if ((insn & 0xfe00707fu) == 0x2bu) {
      serve_wait(insn);
    } else {
      TRACE(TRACE_DENIED) = insn;
    }
  }
  if (causes & IRQ_FAULT) TRACE(TRACE_FAULT) = kernel_frame.pc;
  if (causes & IRQ_IPI) {
    take_parcel();
    install_all();
  }
  // The harness uses this interrupt to tell the scheduler that a better core is free for a waiting
  // thread.
  if (causes & IRQ_EXTERNAL) {
    const uint32_t insn = *(const uint32_t*)kernel_frame.pc;
    if (PARAMETER(PARAM_MOVE_TO) != 0 && (insn & 0xfe00707fu) == 0x2bu)
      move_to(PARAMETER(PARAM_MOVE_TO), reg(insn >> 15 & 31));
  }
  if (causes & IRQ_TIMER) switch_thread();
}
