// SPDX-License-Identifier: Apache-2.0
// The test programs, which run in user mode. The tests check thread_main's result and TRACE_VALUE.
#include "isa.h"
#include "machine.h"

#define TIMEOUT PARAMETER(PARAM_TIMEOUT)

// A line for each core in the shared memory, with plain data that the barrier publishes.
#define SLOT(thread, core) (*(volatile uint32_t*)(USER_SHARED + ((thread)*BANKS + (core)) * LINE))
#define INDEX(thread) (*(volatile uint32_t*)(USER_SHARED + (2 * BANKS + (thread)) * LINE))
#define FLAG(n) (*(volatile uint32_t*)(USER_SHARED + (3 * BANKS + (n)) * LINE))

static uint32_t next_random(uint32_t* state) {
  uint32_t x = *state;
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  return *state = x;
}

static void delay(uint32_t count) {
  for (volatile uint32_t i = 0; i < count; ++i) {
  }
}

// The lowest core makes a barrier for the first `count` cores and tells the others, as
// create_barrier of Hetland et al. 2019 does.
static uint32_t common_barrier(uint32_t thread, uint32_t count) {
  if (THIS_CORE == 0) {
    uint8_t list[16];
    for (uint32_t i = 0; i < count; ++i) list[i] = (uint8_t)i;
    const int32_t b = create_barrier(list, count, TIMEOUT);
    INDEX(thread) = (uint32_t)b + 1;
    return (uint32_t)b;
  }
  while (INDEX(thread) == 0) {
  }
  return INDEX(thread) - 1;
}

// Episodes with random work before each: after a barwait every slot shows this episode or, for a
// fast core, the next. A core may be late on purpose.
static uint32_t episodes(uint32_t thread, uint32_t count) {
  const uint32_t rank = THIS_CORE;
  const uint32_t b = common_barrier(thread, count);
  uint32_t seed = PARAMETER(PARAM_SEED) * 16 + thread * 256 + rank + 1, errors = 0;
  for (uint32_t e = 1; e <= PARAMETER(PARAM_EPISODES); ++e) {
    if (PARAMETER(PARAM_A) != 0) delay(next_random(&seed) % PARAMETER(PARAM_A));
    if (rank == 0 && PARAMETER(PARAM_B) != 0) delay(PARAMETER(PARAM_B));
    SLOT(thread, rank) = e;
    TRACE(TRACE_ARRIVE) = b << 24 | thread << 20 | e;
    errors += barwait(b) != 0;
    TRACE(TRACE_DEPART) = b << 24 | thread << 20 | e;
    for (uint32_t r = 0; r < count; ++r) {
      const uint32_t seen = SLOT(thread, r);
      errors += seen != e && seen != e + 1;
    }
  }
  return errors;
}

// The last core does not arrive, after some episodes that release all others in one cycle.
static uint32_t absent(uint32_t thread) {
  const uint32_t b = common_barrier(thread, CORES);
  for (uint32_t e = 0; e < PARAMETER(PARAM_EPISODES); ++e) barwait(b);
  if (THIS_CORE == CORES - 1) {
    while (FLAG(0) == 0) {
    }
    // The thread is late for a barrier that is gone, and is told so too.
    return barwait(b);
  }
  const uint32_t result = barwait(b);
  FLAG(0) = 1;
  return result;
}

static void value(uint32_t v) { TRACE(TRACE_VALUE) = v; }

// The last core is late, and the others have made their next barrier before it is told that the
// first broke.
static uint32_t comes_back(uint32_t thread) {
  const uint32_t first = common_barrier(thread, CORES), late = CORES - 1;
  if (THIS_CORE == late)
    while (FLAG(0) == 0) {
    }
  value(barwait(first));
  if (THIS_CORE == 0) {
    uint8_t list[16];
    for (uint32_t i = 0; i < CORES; ++i) list[i] = (uint8_t)i;
    const uint32_t second = (uint32_t)create_barrier(list, CORES, TIMEOUT);
    value(second);
    FLAG(1) = second + 1;
    FLAG(0) = 1;
  }
  while (FLAG(1) == 0) {
  }
  value(barwait(FLAG(1) - 1));
  if (THIS_CORE != 0) return 0;
  // All have been told of the first barrier, so its place is free.
  uint8_t alone = 0;
  return (uint32_t)create_barrier(&alone, 1, TIMEOUT) != first;
}

// Core 1 is preempted in its first wait, which core 0 completes; core 0's second wait then times
// out.
static uint32_t preempted(uint32_t thread) {
  if (thread == 1) {
    if (THIS_CORE == 1) delay(PARAMETER(PARAM_A) * 2);
    return 0;
  }
  const uint32_t b = common_barrier(thread, CORES);
  delay(THIS_CORE == 0 ? PARAMETER(PARAM_A) : PARAMETER(PARAM_B));
  value(barwait(b));
  value(barwait(b));
  return 0;
}

// Core 0 destroys the barrier as soon as it has departed, while core 1 can be in an interrupt or
// run its other thread.
static uint32_t destroyed_early(uint32_t thread) {
  if (thread == 1) {
    if (THIS_CORE == 1) delay(PARAMETER(PARAM_A) * 2);
    return 0;
  }
  const uint32_t b = common_barrier(thread, CORES);
  if (THIS_CORE == 0) delay(PARAMETER(PARAM_A));
  const uint32_t result = barwait(b);
  if (THIS_CORE != 0) return result;
  const int32_t first = destroy_barrier(b), second = destroy_barrier(b);
  // The second time there is no barrier, although core 1 can still be owed its departure.
  return result | (uint32_t)first | (uint32_t)(second != ERROR_OWNER);
}

// Core 0 destroys the barrier at which core 1 waits, when that wait times out.
static uint32_t destroyed_late(uint32_t thread) {
  const uint32_t b = common_barrier(thread, CORES);
  if (THIS_CORE != 0) return barwait(b);
  delay(PARAMETER(PARAM_A));
  return (uint32_t)destroy_barrier(b);
}

// Thread 0 of core 0 owns a barrier with itself alone. All other threads try to access it.
static uint32_t protection(uint32_t thread) {
  if (THIS_CORE == 0 && thread == 0) {
    const uint32_t b = common_barrier(0, 1);
    FLAG(1) = 1;
    uint32_t errors = 0;
    while (FLAG(2) + FLAG(3) != 2) {
      errors += barwait(b) != 0;
      yield();
    }
    return errors;
  }
  if (thread == 0) return 0;
  while (FLAG(1) == 0) yield();
  const uint32_t b = INDEX(0) - 1;
  value(barwait(b));
  value(barwait(200));
  // The same core, another group.
  if (THIS_CORE == 0) {
    value((uint32_t)destroy_barrier(b));
    FLAG(2) = 1;
    return 0;
  }
  value(PRIVILEGED);
  (void)barset(BAR_PARTICIPANTS, b, 0);
  (void)barset(BAR_OWNER, b, 2);
  (void)barget(BAR_ARRIVED, b);
  (void)barinit(b);
  (void)barmove(b, 0, 1);
  barctx_write(CTX_GROUP, 1);
  (void)barctx_read(CTX_CAUSE);
  // Anybody may execute barcap, but not with a bit of funct7 that has no meaning; and such a
  // barwait is none.
  __asm__ volatile(".insn r 0x2b, 1, 8, x0, x0, x0");
  __asm__ volatile(".insn r 0x2b, 0, 8, x0, %0, x0" : : "r"(b));
  // An atomic operation on the kernel's lock is an illegal instruction as well.
  __asm__ volatile("amoadd.w x0, %0, (%0)" : : "r"(SHARED) : "memory");
  // With the barwaits, nine refusals so far; from here on faults.
  *(volatile uint32_t*)0x8000u = 1;
  // The interrupt handler's first instruction.
  *(volatile uint32_t*)0x10u = 0x13;
  *(volatile uint32_t*)(SHARED + 8) = 1;
  IPI = 1;
  TIMER = 10;
  value(*(volatile uint32_t*)SHARED);
  value((uint32_t)destroy_barrier(b));
  FLAG(3) = 1;
  return 0;
}

// Calls create_barrier with everything that the kernel must refuse; reports the results as values.
static uint32_t vetting(void) {
  if (THIS_CORE != 0) return 0;
  uint8_t list[16];
  for (uint32_t i = 0; i < 16; ++i) list[i] = (uint8_t)i;
  value((uint32_t)create_barrier(list, CORES, 0));
  value((uint32_t)create_barrier(list, CORES, (1u << 20) + 1));
  value((uint32_t)create_barrier(list, 0, 100));
  value((uint32_t)create_barrier(list, CORES + 1, 100));
  // The list lacks the caller.
  value((uint32_t)create_barrier(list + 1, CORES - 1, 100));
  // The kernel's memory.
  value((uint32_t)create_barrier((const uint8_t*)0x8000, 1, 100));
  list[1] = 0;
  // One core twice.
  value((uint32_t)create_barrier(list, CORES, 100));
  value((uint32_t)system_call(77, 0, 0, 0));
  int32_t made = 0, b;
  while ((b = create_barrier(list, 1, 100)) >= 0) ++made;
  value((uint32_t)b);
  value((uint32_t)made);
  value((uint32_t)destroy_barrier(3));
  value((uint32_t)destroy_barrier(3));
  value((uint32_t)create_barrier(list, 1, 100));
  // Barriers of one participant complete at once, each by itself.
  uint32_t errors = 0;
  for (uint32_t i = 0; i < 8; ++i) errors += barwait(i) != 0;
  return errors;
}

// All data are local to the thread's stack, so the kernel may move the thread to another core
// during a barwait.
static uint32_t wanderer(void) {
  if (THIS_CORE == CORES - 1) {
    for (;;) {
    }
  }
  return episodes(0, CORES - 1);
}

// The A extension's operations, alone and from all cores at once; then those that must stay
// illegal.
static uint32_t atomics(void) {
  uint32_t* const mine = (uint32_t*)(USER_SHARED + (8 * BANKS + THIS_CORE) * LINE);
  uint32_t* const all = (uint32_t*)(USER_SHARED + 9 * BANKS * LINE);
  uint32_t old, errors = 0;
#define AMO(name, value, before, after)                \
  __asm__ volatile(name " %0, %1, (%2)"                \
                   : "=&r"(old)                        \
                   : "r"((uint32_t)(value)), "r"(mine) \
                   : "memory");                        \
  errors += old != (uint32_t)(before) || *(volatile uint32_t*)mine != (uint32_t)(after)
  *(volatile uint32_t*)mine = 5;
  AMO("amoadd.w", 7, 5, 12);
  AMO("amoswap.w", -3, 12, -3);
  AMO("amoand.w", 0xff, -3, 0xfd);
  AMO("amoor.w", 0xf00, 0xfd, 0xffd);
  AMO("amoxor.w", 0xff0, 0xffd, 0x00d);
  AMO("amomin.w", -2, 0xd, -2);
  AMO("amomax.w", 4, -2, 4);
  AMO("amominu.w", -1, 4, 4);
  AMO("amomaxu.w", -1, 4, -1);
#undef AMO
  for (uint32_t i = 0; i < 100; ++i)
    // relaxed: only the sum matters.
    __atomic_fetch_add(all, 1u, __ATOMIC_RELAXED);
  barwait(common_barrier(0, CORES));
  errors += *(volatile uint32_t*)all != 100 * CORES;
  // On the core's own memory, at an address that is not aligned, and the two instructions that do
  // not exist.
  uint32_t local;
  __asm__ volatile("amoadd.w x0, %0, (%1)" : : "r"(1), "r"(&local) : "memory");
  __asm__ volatile("amoadd.w x0, %0, (%1)" : : "r"(1), "r"((uint32_t)mine + 2) : "memory");
  __asm__ volatile("lr.w %0, (%1)" : "=r"(old) : "r"(mine) : "memory");
  __asm__ volatile("sc.w %0, x0, (%1)" : "=r"(old) : "r"(mine) : "memory");
  return errors;
}

// Core 0 is absent, and the others have masked their interrupts, as PicoRV32 permits in user mode.
static uint32_t masked(void) {
  const uint32_t b = common_barrier(0, CORES);
  if (THIS_CORE == 0) return 0;
  __asm__ volatile(".insn r 0x0b, 6, 3, x0, %0, x0" : : "r"(0xffffffffu));  // maskirq
  TRACE(TRACE_ARRIVE) = 1;
  barwait(b);
  TRACE(TRACE_DEPART) = 1;
  return 0;
}

// Accesses behind the end of the shared memory and of the devices fault and do not wrap around.
static uint32_t beyond(void) {
  volatile uint32_t* const word = (volatile uint32_t*)(USER_SHARED + THIS_CORE * LINE);
  volatile uint32_t* const behind = word + SHARED_SIZE / 4;
  uint32_t errors = 0;
  *word = 5;
  *behind = 9;
  errors += *word != 5;
  errors += *behind == 5;
  // The last word exists.
  errors += *(volatile uint32_t*)(SHARED + SHARED_SIZE - 4) != 0;
  (void)DEVICE(0x80);
  // Like all refused atomics, this is an illegal instruction without effect.
  __asm__ volatile("amoadd.w x0, %0, (%1)" : : "r"(1), "r"(behind) : "memory");
  errors += *word != 5;
  return errors;
}

uint32_t thread_main(uint32_t thread) {
  uint32_t result;
  switch (PARAMETER(PARAM_PROGRAM)) {
    case 0: result = episodes(thread, CORES); break;
    case 1: result = absent(thread); break;
    case 2: result = protection(thread); break;
    case 3: result = vetting(); break;
    case 4: result = wanderer(); break;
    case 5: result = atomics(); break;
    case 6: result = masked(); break;
    case 7: result = beyond(); break;
    case 8: result = comes_back(thread); break;
    case 9: result = preempted(thread); break;
    case 10: result = destroyed_early(thread); break;
    case 11: result = destroyed_late(thread); break;
    default: result = 0xbad; break;
  }
  value(result);
  return result;
}
