// SPDX-License-Identifier: Apache-2.0
// The host's side of engines in RTL, as Verilator simulates them: calls and releases over UDP
// sockets, and the stamps from which a program reads the time of a passage.
#include "network/engine_endpoint.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <deque>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "hardware/innetwork/sim/node.hpp"

namespace {

using namespace tutti;
using namespace tutti::network;

// Engines in a ring whose clocks run together. The way to each one's host queue is a UDP port on a
// loopback address of its own: what a host sends there enters the engine in a frame, and the
// payload of a release goes back. So the host's side is that of a program, without permissions.
class ring_of_cards {
 public:
  static constexpr std::uint16_t communicator = 6;
  static constexpr std::uint32_t incarnation = 0x1234'5678;

  explicit ring_of_cards(rank_t n) : cards_(n) {
    const rtl::topology shape = rtl::make_topology(rtl::type_ring, n);
    for (rank_t r = 0; r < n; ++r) {
      card& c = cards_[r];
      c.engine = std::make_unique<rtl::node>(rtl::arguments{}, r + 1);
      if (!c.engine->configure(
              0, {communicator, rtl::type_ring, shape.stations[r].role, incarnation, true},
              shape.stations[r].rows))
        throw std::runtime_error("the engine refuses a table");
      c.socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
      const sockaddr_in at = address(r);
      if (::bind(c.socket, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0)
        throw std::runtime_error("the card's port is taken");
      c.engine->on_departure = [this, r](rtl::departure d) { leave(r, std::move(d)); };
    }
    clock_ = std::thread([this] { run(); });
  }
  ~ring_of_cards() {
    // relaxed: the join orders everything else.
    ends_.store(true, std::memory_order_relaxed);
    clock_.join();
    for (const card& c : cards_) ::close(c.socket);
  }

  engine_options options(rank_t rank) const {
    engine_options o;
    o.ranks = static_cast<rank_t>(cards_.size());
    o.rank = rank;
    o.communicator = communicator;
    o.incarnation = incarnation;
    o.towards = address(rank).sin_addr;
    return o;
  }

 private:
  struct card {
    std::unique_ptr<rtl::node> engine;
    int socket = -1;
    sockaddr_in host{};
    // What is on the cable to it, and when it comes.
    std::deque<std::pair<std::uint64_t, rtl::frame>> cable;
  };

  static sockaddr_in address(rank_t rank) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(TUTTI_NET_UDP_PORT);
    a.sin_addr.s_addr = htonl(0x7f4d'0001 + rank);
    return a;
  }
  void run() {
    // relaxed: as above.
    while (!ends_.load(std::memory_order_relaxed)) {
      for (card& c : cards_) take_calls(c);
      for (unsigned i = 0; i < 100; ++i)
        for (card& c : cards_) {
          while (!c.cable.empty() && c.cable.front().first <= c.engine->now()) {
            // Port 1 is the predecessor's.
            c.engine->enqueue(2, std::move(c.cable.front().second));
            c.cable.pop_front();
          }
          c.engine->cycle();
        }
      std::this_thread::yield();
    }
  }
  static void take_calls(card& c) {
    std::array<std::uint8_t, TUTTI_NET_PLAIN_BYTES + 1> bytes;
    socklen_t length = sizeof c.host;
    if (::recvfrom(c.socket, bytes.data(), bytes.size(), MSG_DONTWAIT,
                   reinterpret_cast<sockaddr*>(&c.host), &length) != TUTTI_NET_PLAIN_BYTES)
      return;
    rtl::barrier_packet p;
    p.source_ip = 1;
    p.destination_ip = 2;
    p.source_port = ntohs(c.host.sin_port);
    rtl::frame f = rtl::build(p);
    std::copy_n(bytes.begin(), TUTTI_NET_PLAIN_BYTES, f.begin() + TUTTI_NET_HEADERS);
    rtl::sign(f);
    c.engine->enqueue(1, std::move(f));
  }
  void leave(rank_t r, rtl::departure d) {
    card& to = cards_[(r + 1) % cards_.size()];
    if (d.to & 1) to.cable.emplace_back(d.last + 1, d.bytes);
    if (d.to & 2)
      (void)::sendto(cards_[r].socket, d.bytes.data() + TUTTI_NET_HEADERS,
                     d.bytes.size() - TUTTI_NET_HEADERS, 0,
                     reinterpret_cast<const sockaddr*>(&cards_[r].host), sizeof cards_[r].host);
  }

  std::vector<card> cards_;
  std::atomic<bool> ends_{false};
  std::thread clock_;
};

// The measurement of figure 7: in a ring of two, the host of the second node calls last. Both
// stamps of its release are from the same place in its engine; half of the time between them is p.
TEST(host_of_an_engine, reads_p_from_its_release) {
  ring_of_cards ring(2);
  constexpr unsigned calls = 200;
  std::atomic<unsigned> done{0};
  std::thread first([&] {
    engine_endpoint host(ring.options(0));
    for (unsigned i = 0; i < calls; ++i)
      host.barrier(tutti::network::clock::now() + std::chrono::seconds(20));
    EXPECT_EQ(host.episode(), calls);
    // relaxed: the join orders.
    done.store(calls, std::memory_order_relaxed);
  });
  engine_endpoint host(ring.options(1));
  std::uint64_t before = 0;
  std::vector<std::uint64_t> passages;
  for (unsigned i = 0; i < calls; ++i) {
    // The first node's arrival is there when this host calls.
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    host.barrier(tutti::network::clock::now() + std::chrono::seconds(20));
    const engine_stamps s = host.last_cycles();
    ASSERT_GT(s.called, before) << "an older stamp";
    before = s.left;
    passages.push_back(s.came - s.called);
    // The engine needs 14 cycles from the first beat of a packet to that of the one that it causes,
    // and 8 more for the release of the next node before the host's.
    ASSERT_GE(s.left - s.came, 14u);
    const stamps ns = host.last_stamps();
    EXPECT_NEAR(static_cast<double>(ns.came - ns.called),
                8.0 * static_cast<double>(passages.back()), 1.0);
    EXPECT_NEAR(static_cast<double>(ns.released - ns.came),
                8.0 * static_cast<double>(s.left - s.came), 1.0);
  }
  first.join();
  std::ranges::sort(passages);
  // p = 22 cycles where frames cross whole: 14 in the engine and the frame's 8 beats.
  EXPECT_EQ(passages.front(), 44u);
  // On a busy machine the first node's call may be the last one.
  const std::uint64_t usual = passages[calls / 10];
  EXPECT_EQ(usual, 44u);
  std::printf("p = %g cycles, %g µs at 125 MHz\n", static_cast<double>(usual) / 2,
              static_cast<double>(usual) / 2 * 0.008);
}

// Another process's episode, or another incarnation's, releases nobody.
TEST(host_of_an_engine, waits_for_its_own_release) {
  ring_of_cards ring(1);
  engine_endpoint host(ring.options(0));
  for (unsigned i = 0; i < 20; ++i)
    host.barrier(tutti::network::clock::now() + std::chrono::seconds(20));
  engine_options other = ring.options(0);
  other.incarnation ^= 1;
  engine_endpoint stranger(other);
  EXPECT_THROW(stranger.barrier(tutti::network::clock::now() + std::chrono::milliseconds(50)),
               deadline_error);
  // A host that begins again at episode 0 without a new incarnation is not served.
  engine_endpoint again(ring.options(0));
  EXPECT_THROW(again.barrier(tutti::network::clock::now() + std::chrono::milliseconds(50)),
               deadline_error);
  host.barrier(tutti::network::clock::now() + std::chrono::seconds(20));
  EXPECT_THROW(
      {
        std::uint64_t value = 1;
        host.allreduce(TUTTI_NET_SUM, {&value, 1});
      },
      std::invalid_argument);
}

}  // namespace
