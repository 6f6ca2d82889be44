/* SPDX-License-Identifier: Apache-2.0 */
/* The barrier packet, for the kernel's packet path, user space, simulators and the engine in RTL:
 * figure 1 of Arap, Brown, Himebaugh and Swany in its first 48 bytes, then extensions.
 *
 *   0  destination MAC 6, source MAC 6, type 2
 *  14  IPv4 header, 20 bytes, without options
 *  34  UDP header, 8 bytes, destination port 29813
 *  42  message 2 (number of the episode modulo 256, then the kind), comm_ID 2, topo_type 1,
 *      node_type 1
 *  48  version, number of values, operation, wanted kind, 1 each; episode 4, incarnation 4
 *  60  source rank 4, destination rank 4, check 8
 *  76  values of 8 bytes
 *
 * Numbers are big-endian. A packet that ends after 60 bytes, the smallest frame, is plain; an RTL
 * engine (hardware/innetwork) understands only plain packets, and puts three stamps of 8 bytes
 * behind those with which it releases its host. This file compiles as C for the kernel's verifier,
 * and as C++. */
#ifndef TUTTI_NETWORK_PACKET_H
#define TUTTI_NETWORK_PACKET_H

#include <linux/types.h>

#define TUTTI_NET_INLINE static inline __attribute__((always_inline, unused))

enum {
  TUTTI_NET_UDP_PORT = 29813,
  TUTTI_NET_ETHERNET_BYTES = 14,
  TUTTI_NET_IP_BYTES = 20,
  TUTTI_NET_UDP_BYTES = 8,
  /* Where the message begins in a frame. */
  TUTTI_NET_HEADERS = 42,
  TUTTI_NET_PLAIN_BYTES = 18,
  TUTTI_NET_EXTENSION_BYTES = 16,
  TUTTI_NET_MESSAGE_BYTES = TUTTI_NET_PLAIN_BYTES + TUTTI_NET_EXTENSION_BYTES,
  /* When the node took the call, when the last message that the episode needed since then came, and
   * when the release left; in cycles of the engine. */
  TUTTI_NET_STAMPS_BYTES = 24,
  TUTTI_NET_VERSION = 1,
  /* The largest number of values in a packet. */
  TUTTI_NET_VALUES = 32,
};

/* Low byte of the field `message`. The first three are those of the RTL engine; the others are sent
 * only with the extension. */
enum tutti_net_kind {
  TUTTI_NET_NO_MESSAGE = 0,
  /* From a host to its node: it calls. */
  TUTTI_NET_START = 1,
  /* Between nodes. */
  TUTTI_NET_ARRIVE = 2,
  /* Between nodes, and from a node to its host. */
  TUTTI_NET_RELEASE = 3,
  /* Between nodes: send me again what you owe me in this episode; `wanted` is its kind. */
  TUTTI_NET_ASK = 4,
  /* From any host to any node: how far are you? Answered by TUTTI_NET_STATUS. */
  TUTTI_NET_QUERY = 5,
  /* The episode is the sender's; `wanted` is 1 if its host has called in this episode, and 2 if it
   * has called differently from others. */
  TUTTI_NET_STATUS = 6,
};

enum tutti_net_topology {
  TUTTI_NET_RING = 1,
  TUTTI_NET_TREE = 2,
  TUTTI_NET_STAR = 3,
  TUTTI_NET_BUTTERFLY = 4,
  /* The RTL engine does not have these. */
  TUTTI_NET_DISSEMINATION = 5,
  TUTTI_NET_SWITCH = 6,
};

/* What a packet's values are combined by. They are numbers of 64 bits. */
enum tutti_net_operation {
  TUTTI_NET_NO_OPERATION = 0,
  TUTTI_NET_SUM = 1,
  /* Signed. */
  TUTTI_NET_MIN = 2,
  TUTTI_NET_MAX = 3,
  TUTTI_NET_AND = 4,
  TUTTI_NET_OR = 5,
  TUTTI_NET_XOR = 6,
  TUTTI_NET_OPERATIONS = 7,
};

enum {
  /* In place of a rank: a switch that combines, and every rank. */
  TUTTI_NET_THE_SWITCH = 0xfffffffe,
  TUTTI_NET_EVERYONE = 0xffffffff,
};

/* A message without its values. */
struct tutti_net_message {
  __u8 kind, topology, role;
  /* 1: without source, destination, check and values, which are then 0. */
  __u8 plain;
  __u8 words, operation, wanted, unused;
  __u16 communicator, unused2;
  __u32 episode, incarnation, source, destination;
  __u64 check;
};

TUTTI_NET_INLINE __u16 tutti_net_get16(const __u8* at) {
  return (__u16)((__u16)at[0] << 8 | at[1]);
}
TUTTI_NET_INLINE __u32 tutti_net_get32(const __u8* at) {
  return (__u32)at[0] << 24 | (__u32)at[1] << 16 | (__u32)at[2] << 8 | at[3];
}
TUTTI_NET_INLINE __u64 tutti_net_get64(const __u8* at) {
  return (__u64)tutti_net_get32(at) << 32 | tutti_net_get32(at + 4);
}
TUTTI_NET_INLINE void tutti_net_put16(__u8* at, __u16 value) {
  at[0] = (__u8)(value >> 8);
  at[1] = (__u8)value;
}
TUTTI_NET_INLINE void tutti_net_put32(__u8* at, __u32 value) {
  tutti_net_put16(at, (__u16)(value >> 16));
  tutti_net_put16(at + 2, (__u16)value);
}
TUTTI_NET_INLINE void tutti_net_put64(__u8* at, __u64 value) {
  tutti_net_put32(at, (__u32)(value >> 32));
  tutti_net_put32(at + 4, (__u32)value);
}

TUTTI_NET_INLINE void tutti_net_read_common(const __u8* at, struct tutti_net_message* m) {
  __builtin_memset(m, 0, sizeof *m);
  m->kind = at[1];
  m->communicator = tutti_net_get16(at + 2);
  m->topology = at[4];
  m->role = at[5];
  m->words = at[7];
  m->operation = at[8];
  m->wanted = at[9];
  m->episode = tutti_net_get32(at + 10);
  m->incarnation = tutti_net_get32(at + 14);
}

/* Reads the 18 bytes of a plain message. Returns 0 if they contradict themselves or are of another
 * version. */
TUTTI_NET_INLINE int tutti_net_read_plain(const __u8* at, struct tutti_net_message* m) {
  tutti_net_read_common(at, m);
  m->plain = 1;
  return at[6] == TUTTI_NET_VERSION && at[0] == (m->episode & 0xff) && m->words == 0 &&
         m->operation == 0 && m->wanted == 0;
}

/* Reads the 34 bytes of an extended message. Returns 0 if they contradict themselves or are of
 * another version. */
TUTTI_NET_INLINE int tutti_net_read_extended(const __u8* at, struct tutti_net_message* m) {
  const __u8* extension = at + TUTTI_NET_PLAIN_BYTES;
  tutti_net_read_common(at, m);
  m->source = tutti_net_get32(extension);
  m->destination = tutti_net_get32(extension + 4);
  m->check = tutti_net_get64(extension + 8);
  return at[6] == TUTTI_NET_VERSION && at[0] == (m->episode & 0xff) &&
         m->words <= TUTTI_NET_VALUES && m->operation < TUTTI_NET_OPERATIONS &&
         (m->words == 0) == (m->operation == 0);
}

TUTTI_NET_INLINE void tutti_net_write_plain(__u8* at, const struct tutti_net_message* m) {
  at[0] = (__u8)m->episode;
  at[1] = m->kind;
  tutti_net_put16(at + 2, m->communicator);
  at[4] = m->topology;
  at[5] = m->role;
  at[6] = TUTTI_NET_VERSION;
  at[7] = m->words;
  at[8] = m->operation;
  at[9] = m->wanted;
  tutti_net_put32(at + 10, m->episode);
  tutti_net_put32(at + 14, m->incarnation);
}

TUTTI_NET_INLINE void tutti_net_write_extended(__u8* at, const struct tutti_net_message* m) {
  __u8* extension = at + TUTTI_NET_PLAIN_BYTES;
  tutti_net_write_plain(at, m);
  tutti_net_put32(extension, m->source);
  tutti_net_put32(extension + 4, m->destination);
  tutti_net_put64(extension + 8, m->check);
}

/* SipHash-2-4 (Aumasson and Bernstein) of words of 64 bits. */
struct tutti_net_siphash {
  __u64 v0, v1, v2, v3, words;
};
struct tutti_net_key {
  __u64 k0, k1;
};

TUTTI_NET_INLINE __u64 tutti_net_rotated(__u64 x, int by) { return x << by | x >> (64 - by); }

TUTTI_NET_INLINE void tutti_net_sip_round(struct tutti_net_siphash* s) {
  s->v0 += s->v1;
  s->v1 = tutti_net_rotated(s->v1, 13) ^ s->v0;
  s->v0 = tutti_net_rotated(s->v0, 32);
  s->v2 += s->v3;
  s->v3 = tutti_net_rotated(s->v3, 16) ^ s->v2;
  s->v0 += s->v3;
  s->v3 = tutti_net_rotated(s->v3, 21) ^ s->v0;
  s->v2 += s->v1;
  s->v1 = tutti_net_rotated(s->v1, 17) ^ s->v2;
  s->v2 = tutti_net_rotated(s->v2, 32);
}

TUTTI_NET_INLINE void tutti_net_sip_begin(struct tutti_net_siphash* s,
                                          const struct tutti_net_key* key) {
  s->v0 = key->k0 ^ 0x736f6d6570736575ull;
  s->v1 = key->k1 ^ 0x646f72616e646f6dull;
  s->v2 = key->k0 ^ 0x6c7967656e657261ull;
  s->v3 = key->k1 ^ 0x7465646279746573ull;
  s->words = 0;
}

TUTTI_NET_INLINE void tutti_net_sip_word(struct tutti_net_siphash* s, __u64 word) {
  s->v3 ^= word;
  tutti_net_sip_round(s);
  tutti_net_sip_round(s);
  s->v0 ^= word;
  ++s->words;
}

TUTTI_NET_INLINE __u64 tutti_net_sip_end(struct tutti_net_siphash* s) {
  /* The last block has the number of bytes in its highest byte. */
  tutti_net_sip_word(s, s->words << 59);
  s->v2 ^= 0xff;
  tutti_net_sip_round(s);
  tutti_net_sip_round(s);
  tutti_net_sip_round(s);
  tutti_net_sip_round(s);
  return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

/* Computes the check of an extended message with its values in host order. With a key that only
 * members have, it authenticates them; with the key 0 it detects accidents. */
TUTTI_NET_INLINE __u64 tutti_net_check_of(const struct tutti_net_message* m, const __u64* values,
                                          const struct tutti_net_key* key) {
  struct tutti_net_siphash s;
  int i;
  tutti_net_sip_begin(&s, key);
  tutti_net_sip_word(&s, (__u64)m->kind | (__u64)m->topology << 8 | (__u64)m->role << 16 |
                             (__u64)m->words << 24 | (__u64)m->operation << 32 |
                             (__u64)m->wanted << 40 | (__u64)m->communicator << 48);
  tutti_net_sip_word(&s, (__u64)m->episode | (__u64)m->incarnation << 32);
  tutti_net_sip_word(&s, (__u64)m->source | (__u64)m->destination << 32);
  for (i = 0; i < TUTTI_NET_VALUES; ++i) {
    if (i >= m->words) break;
    tutti_net_sip_word(&s, values[i]);
  }
  return tutti_net_sip_end(&s);
}

#endif
