/* SPDX-License-Identifier: Apache-2.0 */
/* The communicators of a program in the kernel, as maps: those of a node and those of a switch. */
#ifndef TUTTI_NETWORK_BPF_MAPS_H
#define TUTTI_NETWORK_BPF_MAPS_H

#include <linux/bpf.h>
/* */
#include <bpf/bpf_helpers.h>

#include "network/bpf/shared.h"

/* A map, by its kind, the most entries that it has, and the types of its keys and values. */
#define TUTTI_NET_MAP(name, kind, most, key_type, value_type) \
  struct {                                                    \
    __uint(type, kind);                                       \
    __uint(max_entries, most);                                \
    __type(key, key_type);                                    \
    __type(value, value_type);                                \
  } name SEC(".maps")

TUTTI_NET_MAP(members, BPF_MAP_TYPE_ARRAY, TUTTI_NET_MEMBERS, __u32, struct tutti_net_member);

TUTTI_NET_MAP(values, BPF_MAP_TYPE_ARRAY, TUTTI_NET_MEMBERS, __u32, struct tutti_net_values);

/* From a communicator to its place in the arrays. */
TUTTI_NET_MAP(places, BPF_MAP_TYPE_HASH, TUTTI_NET_MEMBERS, __u16, __u32);

/* From a place to its owner, for processes alone: an entry is there before the place is used. The
 * last one is that of the process that frees what others have left. */
TUTTI_NET_MAP(owners, BPF_MAP_TYPE_HASH, TUTTI_NET_MEMBERS + 1, __u32, struct tutti_net_owner);

TUTTI_NET_MAP(counters, BPF_MAP_TYPE_PERCPU_ARRAY, TUTTI_NET_COUNTERS, __u32, __u64);

/* The packet at hand. The verifier looks at a function that is not inlined by itself, once; such
 * functions take numbers, and find the rest here. */
struct scratch {
  struct tutti_net_message message;
  /* Of which communicator the message at hand is: another process may give its place to another
   * one meanwhile. */
  struct tutti_net_identity identity;
  struct tutti_net_actions actions;
  __u64 value[TUTTI_NET_VALUES];
  /* The node's: the time, and where a clone of a packet goes. */
  __u64 now;
  __u32 ip;
  __u8 mac[8];
  __u8 frame[512];
};
TUTTI_NET_MAP(scratches, BPF_MAP_TYPE_PERCPU_ARRAY, 1, __u32, struct scratch);

/* Returns 1 if the table is not that of the message at hand any more. It has no branches, because
 * the verifier follows each. */
TUTTI_NET_INLINE __u32 is_gone(const struct tutti_net_table* t,
                               const struct tutti_net_identity* identity) {
  const __u64 differs =
      ((__u32)t->communicator ^ identity->communicator) | (t->incarnation ^ identity->incarnation);
  return (__u32)((0 - differs) >> 63 | ((__u64)t->topology - 1) >> 63);
}

/* Computes the check of the message in the scratch with the values there. */
__attribute__((noinline)) __u64 check_of(__u32 index) {
  const __u32 zero = 0;
  struct tutti_net_member* me = bpf_map_lookup_elem(&members, &index);
  struct scratch* s = bpf_map_lookup_elem(&scratches, &zero);
  if (!me || !s) return 0;
  return tutti_net_check_of(&s->message, s->value, &me->key);
}

TUTTI_NET_INLINE void count(__u32 what) {
  __u64* c = bpf_map_lookup_elem(&counters, &what);
  if (c) ++*c;
}

/* Finds a communicator and its place in the arrays. Returns 0 if there is none, and counts that. */
TUTTI_NET_INLINE struct tutti_net_member* find_member(__u16 communicator, __u32* place) {
  const __u32* entry = bpf_map_lookup_elem(&places, &communicator);
  if (!entry) {
    count(TUTTI_NET_COUNT_UNKNOWN);
    return 0;
  }
  *place = *entry;
  return bpf_map_lookup_elem(&members, place);
}

/* Copies the values behind a message. Returns 0 if the frame ends before, and counts that. */
TUTTI_NET_INLINE int read_values(const __u8* data, const __u8* end, __u32 words, __u64* value) {
  int i;
  for (i = 0; i < TUTTI_NET_VALUES; ++i) {
    const __u8* at = data + TUTTI_NET_EXTENDED_FRAME + 8 * i;
    if (i >= words) break;
    if (at + 8 > end) {
      count(TUTTI_NET_COUNT_MALFORMED);
      return 0;
    }
    value[i] = tutti_net_get64(at);
  }
  return 1;
}

/* Writes the values behind a message, as far as the frame reaches. */
TUTTI_NET_INLINE void write_values(__u8* data, const __u8* end, __u32 words, const __u64* value) {
  int i;
  for (i = 0; i < TUTTI_NET_VALUES; ++i) {
    __u8* at = data + TUTTI_NET_EXTENDED_FRAME + 8 * i;
    if (i >= words || at + 8 > end) break;
    tutti_net_put64(at, value[i]);
  }
}

#endif
