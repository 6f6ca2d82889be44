/* SPDX-License-Identifier: Apache-2.0 */
/* Whole frames: what stands before the message, and the checksums. For the kernel's programs, the
 * testbed and the fuzzer. */
#ifndef TUTTI_NETWORK_FRAME_H
#define TUTTI_NETWORK_FRAME_H

#include "network/machine.h"

enum {
  TUTTI_NET_PLAIN_FRAME = TUTTI_NET_HEADERS + TUTTI_NET_PLAIN_BYTES,
  TUTTI_NET_EXTENDED_FRAME = TUTTI_NET_HEADERS + TUTTI_NET_MESSAGE_BYTES,
  TUTTI_NET_LONGEST_FRAME = TUTTI_NET_EXTENDED_FRAME + 8 * TUTTI_NET_VALUES,
};

/* Where a node is; the IP address is in network order. */
struct tutti_net_place {
  __u32 ip;
  __u8 mac[6];
  __u8 unused[2];
};

TUTTI_NET_INLINE __u32 tutti_net_sum_of(const __u8* at, int words) {
  __u32 sum = 0;
  int i;
  for (i = 0; i < 13; ++i) {
    if (i >= words) break;
    sum += tutti_net_get16(at + 2 * i);
  }
  return sum;
}
TUTTI_NET_INLINE __u16 tutti_net_folded(__u32 sum) {
  sum = (sum & 0xffff) + (sum >> 16);
  return (__u16)((sum & 0xffff) + (sum >> 16));
}
/* The sum that the UDP checksum of a plain packet covers, checksum included. */
TUTTI_NET_INLINE __u16 tutti_net_plain_sum(const __u8* frame) {
  return tutti_net_folded(tutti_net_sum_of(frame + 26, 4) + 17 + TUTTI_NET_UDP_BYTES +
                          TUTTI_NET_PLAIN_BYTES + tutti_net_sum_of(frame + 34, 13));
}

/* What a frame is, by its first 60 bytes, which must be there. */
enum tutti_net_frame {
  /* Other traffic. */
  TUTTI_NET_OTHER = 0,
  TUTTI_NET_PLAIN = 1,
  TUTTI_NET_EXTENDED = 2,
  /* It is for our port, but no packet of ours or damaged. */
  TUTTI_NET_MALFORMED = 3,
};

TUTTI_NET_INLINE int tutti_net_frame_kind(const __u8* f) {
  __u16 ip_bytes, udp_bytes;
  if (tutti_net_get16(f + 12) != 0x0800 || f[14] != 0x45 || f[23] != 17) return TUTTI_NET_OTHER;
  /* A fragment. */
  if ((tutti_net_get16(f + 20) & 0xbfff) != 0) return TUTTI_NET_OTHER;
  if (tutti_net_get16(f + 36) != TUTTI_NET_UDP_PORT) return TUTTI_NET_OTHER;
  ip_bytes = tutti_net_get16(f + 16);
  udp_bytes = tutti_net_get16(f + 38);
  if (ip_bytes != udp_bytes + TUTTI_NET_IP_BYTES) return TUTTI_NET_MALFORMED;
  if (tutti_net_folded(tutti_net_sum_of(f + 14, 10)) != 0xffff) return TUTTI_NET_MALFORMED;
  if (udp_bytes == TUTTI_NET_UDP_BYTES + TUTTI_NET_PLAIN_BYTES) {
    if (tutti_net_get16(f + 40) != 0 && tutti_net_plain_sum(f) != 0xffff)
      return TUTTI_NET_MALFORMED;
    return TUTTI_NET_PLAIN;
  }
  /* The number of values stands in the message. */
  if (udp_bytes != TUTTI_NET_UDP_BYTES + TUTTI_NET_MESSAGE_BYTES + 8 * f[TUTTI_NET_HEADERS + 7])
    return TUTTI_NET_MALFORMED;
  return TUTTI_NET_EXTENDED;
}

/* Writes the headers and the message of a frame, without values. */
TUTTI_NET_INLINE void tutti_net_write_frame(__u8* f, const struct tutti_net_place* from,
                                            const __u8* to_mac, __u32 to_ip,
                                            const struct tutti_net_message* m) {
  const __u16 udp_bytes =
      m->plain ? TUTTI_NET_UDP_BYTES + TUTTI_NET_PLAIN_BYTES
               : (__u16)(TUTTI_NET_UDP_BYTES + TUTTI_NET_MESSAGE_BYTES + 8 * m->words);
  __builtin_memcpy(f, to_mac, 6);
  __builtin_memcpy(f + 6, from->mac, 6);
  tutti_net_put16(f + 12, 0x0800);
  tutti_net_put16(f + 14, 0x4500);
  tutti_net_put16(f + 16, (__u16)(udp_bytes + TUTTI_NET_IP_BYTES));
  tutti_net_put16(f + 18, 0);
  tutti_net_put16(f + 20, 0x4000);
  f[22] = 64;
  f[23] = 17;
  tutti_net_put16(f + 24, 0);
  __builtin_memcpy(f + 26, &from->ip, 4);
  __builtin_memcpy(f + 30, &to_ip, 4);
  tutti_net_put16(f + 24, (__u16)~tutti_net_folded(tutti_net_sum_of(f + 14, 10)));
  tutti_net_put16(f + 34, TUTTI_NET_UDP_PORT);
  tutti_net_put16(f + 36, TUTTI_NET_UDP_PORT);
  tutti_net_put16(f + 38, udp_bytes);
  tutti_net_put16(f + 40, 0);
  if (m->plain) {
    __u16 sum;
    tutti_net_write_plain(f + TUTTI_NET_HEADERS, m);
    sum = tutti_net_plain_sum(f);
    tutti_net_put16(f + 40, sum == 0xffff ? 0xffff : (__u16)~sum);
  } else {
    /* The check covers what a UDP checksum would. */
    tutti_net_write_extended(f + TUTTI_NET_HEADERS, m);
  }
}

#endif
