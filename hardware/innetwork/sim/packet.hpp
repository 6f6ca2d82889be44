// SPDX-License-Identifier: Apache-2.0
// Barrier packets as bytes, built and checked without code in common with the engine: sums are
// taken over the bytes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::rtl {

using frame = std::vector<std::uint8_t>;
using mac_address = std::array<std::uint8_t, 6>;

enum : unsigned { message_start = 1, message_arrive = 2, message_release = 3 };
inline constexpr unsigned default_udp_port = 29'813;
// A packet is the smallest frame; in a release for a host, three stamps of 8 bytes stand behind it.
inline constexpr std::size_t packet_bytes = 60, stamped_bytes = 84;

struct barrier_packet {
  mac_address destination_mac{}, source_mac{};
  std::uint32_t source_ip = 0, destination_ip = 0;
  unsigned source_port = 0, destination_port = default_udp_port;
  unsigned message = 0, communicator = 0, topology = 0, role = 0;
  std::uint32_t episode = 0, incarnation = 0;

  friend bool operator==(const barrier_packet&, const barrier_packet&) = default;
};

// When the first beat of a host's call came in, that of the last packet that its barrier needed
// since, and when the first beat of the release left; in cycles since the engine's reset.
struct stamps {
  std::uint64_t called = 0, came = 0, left = 0;
};

// Reads a big-endian number.
inline std::uint32_t get(const frame& f, std::size_t at, unsigned bytes) {
  std::uint32_t value = 0;
  for (unsigned b = 0; b < bytes; ++b) value = value << 8 | f.at(at + b);
  return value;
}
inline void put(frame& f, std::size_t at, unsigned bytes, std::uint64_t value) {
  for (unsigned b = bytes; b-- > 0; value >>= 8)
    f.at(at + b) = static_cast<std::uint8_t>(value & 0xff);
}

// Returns the Internet checksum of some bytes and of what is added to them (RFC 1071); it is 0 over
// a part that contains its own checksum.
inline unsigned internet_checksum(const frame& f, std::size_t begin, std::size_t end,
                                  std::uint64_t more = 0) {
  std::uint64_t sum = more;
  for (std::size_t i = begin; i < end; ++i)
    sum += std::uint64_t{f[i]} << (i % 2 == begin % 2 ? 8 : 0);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<unsigned>(~sum & 0xffff);
}

inline std::uint64_t pseudo_header(const frame& f) {
  return std::uint64_t{get(f, 26, 2)} + get(f, 28, 2) + get(f, 30, 2) + get(f, 32, 2) + 17 +
         get(f, 38, 2);
}

// Writes both checksums of a packet without stamps.
inline void sign(frame& f) {
  put(f, 24, 2, 0);
  put(f, 24, 2, internet_checksum(f, 14, 34));
  put(f, 40, 2, 0);
  const unsigned sum = internet_checksum(f, 34, packet_bytes, pseudo_header(f));
  put(f, 40, 2, sum == 0 ? 0xffff : sum);
}

inline frame build(const barrier_packet& p, std::size_t bytes = packet_bytes) {
  frame f(bytes, 0);
  for (unsigned i = 0; i < 6; ++i) f[i] = p.destination_mac[i];
  for (unsigned i = 0; i < 6; ++i) f[6 + i] = p.source_mac[i];
  put(f, 12, 2, 0x0800);
  put(f, 14, 1, 0x45);
  put(f, 16, 2, packet_bytes - 14);
  put(f, 20, 2, 0x4000);
  put(f, 22, 1, 64);
  put(f, 23, 1, 17);
  put(f, 26, 4, p.source_ip);
  put(f, 30, 4, p.destination_ip);
  put(f, 34, 2, p.source_port);
  put(f, 36, 2, p.destination_port);
  put(f, 38, 2, packet_bytes - 34);
  put(f, 42, 1, p.episode);
  put(f, 43, 1, p.message);
  put(f, 44, 2, p.communicator);
  put(f, 46, 1, p.topology);
  put(f, 47, 1, p.role);
  // The version, and no values.
  put(f, 48, 4, 0x0100'0000);
  put(f, 52, 4, p.episode);
  put(f, 56, 4, p.incarnation);
  sign(f);
  return f;
}

// Returns what is wrong with a frame as a barrier packet, or an empty string.
inline std::string flaw(const frame& f, unsigned udp_port = default_udp_port,
                        bool has_stamps = false) {
  const std::size_t end = has_stamps ? stamped_bytes : packet_bytes;
  if (f.size() < end) return "too short";
  if (get(f, 12, 2) != 0x0800) return "not IPv4";
  if (f[14] != 0x45) return "another version or options";
  if (get(f, 16, 2) != end - 14) return "another length";
  if ((get(f, 20, 2) & 0xbfff) != 0) return "a fragment";
  if (f[23] != 17) return "not UDP";
  if (internet_checksum(f, 14, 34) != 0) return "wrong IP checksum";
  if (get(f, 36, 2) != udp_port) return "another UDP port";
  if (get(f, 38, 2) != end - 34) return "another UDP length";
  if (get(f, 40, 2) != 0 && internet_checksum(f, 34, end, pseudo_header(f)) != 0)
    return "wrong UDP checksum";
  if (get(f, 48, 4) != 0x0100'0000) return "another version of the packet, or values";
  if (f[42] != f[55]) return "two episodes";
  return {};
}

inline std::optional<barrier_packet> parse(const frame& f, unsigned udp_port = default_udp_port,
                                           bool has_stamps = false) {
  if (!flaw(f, udp_port, has_stamps).empty()) return std::nullopt;
  barrier_packet p;
  for (unsigned i = 0; i < 6; ++i) p.destination_mac[i] = f[i];
  for (unsigned i = 0; i < 6; ++i) p.source_mac[i] = f[6 + i];
  p.source_ip = get(f, 26, 4);
  p.destination_ip = get(f, 30, 4);
  p.source_port = get(f, 34, 2);
  p.destination_port = get(f, 36, 2);
  p.message = f[43];
  p.communicator = get(f, 44, 2);
  p.topology = f[46];
  p.role = f[47];
  p.episode = get(f, 52, 4);
  p.incarnation = get(f, 56, 4);
  return p;
}

// Those of a release for a host, in a frame or behind the headers in its payload.
inline stamps stamps_of(const frame& f) {
  const auto at = [&](std::size_t byte) {
    return std::uint64_t{get(f, byte, 4)} << 32 | get(f, byte + 4, 4);
  };
  return {at(packet_bytes), at(packet_bytes + 8), at(packet_bytes + 16)};
}

}  // namespace tutti::rtl
