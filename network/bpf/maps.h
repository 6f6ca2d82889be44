/* SPDX-License-Identifier: Apache-2.0 */
/* The communicators of a program in the kernel, as maps: those of a node and those of a switch. */
#ifndef TUTTI_NETWORK_BPF_MAPS_H
#define TUTTI_NETWORK_BPF_MAPS_H

#include <linux/bpf.h>
/* */
#include <bpf/bpf_helpers.h>

#include "network/bpf/shared.h"

struct member {
  struct bpf_spin_lock lock;
  __u32 user;
  struct tutti_net_key key;
  struct tutti_net_place self;
  __u32 unused;
  __u64 called_at;
  struct tutti_net_state state;
  struct tutti_net_table table;
};
_Static_assert(sizeof(struct member) == sizeof(struct tutti_net_member), "one layout");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, TUTTI_NET_MEMBERS);
  __type(key, __u32);
  __type(value, struct member);
} members SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, TUTTI_NET_MEMBERS);
  __type(key, __u32);
  __type(value, struct tutti_net_values);
} values SEC(".maps");

/* From a communicator to its place in the arrays. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, TUTTI_NET_MEMBERS);
  __type(key, __u16);
  __type(value, __u32);
} places SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, TUTTI_NET_COUNTERS);
  __type(key, __u32);
  __type(value, __u64);
} counters SEC(".maps");

TUTTI_NET_INLINE void count(__u32 what) {
  __u64* c = bpf_map_lookup_elem(&counters, &what);
  if (c) ++*c;
}

#endif
