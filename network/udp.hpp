// SPDX-License-Identifier: Apache-2.0
// The user-space reference: the node is in the process and talks over a UDP socket. It executes the
// same state machine as the kernel's programs, so it is what they are compared with, in behaviour
// and in time. Its datagrams have what a frame has behind the UDP header.
#pragma once

#include <netinet/in.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "network/endpoint.hpp"
#include "network/faulty_cable.hpp"

namespace tutti::network {

struct udp_options : membership {
  udp_options() { topology = TUTTI_NET_DISSEMINATION; }

  // Where each rank is.
  std::vector<sockaddr_in> addresses;
  cable_faults cable;
  // After its last episode an endpoint still answers for this long: others may have lost a message.
  std::chrono::milliseconds linger{100};
};

// 127.0.0.1, from this port on.
std::vector<sockaddr_in> loopback_addresses(rank_t ranks, std::uint16_t first_port);

class udp_endpoint final : public endpoint {
 public:
  // A socket that is bound already saves the search for free ports; -1: binds the rank's address.
  explicit udp_endpoint(const udp_options& options, int socket = -1);
  ~udp_endpoint() override;

  stamps last_stamps() const override { return stamps_; }
  // Packets by outcome, with own calls that disagree; the entry behind the last is those that were
  // no sound packet for us.
  const std::array<std::uint64_t, TUTTI_NET_OUTCOMES + 1>& counters() const { return counters_; }

  // The node's reaction to a datagram; tests call it to compare traces.
  tutti_net_actions deliver(std::span<const std::uint8_t> datagram, const sockaddr_in& from);
  int socket() const { return socket_; }

 protected:
  void call(const tutti_net_message& m, const std::uint64_t* values) override;
  bool wait(std::uint32_t episode, clock::time_point until) override;
  void result(std::uint32_t episode, std::span<std::uint64_t> values) override;
  std::uint64_t disagreements() override;
  std::vector<std::optional<progress>> inquire(clock::time_point until) override;

 private:
  void act(const tutti_net_actions& a, const sockaddr_in* from);
  void send(std::uint32_t episode, unsigned kind, rank_t to, unsigned wanted,
            const std::uint64_t* values, const sockaddr_in& where, bool with_values);
  void transmit(const std::vector<std::uint8_t>& datagram, const sockaddr_in& where);
  bool receive_one(bool block, clock::time_point until);
  void keep();

  udp_options options_;
  int socket_ = -1;
  tutti_net_state state_{};
  std::unique_ptr<tutti_net_values> values_;
  faulty_cable<sockaddr_in> cable_;
  stamps stamps_;
  std::array<std::uint64_t, TUTTI_NET_OUTCOMES + 1> counters_{};
  std::vector<std::optional<progress>> known_;
  // The host waits in the socket itself; while it computes, a thread answers others now and then.
  std::mutex mutex_;
  std::atomic<bool> ends_{false};
  std::thread keeper_;
};

}  // namespace tutti::network
