/* SPDX-License-Identifier: Apache-2.0 */
/* The state of one communicator at one node, and what a message does to it. A node executes a
 * table: a row is a set of messages that must have come, and the messages that it then sends; the
 * last row ends the episode. The core of the engine in hardware/innetwork does the same.
 *
 * A message that may come has a slot: slot 0 is the host's call, the others are a kind from a rank.
 * It sets a bit at once, in whichever order messages come. A message of the next episode is kept
 * apart, because a neighbour may have ended this one earlier; it cannot be two episodes ahead,
 * because it needs this node's message of the next one. A message of any other episode is a
 * repetition and changes nothing.
 *
 * Lost messages: a host that waits repeats its call. The node then asks those from whom it misses
 * messages of its row; they send again what they have sent in that episode, which is theirs or the
 * one before. A node without a host (a switch) that is asked for what it has not got asks onwards.
 *
 * Plain packets cannot ask. Nodes that echo send once more, for a repeated message, what the row
 * that needed it has sent in that message's episode, which is this one or the one before. Later
 * rows alone need that, so an echo goes through the rest of the barrier once; in a ring, a tree and
 * a star it comes to whoever misses a message.
 *
 * The code has bounded loops, no I/O and no allocation: it runs in the kernel's packet path, in
 * user space and in simulators. The caller holds a lock or is alone. */
#ifndef TUTTI_NETWORK_MACHINE_H
#define TUTTI_NETWORK_MACHINE_H

#include "network/packet.h"

enum {
  /* Powers of two, for the masks below. */
  TUTTI_NET_ROWS = 32,
  /* The rows that a table may have in the kernel, whose verifier goes through all of them; a
   * butterfly of 1024 ranks has 11. */
  TUTTI_NET_KERNEL_ROWS = 12,
  /* Bit 0 is the host. */
  TUTTI_NET_SLOTS = 64,
  /* Values are combined so many at once, or all: the verifier would follow every number. */
  TUTTI_NET_FEW = 4,
#ifdef __bpf__
  TUTTI_NET_MOST_ROWS = TUTTI_NET_KERNEL_ROWS,
#else
  TUTTI_NET_MOST_ROWS = TUTTI_NET_ROWS,
#endif
};

/* Returns an index below a power of two. The verifier wants to see the bound where the index is
 * used; a compiler that knows it already would leave the mask out. */
TUTTI_NET_INLINE __u64 tutti_net_below(__u64 index, __u64 bound) {
#ifdef __bpf__
  __asm__ volatile("%0 &= %1" : "+r"(index) : "r"(bound - 1));
  return index;
#else
  return index & (bound - 1);
#endif
}

/* A message that may come, or be sent. */
struct tutti_net_link {
  __u32 rank;
  /* Where the rank is, in network order; simulators and loopback leave it 0. */
  __u32 ip;
  __u8 mac[6];
  __u8 kind;
  /* The row that needs, or sends, it. */
  __u8 row;
  /* Its own place in the list: the verifier goes on with one unknown number instead of 63 known
   * ones. */
  __u32 slot;
};

struct tutti_net_row {
  /* Bits of `in`. */
  __u64 need;
  /* Bits of `out`. */
  __u64 send;
  /* Those of `need` whose values replace what has been combined: results, not parts. */
  __u64 replace;
};

struct tutti_net_table {
  __u32 rank, size, incarnation;
  __u16 communicator;
  __u8 topology, role;
  __u8 rows, ins, outs;
  /* Packets say neither from whom nor for whom they are. */
  __u8 plain;
  /* 0 for a switch. */
  __u8 has_host;
  __u8 echoes;
  __u8 unused[2];
  struct tutti_net_row row[TUTTI_NET_ROWS];
  struct tutti_net_link in[TUTTI_NET_SLOTS], out[TUTTI_NET_SLOTS];
};

struct tutti_net_state {
  __u32 episode, row;
  /* Messages that came in this episode, and in the next. */
  __u64 now, ahead;
  /* An episode has ended here: that before episode 0, too, is one that others may ask for. */
  __u32 has_ended;
  /* The host's call does not agree with what has come in this episode, so it does not count. */
  __u32 differs;
};

/* What messages carry. A parity is that of the episode: a node is asked for values of its last
 * episode. */
struct tutti_net_values {
  /* Number of values and operation of what came, and of what was sent: a message of the next
   * episode may come while the last one is still asked for. */
  __u8 words[2], operation[2];
  __u8 sent_words[2], sent_operation[2];
  /* Rows whose part or result has come. */
  __u64 filled[2];
  __u64 part[2][TUTTI_NET_ROWS][TUTTI_NET_VALUES];
  __u64 sent[2][TUTTI_NET_ROWS][TUTTI_NET_VALUES];
};

/* What became of a message. */
enum tutti_net_outcome {
  TUTTI_NET_COUNTED = 0,
  /* It counted for the next episode. */
  TUTTI_NET_EARLY = 1,
  /* It has come before, or is of an episode that is over or too far ahead. */
  TUTTI_NET_REPEATED = 2,
  /* The table has no such message. */
  TUTTI_NET_STRANGER = 3,
  /* It asked, and was answered or forwarded. */
  TUTTI_NET_ASKED = 4,
  /* Its number of values or operation is not that of this episode: ranks disagree on the call. */
  TUTTI_NET_DISAGREES = 5,
  TUTTI_NET_OUTCOMES = 6,
};

/* What the node must do. */
struct tutti_net_actions {
  /* Bits of `out` to send, with the values that the rows sent in `episode`. */
  __u64 send;
  /* Bits of `in` whose ranks are to be asked for that message of `episode`. */
  __u64 ask;
  __u32 episode;
  __u8 outcome;
  /* The episode is over: the host is released, with the values of the last row. */
  __u8 released;
  /* The sender of the message wants TUTTI_NET_STATUS. */
  __u8 answer;
  /* These are sent once more. */
  __u8 again;
};

/* Returns the slot of a message, or -1. In a plain message only the kind tells. */
TUTTI_NET_INLINE int tutti_net_slot_of(const struct tutti_net_link* links, __u32 count,
                                       const struct tutti_net_message* m, __u8 kind) {
  __u32 i;
  for (i = 1; i < TUTTI_NET_SLOTS; ++i) {
    if (i >= count) break;
    if (links[i].kind == kind && (m->plain || links[i].rank == m->source))
      return (int)(links[i].slot & (TUTTI_NET_SLOTS - 1));
  }
  return -1;
}

/* It has no branches, because the verifier follows each one for each value. */
TUTTI_NET_INLINE __u64 tutti_net_combined(__u8 operation, __u64 a, __u64 b) {
  const __u64 less = 0 - (((a - b) ^ ((a ^ b) & ((a - b) ^ a))) >> 63);
  const __u64 least = (a & less) | (b & ~less), most = (b & less) | (a & ~less);
  /* One bit, which makes the mask of one result. */
  const __u64 only = 1ull << (operation & 7);
  return ((a + b) & (0 - (only >> TUTTI_NET_SUM & 1))) |
         (least & (0 - (only >> TUTTI_NET_MIN & 1))) | (most & (0 - (only >> TUTTI_NET_MAX & 1))) |
         (a & b & (0 - (only >> TUTTI_NET_AND & 1))) |
         ((a | b) & (0 - (only >> TUTTI_NET_OR & 1))) |
         ((a ^ b) & (0 - (only >> TUTTI_NET_XOR & 1)));
}

/* Adds the values of a message to its row. Returns 0 if ranks disagree on the call. */
TUTTI_NET_INLINE int tutti_net_take(const struct tutti_net_table* t, struct tutti_net_values* v,
                                    __u32 slot, const struct tutti_net_message* m,
                                    const __u64* values, int first) {
  const __u32 parity = m->episode & 1;
  const __u32 row = slot == 0 ? 0 : t->in[tutti_net_below(slot, TUTTI_NET_SLOTS)].row;
  __u64* part = v->part[parity][tutti_net_below(row, TUTTI_NET_ROWS)];
  __u64 old;
  int i, fresh;
  if (first) {
    v->words[parity] = m->words;
    v->operation[parity] = m->operation;
    v->filled[parity] = 0;
  } else if (v->words[parity] != m->words || v->operation[parity] != m->operation) {
    return 0;
  }
  fresh = !(v->filled[parity] >> row & 1);
  v->filled[parity] |= 1ull << row;
  if (m->words == 0) return 1;
  old = fresh ? 0 : ~0ull;
  for (i = 0; i < TUTTI_NET_FEW; ++i)
    part[i] = (values[i] & ~old) | (tutti_net_combined(m->operation, part[i], values[i]) & old);
  if (m->words <= TUTTI_NET_FEW) return 1;
  for (i = TUTTI_NET_FEW; i < TUTTI_NET_VALUES; ++i)
    part[i] = (values[i] & ~old) | (tutti_net_combined(m->operation, part[i], values[i]) & old);
  return 1;
}

/* Combines what a row has got with what the rows before it had, which makes what it sends. */
TUTTI_NET_INLINE void tutti_net_combine_row(const struct tutti_net_table* t,
                                            struct tutti_net_values* v, __u32 parity, __u32 row) {
  const __u64* part = v->part[parity][tutti_net_below(row, TUTTI_NET_ROWS)];
  const __u64* before = v->sent[parity][tutti_net_below(row - 1, TUTTI_NET_ROWS)];
  __u64* sent = v->sent[parity][tutti_net_below(row, TUTTI_NET_ROWS)];
  const __u8 operation = v->operation[parity];
  /* Masks: what came before counts, and so does what this row has got. */
  const __u64 replaces = t->row[tutti_net_below(row, TUTTI_NET_ROWS)].replace;
  const __u64 old = 0 - (__u64)(row > 0 && replaces == 0);
  const __u64 has_part = 0 - (v->filled[parity] >> (row & 63) & 1);
  const int few = v->words[parity] <= TUTTI_NET_FEW;
  __u32 i;
  for (i = 0; i < TUTTI_NET_VALUES; ++i) {
    if (i == TUTTI_NET_FEW && few) break;
    sent[i] = (tutti_net_combined(operation, before[i], part[i]) & old & has_part) |
              (before[i] & old & ~has_part) | (part[i] & ~old);
  }
}

/* Goes through the rows that are complete. */
TUTTI_NET_INLINE void tutti_net_advance(const struct tutti_net_table* t, struct tutti_net_state* s,
                                        struct tutti_net_values* v, struct tutti_net_actions* a) {
  __u32 i;
  a->episode = s->episode;
  for (i = 0; i < TUTTI_NET_MOST_ROWS; ++i) {
    const __u32 row = s->row;
    const struct tutti_net_row* r = &t->row[tutti_net_below(row, TUTTI_NET_ROWS)];
    if (row >= t->rows) break;
    if ((r->need & ~s->now) != 0) break;
    if (v) {
      const __u32 parity = s->episode & 1;
      v->sent_words[parity] = v->words[parity];
      v->sent_operation[parity] = v->operation[parity];
      if (v->words[parity] != 0) tutti_net_combine_row(t, v, parity, row);
    }
    a->send |= r->send;
    s->row = row + 1;
  }
  if (s->row < t->rows) return;
  a->released = 1;
  s->now = s->ahead;
  s->ahead = 0;
  s->row = 0;
  s->differs = 0;
  s->has_ended = 1;
  ++s->episode;
}

/* An Ask: sends again what has been sent, and otherwise tells how far this node is. */
TUTTI_NET_INLINE void tutti_net_asked(const struct tutti_net_table* t,
                                      const struct tutti_net_state* s,
                                      const struct tutti_net_message* m,
                                      struct tutti_net_actions* a) {
  const int slot = tutti_net_slot_of(t->out, t->outs, m, m->wanted);
  a->outcome = TUTTI_NET_STRANGER;
  if (slot < 0) return;
  a->episode = m->episode;
  a->outcome = TUTTI_NET_REPEATED;
  if (m->episode + 1 == s->episode ||
      (m->episode == s->episode &&
       t->out[tutti_net_below((__u64)slot, TUTTI_NET_SLOTS)].row < s->row)) {
    a->outcome = TUTTI_NET_ASKED;
    a->send = 1ull << (slot & (TUTTI_NET_SLOTS - 1));
    a->again = 1;
  } else if (m->episode == s->episode) {
    a->outcome = TUTTI_NET_ASKED;
    a->again = 1;
    if (t->has_host)
      a->answer = 1;
    else
      a->ask = t->row[tutti_net_below(s->row, TUTTI_NET_ROWS)].need & ~s->now;
  } else if (!t->has_host && m->episode == s->episode + 1) {
    /* The asker has been released from this node's episode: the node has begun again since. When
     * it has heard of the asker's episode from all, tutti_net_catch_up() goes on to that. */
    a->outcome = TUTTI_NET_ASKED;
    a->again = 1;
    a->ask = t->row[0].need & ~s->ahead;
  }
}

/* A repeated message of this episode, or of the one before: sends again what it has caused. */
TUTTI_NET_INLINE void tutti_net_echo(const struct tutti_net_table* t,
                                     const struct tutti_net_state* s, __u32 slot, int is_now,
                                     struct tutti_net_actions* a) {
  const __u32 row = slot == 0 ? 0 : t->in[tutti_net_below(slot, TUTTI_NET_SLOTS)].row;
  const int is_past = a->episode + 1 == s->episode && (s->episode != 0 || s->has_ended);
  if (is_now ? row >= s->row : !is_past) return;
  a->send = t->row[tutti_net_below(row, TUTTI_NET_ROWS)].send & ~1ull;
  a->again = 1;
}

/* Performs a message for a communicator whose table it names. `from_host` is 1 for a packet of this
 * node's own host. `v` may be null where no message has values. */
TUTTI_NET_INLINE void tutti_net_step(const struct tutti_net_table* t, struct tutti_net_state* s,
                                     struct tutti_net_values* v, const struct tutti_net_message* m,
                                     const __u64* values, int from_host,
                                     struct tutti_net_actions* a) {
  int slot = 0, is_now, is_next;
  __u64 bit, seen;
  __builtin_memset(a, 0, sizeof *a);
  a->episode = m->episode;
  a->outcome = TUTTI_NET_STRANGER;
  if (from_host != (m->kind == TUTTI_NET_START)) return;
  if (from_host) {
    /* Another role would be another node's call. */
    if (!t->has_host || m->role != t->role || (!m->plain && m->source != t->rank)) return;
  } else if (m->kind == TUTTI_NET_ASK) {
    tutti_net_asked(t, s, m, a);
    return;
  } else if (m->kind == TUTTI_NET_QUERY) {
    a->outcome = TUTTI_NET_ASKED;
    a->episode = s->episode;
    a->answer = 1;
    return;
  } else {
    if (m->kind != TUTTI_NET_ARRIVE && m->kind != TUTTI_NET_RELEASE) return;
    slot = tutti_net_slot_of(t->in, t->ins, m, m->kind);
    if (slot < 0) return;
  }
  slot &= TUTTI_NET_SLOTS - 1;
  bit = 1ull << slot;
  is_now = m->episode == s->episode;
  /* A host learns of the end of an episode only by its release, so it is never ahead. */
  is_next = m->episode == s->episode + 1 && slot != 0;
  a->outcome = TUTTI_NET_REPEATED;
  if (is_now && (s->now & bit) != 0 && slot == 0) {
    if (!t->echoes) a->ask = t->row[tutti_net_below(s->row, TUTTI_NET_ROWS)].need & ~s->now;
    a->again = 1;
  }
  seen = is_now ? s->now : s->ahead;
#ifndef TUTTI_NET_NO_PLAIN_PACKETS
  if (!is_next && t->echoes && (!is_now || (seen & bit) != 0))
    tutti_net_echo(t, s, (__u32)slot, is_now, a);
#endif
  if (!is_now && !is_next) return;
  if ((seen & bit) != 0) return;
  if (v && !tutti_net_take(t, v, (__u32)slot, m, values, seen == 0)) {
    a->outcome = TUTTI_NET_DISAGREES;
    s->differs |= (__u32)from_host;
    return;
  }
  if (!is_now) {
    s->ahead |= bit;
    a->outcome = TUTTI_NET_EARLY;
    return;
  }
  s->now |= bit;
  tutti_net_advance(t, s, v, a);
  a->outcome = TUTTI_NET_COUNTED;
}

/* Returns what TUTTI_NET_STATUS says of the host in `wanted`. It has no branches, because the
 * verifier follows each. */
TUTTI_NET_INLINE __u8 tutti_net_call_of(const struct tutti_net_state* s) {
  const __u64 counts = s->now & 1;
  return (__u8)(counts | (s->differs & ~counts & 1) << 1);
}

/* Fills in the message of an action: bit `slot` of `send`. */
TUTTI_NET_INLINE void tutti_net_compose(const struct tutti_net_table* t,
                                        const struct tutti_net_values* v, __u32 episode, __u8 kind,
                                        __u32 destination, struct tutti_net_message* m) {
  __builtin_memset(m, 0, sizeof *m);
  m->kind = kind;
  m->topology = t->topology;
  m->role = t->role;
  m->communicator = t->communicator;
  m->plain = t->plain;
  m->episode = episode;
  m->incarnation = t->incarnation;
  m->source = t->rank;
  m->destination = destination;
  if (v) {
    m->words = v->sent_words[episode & 1];
    m->operation = v->sent_operation[episode & 1];
  }
}

/* For nodes without a host, before tutti_net_step(): the sender of an arrival was released from the
 * episode before it, so all episodes before are over. If the node has not heard of that, it has
 * begun again since. */
TUTTI_NET_INLINE void tutti_net_catch_up(const struct tutti_net_table* t, struct tutti_net_state* s,
                                         const struct tutti_net_message* m) {
  const __s32 ahead = (__s32)(m->episode - s->episode);
  if (m->kind != TUTTI_NET_ARRIVE || m->source >= t->size || ahead < 1) return;
  if (ahead == 1) {
    const int slot = tutti_net_slot_of(t->in, t->ins, m, m->kind);
    /* A rank that is still in this episode needs the messages that have come. */
    if (slot < 0 || (t->row[0].need & ~(s->ahead | 1ull << (slot & (TUTTI_NET_SLOTS - 1)))) != 0)
      return;
    s->episode = m->episode;
    s->row = 0;
    s->now = s->ahead;
    s->ahead = 0;
    return;
  }
  s->episode = m->episode;
  s->row = 0;
  s->now = s->ahead = 0;
}

/* Returns 1 if a message is for this communicator and may change it; the check comes after. */
TUTTI_NET_INLINE int tutti_net_is_for(const struct tutti_net_table* t,
                                      const struct tutti_net_message* m) {
  return m->communicator == t->communicator && m->topology == t->topology && m->plain == t->plain &&
         m->incarnation == t->incarnation &&
         (m->plain || m->destination == t->rank || m->destination == TUTTI_NET_EVERYONE);
}

#endif
