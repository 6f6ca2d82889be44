// SPDX-License-Identifier: Apache-2.0
// The kernel's part of the barriers in hardware: it makes them, installs them on their cores,
// restarts interrupted waits, and decides after timeouts.
#pragma once

#include "hardware/isa/software/isa.h"
#include "hardware/machine/software/kernel.h"

#define LONGEST_TIMEOUT (1u << 20)
// The kernel uses so many of a unit.
#define MOST_BARRIERS 16
#define MOST_SOCKETS 4

// A barrier that was destroyed, whose participants may still be owed a departure.
#define BARRIER_DESTROYED 1u

// Why a barwait did not depart, as the port tells.
enum refusal { REFUSED_INTERRUPT = 1, REFUSED_TIMEOUT = 2 };

// A barrier of a socket's unit, beside what the unit keeps itself.
struct barrier {
  // barrier_broken | the missing cores; or BARRIER_DESTROYED.
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
static struct barrier barriers[MOST_SOCKETS][MOST_BARRIERS];
static struct wide_barrier wide_barriers[MOST_STRUCTURES];
// Twice how often wide_barriers has changed, odd while it changes; cores of the units' barriers.
static uint32_t wide_changes, mask_size, counting_size;
// A line of its own.
static uint32_t barrier_lock __attribute__((aligned(CACHE_LINE)));

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

// The place of x0 in a frame keeps the thread's address.
static uint32_t get_register(const struct frame* thread, uint32_t number) {
  return number == 0 ? 0 : thread->x[number];
}
static void set_register(struct frame* thread, uint32_t number, uint32_t value) {
  if (number != 0) thread->x[number] = value;
}

static void install_all(void) {
  install_wide();
  const uint32_t count = barriers_of_unit(), mine = 1u << place_in_socket(THIS_CORE);
  for (uint32_t b = 0; b < count; ++b)
    if ((barget(BAR_PARTICIPANTS, b) & mine) && !(barget(BAR_INSTALLED, b) & mine)) barinit(b);
}

// Checks what a thread wants of a barrier. Returns 0 and the members, or an error. Other threads
// can change the list at any time, so each byte is read once, here and nowhere else.
static int32_t vet(const volatile uint8_t* list, uint32_t count, uint32_t timeout,
                   struct members* members) {
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

static void interrupt_others(const struct members* members) {
  const uint32_t me = THIS_CORE, sockets = SOCKETS, each = cores_of_socket();
  for (uint32_t s = 0; s < sockets; ++s)
    for (uint32_t w = 0; w < 2; ++w) {
      uint32_t core = s * each + 32 * w;
      for (uint32_t left = members->of_socket[s][w]; left != 0; left >>= 1, ++core)
        if ((left & 1) != 0 && core != me) SOFTWARE_SEND = core;
    }
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

static int32_t make_structure(const struct members* m, uint32_t timeout) {
  const uint32_t most = structures();
  uint32_t h = 0;
  lock(&barrier_lock);
  while (h < most && wide_barriers[h].timeout != 0) ++h;
  if (h < most) {
    // No thread arrives before the barrier exists in all sockets: none of them has it installed.
    for (uint32_t s = 0; s < SOCKETS; ++s)
      if (has_members(m, s)) write_cluster(s, h, m);
    begin_change();
    wide_barriers[h].members = *m;
    wide_barriers[h].group = core_of[THIS_CORE].group;
    wide_barriers[h].timeout = timeout;
    ++wide_barriers[h].made;
    end_of_change();
  }
  unlock(&barrier_lock);
  if (h == most) return ERROR_FULL;
  install_wide();
  interrupt_others(m);
  return (int32_t)(FIRST_STRUCTURE + h);
}

static int32_t create_structure(const uint8_t* list, uint32_t count, uint32_t timeout) {
  struct members m;
  const int32_t wrong = vet(list, count, timeout, &m);
  return wrong != 0 ? wrong : make_structure(&m, timeout);
}

static int32_t destroy_structure(uint32_t h) {
  if (h >= structures()) return ERROR_OWNER;
  struct wide_barrier* const w = &wide_barriers[h];
  lock(&barrier_lock);
  const int there = w->timeout != 0 && w->group == core_of[THIS_CORE].group;
  // Behind the unlock the place can have a new barrier.
  const struct members members = w->members;
  if (there) {
    begin_change();
    w->timeout = 0;
    end_of_change();
  }
  unlock(&barrier_lock);
  if (!there) return ERROR_OWNER;
  install_wide();
  // The others take their permission away before they do anything else in the kernel.
  interrupt_others(&members);
  return 0;
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
    // for all. The kernel tells who is missing in this socket, of its first 28 cores, and waits on.
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
    if (s != THIS_SOCKET && has_members(&m, s)) return make_structure(&m, timeout);
  const uint32_t most = barriers_of_unit();
  if (most == 0) return make_structure(&m, timeout);
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
  interrupt_others(&m);
  return (int32_t)b;
}

static int32_t destroy(uint32_t b) {
  if (b >= FIRST_STRUCTURE) return destroy_structure(b - FIRST_STRUCTURE);
  if (b >= barriers_of_unit()) return ERROR_OWNER;
  lock(&barrier_lock);
  const int there = barget(BAR_PARTICIPANTS, b) != 0 && state_of(b)->broken == 0 &&
                    barget(BAR_OWNER, b) == core_of[THIS_CORE].group;
  // A break leaves the departures that others are owed from a complete episode; their cores are the
  // participants until then. The unit refuses it while an episode ends, and to a core that is owed
  // one itself: the caller is in a handler, gives its own departure up by barinit, and its wait
  // ends with an error. No episode ends behind that, since the caller does not arrive.
  while (there && barset(BAR_BREAK, b, 0) != 0)
    if (barget(BAR_OWED, b) & 1u << place_in_socket(THIS_CORE)) barinit(b);
  if (there) state_of(b)->broken = BARRIER_DESTROYED;
  unlock(&barrier_lock);
  return there ? 0 : ERROR_OWNER;
}

// The handler begins with the registers of the wait, except for its arguments: the barrier, the
// address of the barwait and the missing cores.
static void enter_handler(struct frame* thread, uint32_t b, uint32_t missing) {
  *interrupted(thread) = *thread;
  thread->x[A0] = b;
  thread->x[A0 + 1] = thread->x[0];
  thread->x[A0 + 2] = missing;
  thread->x[0] = core_of[THIS_CORE].on_timeout;
  trace(TRACE_SIGNAL, b);
}

// Decides about a barwait at a barrier of the unit that was refused or took too long.
static void decide(struct frame* thread, uint32_t insn, int took_too_long, uint32_t policy) {
  const uint32_t b = get_register(thread, insn >> 15 & 31), result = insn >> 7 & 31;
  const uint32_t mine = 1u << place_in_socket(THIS_CORE);
  lock(&barrier_lock);
  const int ours = b < barriers_of_unit() && barget(BAR_OWNER, b) == core_of[THIS_CORE].group;
  const uint32_t broken = ours ? state_of(b)->broken : 0;
  const uint32_t all = ours ? barget(BAR_PARTICIPANTS, b) : 0;
  // In this order: if this core is not owed a departure now, the episode had not ended before, and
  // those that had not arrived are missing.
  const uint32_t missing = ours ? all & ~barget(BAR_ARRIVED, b) : 0;
  const int is_owed = ours && (barget(BAR_OWED, b) & mine) != 0;
  int departs = 1;
  if ((broken & barrier_broken) && !is_owed) {
    // This also holds for cores that time out at the same moment: the first one has broken the
    // barrier for all.
    state_of(b)->untold &= ~mine;
    set_register(thread, result, broken);
  } else if (took_too_long && (all & mine)) {
    trace(TRACE_TIMEOUT, missing);
    if (policy == POLICY_SIGNAL && !is_owed) {
      enter_handler(thread, b, missing);
      departs = 0;
    } else if (policy == POLICY_BREAK && barset(BAR_BREAK, b, 0) == 0) {
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

static void serve_wait(struct frame* thread, uint32_t insn) {
  const uint32_t b = get_register(thread, insn >> 15 & 31), why = barctx_read(CTX_CAUSE);
  if (why == REFUSED_INTERRUPT) return;
  if (b >= FIRST_STRUCTURE) return serve_wide_wait(thread, b, insn, why);
  const int is_handled = core_of[THIS_CORE].on_timeout != 0 && interrupted(thread)->x[0] == 0;
  decide(thread, insn, why == REFUSED_TIMEOUT,
         is_handled ? POLICY_SIGNAL : PARAMETER(PARAM_POLICY));
}

static int32_t set_on_timeout(uint32_t entry) {
  if (entry % 4 != 0 || entry >= IMAGE_SIZE) return ERROR_CALL;
  core_of[THIS_CORE].on_timeout = entry;
  return 0;
}

static int32_t resume(struct frame* thread, uint32_t choice) {
  if (interrupted(thread)->x[0] == 0) return ERROR_CALL;
  *thread = *interrupted(thread);
  interrupted(thread)->x[0] = 0;
  // While the handler ran, the episode may have ended, or another core may have broken the barrier:
  // decide() looks at it anew.
  decide(thread, *(const uint32_t*)thread->x[0], 1,
         choice == POLICY_BREAK ? POLICY_BREAK : POLICY_WAIT_ON);
  return (int32_t)thread->x[A0];
}
