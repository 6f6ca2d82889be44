/* SPDX-License-Identifier: Apache-2.0 */
/* A switch in the kernel's packet path, on the ports of the testbed. It forwards frames by their
 * destination, combines the barrier packets of communicators that it has a table for (one arrival
 * from each rank, one release to all), and, if told to, loses packets or hands them to a process
 * that does worse. */
/* It combines packets with the extension only. */
#define TUTTI_NET_NO_PLAIN_PACKETS
#include <linux/bpf.h>
/* */
#include <bpf/bpf_helpers.h>

#include "network/bpf/maps.h"

/* The ports, and the port of a destination: its MAC in the low 6 bytes. */
TUTTI_NET_MAP(ports, BPF_MAP_TYPE_DEVMAP, 64, __u32, __u32);

TUTTI_NET_MAP(stations, BPF_MAP_TYPE_HASH, 64, __u64, __u32);

TUTTI_NET_MAP(settings, BPF_MAP_TYPE_ARRAY, 1, __u32, struct tutti_net_switch_settings);

/* Performs the message in the scratch, and puts there what the switch then says. */
__attribute__((noinline)) int perform(__u32 index) {
  const __u32 zero = 0;
  struct tutti_net_member* me = bpf_map_lookup_elem(&members, &index);
  struct tutti_net_values* v = bpf_map_lookup_elem(&values, &index);
  struct scratch* s = bpf_map_lookup_elem(&scratches, &zero);
  struct tutti_net_actions a;
  struct tutti_net_message* m;
  __u32 source, words, operation, parity;
  int i;
  if (!me || !v || !s) return 0;
  m = &s->message;
  source = m->source;
  words = m->words;
  operation = m->operation;
  bpf_spin_lock(&me->lock);
  tutti_net_catch_up(&me->table, &me->state, m);
  tutti_net_step(&me->table, &me->state, v, m, s->value, 0, &a);
  bpf_spin_unlock(&me->lock);
  s->actions = a;
  count(a.outcome & 7);
  if (a.send) {
    parity = a.episode & 1;
    tutti_net_compose(&me->table, v, a.episode, TUTTI_NET_RELEASE,
                      a.again ? source : TUTTI_NET_EVERYONE, m);
    for (i = 0; i < TUTTI_NET_VALUES; ++i) s->value[i] = v->sent[parity][0][i];
  } else if (a.ask) {
    /* The values of the packet stay in it: the check covers them. */
    tutti_net_compose(&me->table, 0, a.episode, TUTTI_NET_ASK, TUTTI_NET_EVERYONE, m);
    m->wanted = TUTTI_NET_ARRIVE;
    m->words = (__u8)words;
    m->operation = (__u8)operation;
  } else {
    return 0;
  }
  m->check = check_of(index);
  return 1;
}

TUTTI_NET_INLINE int forward(struct xdp_md* ctx, const __u8* data) {
  __u64 mac = 0;
  __u32* port;
  __builtin_memcpy(&mac, data, 6);
  if (data[0] & 1) return bpf_redirect_map(&ports, 0, BPF_F_BROADCAST | BPF_F_EXCLUDE_INGRESS);
  port = bpf_map_lookup_elem(&stations, &mac);
  if (!port) return XDP_DROP;
  return bpf_redirect_map(&ports, *port, XDP_DROP);
}

SEC("xdp")
int tutti_switch(struct xdp_md* ctx) {
  const __u32 zero = 0;
  static const __u8 all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  __u8* data = (void*)(long)ctx->data;
  const __u8* end = (void*)(long)ctx->data_end;
  const struct tutti_net_switch_settings* set;
  struct tutti_net_message *m, out;
  struct tutti_net_member* me;
  struct scratch* s;
  __u32 place, words, ip;
  __u8 mac[6];
  int kind;
  if (data + TUTTI_NET_ETHERNET_BYTES > end) return XDP_DROP;
  if (data + TUTTI_NET_PLAIN_FRAME > end) return forward(ctx, data);
  kind = tutti_net_frame_kind(data);
  if (kind != TUTTI_NET_PLAIN && kind != TUTTI_NET_EXTENDED) return forward(ctx, data);
  set = bpf_map_lookup_elem(&settings, &zero);
  if (set && set->lose && bpf_get_prandom_u32() < set->lose) {
    count(TUTTI_NET_COUNT_LOST);
    return XDP_DROP;
  }
  if (set && set->divert && bpf_get_prandom_u32() < set->divert) return XDP_PASS;
  s = bpf_map_lookup_elem(&scratches, &zero);
  if (!s || kind == TUTTI_NET_PLAIN || data + TUTTI_NET_EXTENDED_FRAME > end)
    return forward(ctx, data);
  m = &s->message;
  if (!tutti_net_read_extended(data + TUTTI_NET_HEADERS, m)) return forward(ctx, data);
  if (m->topology != TUTTI_NET_SWITCH || m->destination != TUTTI_NET_THE_SWITCH)
    return forward(ctx, data);
  words = m->words;
  if (!read_values(data, end, words, s->value)) return XDP_DROP;
  me = find_member(m->communicator, &place);
  if (!me) return XDP_DROP;
  if (!tutti_net_is_for(&me->table, m)) {
    count(TUTTI_NET_COUNT_UNKNOWN);
    return XDP_DROP;
  }
  if (check_of(place) != m->check) {
    count(TUTTI_NET_COUNT_UNCHECKED);
    return XDP_DROP;
  }
  /* What is asked for must fit in the packet that asks; a NIC's Ask has room for it. */
  if (!perform(place) || m->words != words) return XDP_DROP;
  out = *m;
  out.plain = 0;
  __builtin_memcpy(mac, data + 6, 6);
  __builtin_memcpy(&ip, data + 26, 4);
  if (data + TUTTI_NET_EXTENDED_FRAME > end) return XDP_DROP;
  if (out.destination == TUTTI_NET_EVERYONE) ip = 0xffffffff;
  tutti_net_write_frame(data, &me->self, out.destination == TUTTI_NET_EVERYONE ? all : mac, ip,
                        &out);
  write_values(data, end, words, s->value);
  count(TUTTI_NET_COUNT_SENT);
  if (out.destination == TUTTI_NET_EVERYONE) return bpf_redirect_map(&ports, 0, BPF_F_BROADCAST);
  return XDP_TX;
}

/* For devices whose peer redirects to them: a frame arrives only where a program is. */
SEC("xdp")
int tutti_pass(struct xdp_md* ctx) { return XDP_PASS; }

char _license[] SEC("license") = "Apache-2.0";
