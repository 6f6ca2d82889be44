/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the parser and the state machine: any frames, at a node with any table. The first bytes
 * make the table; then come frames, each behind its length. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "network/frame.h"

static struct tutti_net_values values;

struct input {
  const uint8_t* at;
  size_t left;
};

static uint8_t next_byte(struct input* in) {
  if (in->left == 0) return 0;
  --in->left;
  return *in->at++;
}

static void require(int holds) {
  if (!holds) abort();
}

static void make_links(struct input* in, struct tutti_net_link* links, unsigned count,
                       unsigned rows) {
  for (unsigned i = 1; i < count; ++i) {
    links[i].rank = next_byte(in) % 8;
    links[i].kind = TUTTI_NET_ARRIVE + (next_byte(in) & 1);
    links[i].row = (uint8_t)(next_byte(in) % rows);
    links[i].slot = i;
  }
}

static void step_on_frame(struct tutti_net_table* t, struct tutti_net_state* s, const uint8_t* f,
                          size_t bytes, int from_host) {
  struct tutti_net_message m, sent;
  struct tutti_net_actions a;
  uint64_t carried[TUTTI_NET_VALUES] = {0};
  const uint32_t episode = s->episode;
  const struct tutti_net_key key = {1, 2};
  if (bytes < TUTTI_NET_PLAIN_FRAME) return;
  const int kind = tutti_net_frame_kind(f);
  if (kind == TUTTI_NET_PLAIN) {
    if (!tutti_net_read_plain(f + TUTTI_NET_HEADERS, &m)) return;
  } else {
    /* The fuzzer cannot guess checksums: what lies behind the headers counts all the same. */
    if (bytes < TUTTI_NET_EXTENDED_FRAME || !tutti_net_read_extended(f + TUTTI_NET_HEADERS, &m) ||
        bytes < TUTTI_NET_EXTENDED_FRAME + 8u * m.words)
      return;
    for (unsigned i = 0; i < m.words; ++i)
      carried[i] = tutti_net_get64(f + TUTTI_NET_EXTENDED_FRAME + 8 * i);
    (void)tutti_net_check_of(&m, (const __u64*)carried, &key);
  }
  if (!tutti_net_is_for(t, &m)) return;
  tutti_net_step(t, s, &values, &m, (const __u64*)carried, from_host, &a);
  require(s->episode - episode <= 1);
  require((s->episode != episode) == (a.released != 0));
  require(s->row < t->rows);
  require(a.outcome < TUTTI_NET_OUTCOMES);
  if (a.outcome != TUTTI_NET_COUNTED) require(!a.released);
  for (unsigned slot = 1; slot < TUTTI_NET_SLOTS; ++slot) {
    uint8_t out[TUTTI_NET_LONGEST_FRAME];
    const struct tutti_net_place place = {0};
    if ((a.send >> slot & 1) == 0) continue;
    tutti_net_compose(t, &values, a.episode, t->out[slot].kind, t->out[slot].rank, &sent);
    require(sent.words <= TUTTI_NET_VALUES);
    tutti_net_write_frame(out, &place, place.mac, 0, &sent);
    require(tutti_net_frame_kind(out) == (t->plain ? TUTTI_NET_PLAIN : TUTTI_NET_EXTENDED));
  }
}

/* A sound frame for this node, so that the machine gets to see more than noise. */
static void step_on_composed(struct tutti_net_table* t, struct tutti_net_state* s, struct input* in,
                             int from_host) {
  static const struct tutti_net_place place;
  uint8_t f[TUTTI_NET_LONGEST_FRAME] = {0};
  struct tutti_net_message m;
  const uint8_t what = next_byte(in), values_of = next_byte(in);
  tutti_net_compose(t, 0, s->episode + next_byte(in) % 4 - 1, what % 8, t->rank, &m);
  m.source = from_host ? t->rank : (what >> 4) % 8u;
  m.wanted = TUTTI_NET_ARRIVE + (what >> 7);
  if (!m.plain && values_of & 1) {
    m.words = 1 + (values_of >> 1) % TUTTI_NET_VALUES;
    m.operation = 1 + (values_of >> 6);
  }
  for (unsigned i = 0; i < m.words; ++i)
    tutti_net_put64(f + TUTTI_NET_EXTENDED_FRAME + 8 * i, 0x8000000000000001ull * next_byte(in));
  tutti_net_write_frame(f, &place, place.mac, 0, &m);
  require(tutti_net_frame_kind(f) == (m.plain ? TUTTI_NET_PLAIN : TUTTI_NET_EXTENDED));
  step_on_frame(t, s, f, sizeof f, from_host);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  struct input in = {data, size};
  struct tutti_net_table t;
  struct tutti_net_state s;
  memset(&t, 0, sizeof t);
  memset(&s, 0, sizeof s);
  memset(&values, 0, sizeof values);
  t.rank = next_byte(&in) % 8;
  t.size = 8;
  t.topology = 1 + next_byte(&in) % 6;
  t.rows = (uint8_t)(1 + next_byte(&in) % TUTTI_NET_ROWS);
  t.ins = (uint8_t)(1 + next_byte(&in) % TUTTI_NET_SLOTS);
  t.outs = (uint8_t)(1 + next_byte(&in) % TUTTI_NET_SLOTS);
  t.plain = next_byte(&in) & 1;
  t.has_host = 1;
  make_links(&in, t.in, t.ins, t.rows);
  make_links(&in, t.out, t.outs, t.rows);
  /* As in every table: the first row needs the host, and a slot is of one row. */
  t.row[0].need = 1;
  for (unsigned i = 1; i < t.ins; ++i) t.row[t.in[i].row].need |= 1ull << i;
  for (unsigned i = 1; i < t.outs; ++i) t.row[t.out[i].row].send |= 1ull << i;
  while (in.left > 1) {
    const uint8_t head = next_byte(&in);
    if (head & 4) {
      step_on_composed(&t, &s, &in, head >> 1 & 1);
      continue;
    }
    size_t bytes = next_byte(&in) + (head & 1 ? 76u : 0u);
    if (bytes > in.left) bytes = in.left;
    step_on_frame(&t, &s, in.at, bytes, head >> 1 & 1);
    in.at += bytes;
    in.left -= bytes;
  }
  return 0;
}
