/* SPDX-License-Identifier: Apache-2.0 */
/* The node in the kernel's packet path: tutti_xdp sees packets that a device receives, before the
 * kernel has allocated anything for them; tutti_egress sees the host's call on its way out; and
 * tutti_fan_out sends where one message causes several packets, which XDP cannot.
 *
 * One message out: the packet that came in is rewritten and goes back out of the same device. */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
/* */
#include <bpf/bpf_helpers.h>

#include "network/bpf/maps.h"

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, TUTTI_NET_MEMBERS);
  __type(key, __u32);
  __type(value, struct tutti_net_completion);
} completions SEC(".maps");

/* What nodes have said of themselves. Each host looks for answers to its own queries, so that the
 * communicators of a device take nothing from each other. */
TUTTI_NET_MAP(said_by_nodes, BPF_MAP_TYPE_LRU_HASH, 8192, struct tutti_net_said_key,
              struct tutti_net_said);

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 64 * 1024);
} events SEC(".maps");

/* Tells the host, which is about to block, of a release. */
TUTTI_NET_INLINE void tell(const struct tutti_net_identity* identity, __u32 episode) {
  struct tutti_net_event e = {
      .communicator = (__u16)identity->communicator,
      .kind = TUTTI_NET_RELEASE,
      .episode = episode,
      .incarnation = identity->incarnation,
  };
  bpf_ringbuf_output(&events, &e, sizeof e, BPF_RB_FORCE_WAKEUP);
}

/* Notes what a node says of itself. */
TUTTI_NET_INLINE void note_said(__u32 place, const struct tutti_net_message* m,
                                const __u64* value) {
  const struct tutti_net_said_key key = {.place = place, .source = m->source};
  struct tutti_net_said said = {
      .identity = {.communicator = m->communicator, .incarnation = m->incarnation},
      .episode = m->episode,
      .called = m->wanted,
      .words = m->words,
  };
  if (m->words != 0) said.nonce = value[0];
  bpf_map_update_elem(&said_by_nodes, &key, &said, BPF_ANY);
}

/* Releases the host: the values first, then the word. */
__attribute__((noinline)) int release(__u32 index, __u32 episode) {
  const __u32 zero = 0, parity = episode & 1;
  const __u64 now = bpf_ktime_get_ns();
  struct tutti_net_member* me = bpf_map_lookup_elem(&members, &index);
  const struct tutti_net_values* v = bpf_map_lookup_elem(&values, &index);
  struct tutti_net_completion* c = bpf_map_lookup_elem(&completions, &index);
  const struct scratch* s = bpf_map_lookup_elem(&scratches, &zero);
  const __u64* sent;
  __u32 words;
  int i, waits;
  if (!me || !v || !c || !s) return 0;
  bpf_spin_lock(&me->lock);
  if (is_gone(&me->table, &s->identity)) {
    bpf_spin_unlock(&me->lock);
    return 0;
  }
  sent = v->sent[parity][tutti_net_below(me->table.rows - 1, TUTTI_NET_ROWS)];
  words = v->sent_words[parity];
  for (i = 0; i < TUTTI_NET_VALUES; ++i) {
    if (i >= words) break;
    c->value[parity][i] = sent[i];
  }
  c->called_at = me->called_at;
  c->released_at = now;
  /* The exchange is a full barrier: the host either sees the word or is seen waiting. */
  __sync_lock_test_and_set(&c->done, episode + 1);
  waits = *(volatile __u32*)&c->waiting != 0;
  bpf_spin_unlock(&me->lock);
  if (waits) tell(&s->identity, episode);
  return 0;
}

/* Performs the message in the scratch. */
__attribute__((noinline)) int perform(__u32 index, int from_host) {
  const __u32 zero = 0;
  struct tutti_net_member* me = bpf_map_lookup_elem(&members, &index);
  struct tutti_net_values* v = bpf_map_lookup_elem(&values, &index);
  struct scratch* s = bpf_map_lookup_elem(&scratches, &zero);
  struct tutti_net_actions a;
  __u32 side;
  if (!me || !v || !s) return 0;
  bpf_spin_lock(&me->lock);
  /* A message is a stranger's if its communicator has ended since: it is from neither side. */
  side = (__u32)from_host | is_gone(&me->table, &s->identity) << 1;
  tutti_net_step(&me->table, &me->state, v, &s->message, s->value, (int)side, &a);
  if (from_host && a.outcome == TUTTI_NET_COUNTED) me->called_at = s->now;
  bpf_spin_unlock(&me->lock);
  s->actions = a;
  count(a.outcome & 7);
  if (a.outcome == TUTTI_NET_DISAGREES) {
    struct tutti_net_completion* c = bpf_map_lookup_elem(&completions, &index);
    if (c) __sync_fetch_and_add(&c->disagreements, 1);
  }
  if (a.released) release(index, a.episode);
  return 0;
}

/* Puts the message of a slot into the scratch: what the row sent, or an Ask. */
__attribute__((noinline)) int compose(__u32 index, __u32 episode, __u32 slot, int asks) {
  const __u32 zero = 0, parity = episode & 1;
  struct tutti_net_member* me = bpf_map_lookup_elem(&members, &index);
  struct tutti_net_values* v = bpf_map_lookup_elem(&values, &index);
  struct scratch* s = bpf_map_lookup_elem(&scratches, &zero);
  const struct tutti_net_link* to;
  struct tutti_net_message* m;
  const __u64* sent;
  int i;
  if (!me || !v || !s || slot >= TUTTI_NET_SLOTS) return 0;
  to = asks ? &me->table.in[slot] : &me->table.out[slot];
  m = &s->message;
  bpf_spin_lock(&me->lock);
  if (is_gone(&me->table, &s->identity)) {
    bpf_spin_unlock(&me->lock);
    return 0;
  }
  if (asks) {
    tutti_net_compose(&me->table, 0, episode, TUTTI_NET_ASK, to->rank, m);
    m->wanted = to->kind;
    /* The answer has to fit in the packet that asks. */
    m->words = v->words[parity];
    m->operation = v->operation[parity];
  } else {
    tutti_net_compose(&me->table, v, episode, to->kind, to->rank, m);
  }
  sent = v->sent[parity][tutti_net_below(to->row, TUTTI_NET_ROWS)];
  for (i = 0; i < TUTTI_NET_VALUES; ++i) {
    if (i >= m->words) break;
    s->value[i] = sent[i];
  }
  s->ip = to->ip;
  __builtin_memcpy(s->mac, to->mac, 6);
  bpf_spin_unlock(&me->lock);
  if (!m->plain) m->check = check_of(index);
  return 1;
}

/* Sends the message of a slot as a clone of this packet with another content. */
__attribute__((noinline)) int send_clone(struct __sk_buff* skb, __u32 index, __u32 episode,
                                         __u32 slot, int asks) {
  const __u32 zero = 0;
  struct tutti_net_member* me = bpf_map_lookup_elem(&members, &index);
  struct scratch* s = bpf_map_lookup_elem(&scratches, &zero);
  __u32 bytes;
  int i;
  if (!me || !s || !compose(index, episode, slot, asks)) return 0;
  tutti_net_write_frame(s->frame, &me->self, s->mac, s->ip, &s->message);
  for (i = 0; i < TUTTI_NET_VALUES; ++i) {
    if (i >= s->message.words) break;
    tutti_net_put64(s->frame + TUTTI_NET_EXTENDED_FRAME + 8 * i, s->value[i]);
  }
  bytes =
      s->message.plain ? TUTTI_NET_PLAIN_FRAME : TUTTI_NET_EXTENDED_FRAME + 8u * s->message.words;
  if (skb->len != bytes && bpf_skb_change_tail(skb, bytes, 0)) return 0;
  if (bytes < TUTTI_NET_PLAIN_FRAME || bytes > TUTTI_NET_LONGEST_FRAME) return 0;
  if (bpf_skb_store_bytes(skb, 0, s->frame, bytes, 0)) return 0;
  skb->mark = TUTTI_NET_MARK;
  if (bpf_clone_redirect(skb, skb->ifindex, 0) == 0) count(TUTTI_NET_COUNT_SENT);
  return 0;
}

TUTTI_NET_INLINE void send_clones(struct __sk_buff* skb, __u32 index, __u32 episode, __u64 bits,
                                  int asks) {
  __u32 slot;
  for (slot = 1; slot < TUTTI_NET_SLOTS; ++slot)
    if (bits >> slot & 1) send_clone(skb, index, episode, slot, asks);
}

SEC("tc")
int tutti_fan_out(struct __sk_buff* skb) {
  const __u32 zero = 0;
  const struct tutti_net_handover* h = (void*)(long)skb->data_meta;
  struct tutti_net_handover copy;
  struct scratch* s;
  if ((void*)(h + 1) > (void*)(long)skb->data) return TC_ACT_OK;
  if (h->magic != TUTTI_NET_SEND_MAGIC && h->magic != TUTTI_NET_ASK_MAGIC) return TC_ACT_OK;
  copy = *h;
  s = bpf_map_lookup_elem(&scratches, &zero);
  if (!s) return TC_ACT_SHOT;
  s->identity = copy.identity;
  send_clones(skb, copy.index, copy.episode, copy.send, copy.magic == TUTTI_NET_ASK_MAGIC);
  return TC_ACT_SHOT;
}

SEC("tc")
int tutti_egress(struct __sk_buff* skb) {
  const __u32 zero = 0;
  struct tutti_net_message* m;
  struct tutti_net_member* me;
  struct scratch* s;
  __u32 place, bytes, episode;
  __u64 sends, asks;
  int kind, i;
  /* The device may add the tag of a VLAN later, which makes it a packet of another network. */
  if (skb->protocol != __builtin_bswap16(0x0800) || skb->vlan_present) return TC_ACT_OK;
  if (skb->mark == TUTTI_NET_MARK) {
    skb->mark = 0;
    return TC_ACT_OK;
  }
  if (skb->len < TUTTI_NET_PLAIN_FRAME) return TC_ACT_OK;
  s = bpf_map_lookup_elem(&scratches, &zero);
  if (!s) return TC_ACT_OK;
  bytes = skb->len;
  if (bytes > TUTTI_NET_LONGEST_FRAME) bytes = TUTTI_NET_PLAIN_FRAME;
  if (bytes < TUTTI_NET_PLAIN_FRAME) return TC_ACT_OK;
  if (bpf_skb_load_bytes(skb, 0, s->frame, bytes)) return TC_ACT_OK;
  kind = tutti_net_frame_kind(s->frame);
  if (kind == TUTTI_NET_OTHER) return TC_ACT_OK;
  m = &s->message;
  if (kind == TUTTI_NET_PLAIN) {
    if (!tutti_net_read_plain(s->frame + TUTTI_NET_HEADERS, m)) {
      count(TUTTI_NET_COUNT_MALFORMED);
      return TC_ACT_OK;
    }
  } else if (kind == TUTTI_NET_MALFORMED || bytes != skb->len || bytes < TUTTI_NET_EXTENDED_FRAME ||
             !tutti_net_read_extended(s->frame + TUTTI_NET_HEADERS, m) ||
             bytes != TUTTI_NET_EXTENDED_FRAME + 8u * m->words) {
    count(TUTTI_NET_COUNT_MALFORMED);
    return TC_ACT_OK;
  }
  me = find_member(m->communicator, &place);
  if (!me) return TC_ACT_SHOT;
  if (bpf_get_socket_uid(skb) != me->user) {
    count(TUTTI_NET_COUNT_LOCAL);
    return TC_ACT_SHOT;
  }
  /* The host's queries to other nodes, which name the missing at a deadline, pass as they are. */
  if (m->kind == TUTTI_NET_QUERY) return TC_ACT_OK;
  if (m->kind != TUTTI_NET_START || !tutti_net_is_for(&me->table, m)) {
    count(TUTTI_NET_COUNT_LOCAL);
    return TC_ACT_SHOT;
  }
  for (i = 0; i < TUTTI_NET_VALUES; ++i) {
    if (i >= m->words) break;
    s->value[i] = tutti_net_get64(s->frame + TUTTI_NET_EXTENDED_FRAME + 8 * i);
  }
  s->now = bpf_ktime_get_ns();
  s->identity.communicator = m->communicator;
  s->identity.incarnation = m->incarnation;
  perform(place, 1);
  sends = s->actions.send >> 1 << 1;
  asks = s->actions.ask >> 1 << 1;
  episode = s->actions.episode;
  if (sends) send_clones(skb, place, episode, sends, 0);
  if (asks) send_clones(skb, place, episode, asks, 1);
  return TC_ACT_STOLEN;
}

SEC("xdp")
int tutti_xdp(struct xdp_md* ctx) {
  const __u32 zero = 0;
  __u8* data = (void*)(long)ctx->data;
  const __u8* end = (void*)(long)ctx->data_end;
  struct tutti_net_message *m, out;
  struct tutti_net_handover* h;
  struct tutti_net_place to;
  struct tutti_net_member* me;
  struct scratch* s;
  __u32 place, slot, source, episode, words;
  int kind;
  __u64 sends, asks;
  if (data + TUTTI_NET_PLAIN_FRAME > end) return XDP_PASS;
  kind = tutti_net_frame_kind(data);
  if (kind == TUTTI_NET_OTHER) return XDP_PASS;
  s = bpf_map_lookup_elem(&scratches, &zero);
  if (!s) return XDP_PASS;
  m = &s->message;
  if (kind == TUTTI_NET_PLAIN) {
    if (!tutti_net_read_plain(data + TUTTI_NET_HEADERS, m)) {
      count(TUTTI_NET_COUNT_MALFORMED);
      return XDP_PASS;
    }
  } else if (kind == TUTTI_NET_MALFORMED || data + TUTTI_NET_EXTENDED_FRAME > end ||
             !tutti_net_read_extended(data + TUTTI_NET_HEADERS, m)) {
    count(TUTTI_NET_COUNT_MALFORMED);
    return XDP_PASS;
  }
  if (!read_values(data, end, m->words, s->value)) return XDP_PASS;
  me = find_member(m->communicator, &place);
  if (!me) return XDP_DROP;
  if (!tutti_net_is_for(&me->table, m)) {
    count(TUTTI_NET_COUNT_UNKNOWN);
    return XDP_DROP;
  }
  if (!m->plain && check_of(place) != m->check) {
    count(TUTTI_NET_COUNT_UNCHECKED);
    return XDP_DROP;
  }
  if (m->kind == TUTTI_NET_STATUS) {
    if (m->source < me->table.size) note_said(place, m, s->value);
    return XDP_DROP;
  }
  source = m->source;
  words = m->words;
  s->identity.communicator = m->communicator;
  s->identity.incarnation = m->incarnation;
  perform(place, 0);
  sends = s->actions.send >> 1 << 1;
  asks = s->actions.ask >> 1 << 1;
  episode = s->actions.episode;
  if (s->actions.answer) {
    /* The values of the packet stay in it: the check covers them. Those of a query tell its sender
     * that this is the answer to it, and no recorded one. */
    const __u8 operation = m->operation;
    __builtin_memcpy(to.mac, data + 6, 6);
    __builtin_memcpy(&to.ip, data + 26, 4);
    tutti_net_compose(&me->table, 0, me->state.episode, TUTTI_NET_STATUS, source, m);
    if (m->communicator != s->identity.communicator || m->incarnation != s->identity.incarnation)
      return XDP_DROP;
    m->wanted = tutti_net_call_of(&me->state);
    m->words = (__u8)words;
    m->operation = operation;
    m->check = check_of(place);
    out = *m;
    out.plain = 0;
    if (data + TUTTI_NET_EXTENDED_FRAME > end) return XDP_DROP;
    tutti_net_write_frame(data, &me->self, to.mac, to.ip, &out);
    count(TUTTI_NET_COUNT_SENT);
    return XDP_TX;
  }
  if (sends == 0 && asks == 0) return XDP_DROP;
  if ((sends & (sends - 1)) == 0 && asks == 0) {
    for (slot = 1; slot < TUTTI_NET_SLOTS - 1; ++slot)
      if (sends >> slot & 1) break;
    if (!compose(place, episode, slot, 0)) return XDP_DROP;
    /* Otherwise what is asked for does not fit in the packet that asks. */
    if (m->words == words) {
      out = *m;
      if (kind == TUTTI_NET_PLAIN) {
        out.plain = 1;
        tutti_net_write_frame(data, &me->self, s->mac, s->ip, &out);
        count(TUTTI_NET_COUNT_SENT);
        return XDP_TX;
      }
      out.plain = 0;
      if (data + TUTTI_NET_EXTENDED_FRAME > end) return XDP_DROP;
      tutti_net_write_frame(data, &me->self, s->mac, s->ip, &out);
      write_values(data, end, words, s->value);
      count(TUTTI_NET_COUNT_SENT);
      return XDP_TX;
    }
  }
  if (bpf_xdp_adjust_meta(ctx, -(int)sizeof(struct tutti_net_handover))) {
    count(TUTTI_NET_COUNT_NO_ROOM);
    return XDP_DROP;
  }
  h = (void*)(long)ctx->data_meta;
  if ((void*)(h + 1) > (void*)(long)ctx->data) return XDP_DROP;
  h->magic = sends ? TUTTI_NET_SEND_MAGIC : TUTTI_NET_ASK_MAGIC;
  h->index = place;
  h->episode = episode;
  h->unused = 0;
  h->identity = s->identity;
  h->send = sends ? sends : asks;
  return XDP_PASS;
}

char _license[] SEC("license") = "Apache-2.0";
