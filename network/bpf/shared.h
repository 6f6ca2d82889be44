/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel's programs and the processes that load them share: the layout of the maps. */
#ifndef TUTTI_NETWORK_BPF_SHARED_H
#define TUTTI_NETWORK_BPF_SHARED_H

#include <linux/bpf.h>

#include "network/frame.h"

enum {
  /* Communicators of a device. */
  TUTTI_NET_MEMBERS = 64,
  /* The first of the counters that are not outcomes. */
  TUTTI_NET_COUNT_UNKNOWN = TUTTI_NET_OUTCOMES, /* of no communicator here */
  TUTTI_NET_COUNT_MALFORMED,                    /* for our port, but no packet of ours */
  TUTTI_NET_COUNT_UNCHECKED,                    /* the check is wrong: corrupt or forged */
  TUTTI_NET_COUNT_LOCAL,   /* a local program that may not call for this communicator */
  TUTTI_NET_COUNT_SENT,    /* packets to other nodes */
  TUTTI_NET_COUNT_LOST,    /* the switch lost it on purpose */
  TUTTI_NET_COUNT_NO_ROOM, /* the driver has no room for the note to the program behind it */
  TUTTI_NET_COUNTERS,
  /* The mark of packets that this node sends: its own egress program lets them pass. */
  TUTTI_NET_MARK = 0x74757474,
};

struct tutti_net_member {
  struct bpf_spin_lock lock;
  /* Only sockets of this user may call. */
  __u32 user;
  struct tutti_net_key key;
  struct tutti_net_place self;
  __u64 called_at;
  struct tutti_net_state state;
  struct tutti_net_table table;
};

/* Which communicator; an incarnation does not come twice. */
struct tutti_net_identity {
  __u32 communicator, incarnation;
};

/* How far a node has said to be, which its host keeps in mind until it inquires again. */
struct tutti_net_said_key {
  __u32 place, source;
};
struct tutti_net_said {
  struct tutti_net_identity identity;
  __u32 episode, called;
  /* The first value of the answer, which is that of the query. */
  __u64 nonce;
  __u32 words, unused;
};

/* Who has a place in the arrays: once that process has ended, the place is free. */
struct tutti_net_owner {
  __u16 communicator;
  __u16 unused;
  __u32 process;
  __u64 space;
};

/* The completion word and what comes with it, mapped into the host's memory. */
struct tutti_net_completion {
  /* Number of episodes that have ended. */
  __u32 done;
  /* The host is about to block, and wants an event. */
  __u32 waiting;
  /* Messages that did not agree on what is called. */
  __u32 disagreements;
  __u32 unused;
  /* Of the last episode, by the kernel's monotonic clock. */
  __u64 called_at, released_at;
  __u64 value[2][TUTTI_NET_VALUES];
};

struct tutti_net_event {
  __u16 communicator;
  /* TUTTI_NET_RELEASE. */
  __u8 kind;
  __u8 unused;
  __u32 episode, incarnation;
};

/* What the XDP program leaves to the program behind it: packets to more than one node. */
struct tutti_net_handover {
  __u32 magic, index, episode, unused;
  struct tutti_net_identity identity;
  __u64 send;
};
enum { TUTTI_NET_SEND_MAGIC = 0x74736e64, TUTTI_NET_ASK_MAGIC = 0x7461736b };

struct tutti_net_switch_settings {
  /* Of 2^32 barrier packets, so many are lost, and so many go through a process that may do worse
   * things to them. */
  __u32 lose, divert;
};

#endif
