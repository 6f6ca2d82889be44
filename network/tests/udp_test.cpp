// SPDX-License-Identifier: Apache-2.0
// Tests the user-space reference on loopback: barriers in which every rank publishes its episode
// first, reductions, lost packets, a late rank, a dead one, and the trace of a node behind sockets.
#include "network/udp.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <latch>
#include <random>
#include <thread>

#include "network/tests/arrivals.hpp"

namespace {

using namespace tutti;
using namespace tutti::network;
using namespace std::chrono_literals;

// Sockets on free ports of loopback.
struct ports {
  explicit ports(rank_t n) {
    for (rank_t r = 0; r < n; ++r) {
      sockaddr_in a = loopback_addresses(1, 0)[0];
      const int s = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
      socklen_t length = sizeof a;
      if (::bind(s, reinterpret_cast<sockaddr*>(&a), length) != 0) throw std::runtime_error("bind");
      ::getsockname(s, reinterpret_cast<sockaddr*>(&a), &length);
      sockets.push_back(s);
      addresses.push_back(a);
    }
  }
  std::vector<int> sockets;
  std::vector<sockaddr_in> addresses;
};

// A cable that gets the share of packets to which something happens does as much of everything as
// one that gets all packets, however much that is together.
TEST(faulty_cable, does_as_much_to_its_share_as_to_all) {
  for (const cable_faults& plan :
       {cable_faults{.repeat = 0.05, .reorder = 0.05}, cable_faults{.repeat = 0.8, .reorder = 0.7},
        cable_faults{.repeat = 0.3, .reorder = 0.2, .corrupt = 0.4}}) {
    constexpr unsigned packets = 10'000;
    faulty_cable<unsigned> cable(plan, true);
    std::mt19937 random(1);
    std::vector<unsigned> times(packets);
    unsigned corrupted = 0, held = 0, arriving = 0;
    const auto send = [&](const std::vector<std::uint8_t>& bytes, unsigned packet) {
      held += times[packet] == 0 && packet != arriving;
      corrupted += times[packet]++ == 0 && bytes[0] != 0;
    };
    for (unsigned i = 0; i < packets; ++i) {
      arriving = i;
      if (std::uniform_real_distribution<double>()(random) < plan.worse())
        cable.pass({0}, i, send);
      else
        send({0}, i);
    }
    arriving = packets;
    for (unsigned i = 0; i < 2 * packets; ++i) cable.release(send);
    const auto share = [](auto n) { return static_cast<double>(n) / packets; };
    EXPECT_EQ(std::ranges::count(times, 0u), 0);
    EXPECT_NEAR(share(std::ranges::count(times, 2u)), plan.repeat, 0.02);
    EXPECT_NEAR(share(corrupted), plan.corrupt, 0.02);
    // One that comes twice and is held back may be let out at once.
    EXPECT_LE(share(held), plan.reorder + 0.02);
    EXPECT_GE(share(held), plan.reorder * (1 - plan.repeat) - 0.03);
  }
}

template <class Body>
void on_ranks(unsigned topology, rank_t n, const cable_faults& cable, Body body) {
  ports p(n);
  // All endpoints stay until every rank has returned: one that is gone answers nobody who has lost
  // its last message.
  std::latch returned(n);
  std::vector<std::thread> threads;
  for (rank_t r = 0; r < n; ++r)
    threads.emplace_back([&, r] {
      udp_options o;
      o.topology = topology;
      o.rank = r;
      o.addresses = p.addresses;
      o.cable = cable;
      o.cable.seed += r;
      udp_endpoint e(o, p.sockets[r]);
      body(e);
      returned.arrive_and_wait();
    });
  for (std::thread& t : threads) t.join();
}

class udp : public testing::TestWithParam<unsigned> {};

void run_barriers(unsigned topology, rank_t n, const cable_faults& cable, unsigned episodes) {
  std::vector<std::atomic<unsigned>> published(n);
  std::atomic<unsigned> early{0};
  on_ranks(topology, n, cable, [&](udp_endpoint& e) {
    for (unsigned episode = 1; episode <= episodes; ++episode) {
      // relaxed: only the packets order the ranks; on loopback a socket call is enough of a fence.
      published[e.rank()].store(episode, std::memory_order_relaxed);
      e.barrier(clock::now() + 60s);
      for (const auto& other : published)
        // relaxed: as above.
        if (other.load(std::memory_order_relaxed) < episode) ++early;
    }
  });
  EXPECT_EQ(early, 0u) << topology_names[topology] << " of " << n;
}

TEST_P(udp, nobody_leaves_early) {
  for (const rank_t n : {1u, 2u, 3u, 5u, 8u}) run_barriers(GetParam(), n, {}, 200);
}

TEST_P(udp, loss_repetition_reordering_and_corruption_are_healed) {
  for (const rank_t n : {2u, 3u, 8u})
    run_barriers(GetParam(), n, {.lose = 0.1, .repeat = 0.1, .reorder = 0.1, .corrupt = 0.05}, 60);
}

TEST_P(udp, sums_have_the_bits_of_the_order_of_ranks) {
  constexpr rank_t n = 5;
  std::array<double, n> parts{1e16, 3.14159, -1e16, 1e-9, 2.5};
  double expected = parts[0];
  for (rank_t r = 1; r < n; ++r) expected += parts[r];
  on_ranks(GetParam(), n, {.lose = 0.05}, [&](udp_endpoint& e) {
    for (int i = 0; i < 20; ++i) {
      double mine = parts[e.rank()];
      e.sum_in_rank_order({&mine, 1}, clock::now() + 60s);
      EXPECT_EQ(std::bit_cast<std::uint64_t>(mine), std::bit_cast<std::uint64_t>(expected));
      std::array<std::uint64_t, 4> values{e.rank(), 7, 1ull << e.rank(), 0};
      e.allreduce(TUTTI_NET_MAX, values, clock::now() + 60s);
      EXPECT_EQ(values, (std::array<std::uint64_t, 4>{4, 7, 16, 0}));
      std::array<std::uint64_t, 2> news{};
      if (e.rank() == 3) news = {42, 43};
      e.broadcast(3, news, clock::now() + 60s);
      EXPECT_EQ(news, (std::array<std::uint64_t, 2>{42, 43}));
    }
  });
}

TEST_P(udp, no_rank_gives_up_before_its_deadline) {
  on_ranks(GetParam(), 2, {}, [&](udp_endpoint& e) {
    e.how.inquiry = 400ms;
    e.barrier();
    if (e.rank() == 1) std::this_thread::sleep_for(100ms);
    EXPECT_NO_THROW(e.barrier(clock::now() + 350ms));
  });
}

TEST_P(udp, deadline_names_the_late_rank_which_then_arrives) {
  on_ranks(GetParam(), 4, {}, [&](udp_endpoint& e) {
    // All live nodes answer, also on a loaded machine; the inquiry ends with the last answer.
    e.how.inquiry = 250ms;
    e.barrier();
    if (e.rank() == 2) {
      std::this_thread::sleep_for(700ms);
      e.barrier();
      return;
    }
    try {
      e.barrier(clock::now() + 350ms);
      ADD_FAILURE() << "rank 2 had not called";
    } catch (const deadline_error& error) {
      EXPECT_EQ(error.who().late, std::vector<rank_t>{2});
      EXPECT_TRUE(error.who().silent.empty());
      EXPECT_EQ(std::string(error.what()), "the deadline is over: rank 2 has not called");
    }
    e.barrier();
  });
}

// Rank 0 decides: it learns that the calls differ by its own, or by the packet of rank 1.
class call_order : public testing::TestWithParam<rank_t> {};
INSTANTIATE_TEST_SUITE_P(every, call_order, testing::Values(0, 1), [](const auto& of) {
  return "rank_" + std::to_string(of.param) + "_is_late";
});

TEST_P(call_order, ranks_that_call_differently_are_told_so) {
  on_ranks(TUTTI_NET_STAR, 2, {}, [late = GetParam()](udp_endpoint& e) {
    e.how.inquiry = 900ms;
    const auto limit = clock::now() + 400ms;
    if (e.rank() == late) std::this_thread::sleep_for(100ms);
    std::array<std::uint64_t, 1> value{e.rank()};
    try {
      if (e.rank() == 0)
        e.allreduce(TUTTI_NET_SUM, value, limit);
      else
        e.barrier(limit);
      ADD_FAILURE() << "there was no deadline";
    } catch (const deadline_error& error) {
      if (e.rank() == 0) {
        EXPECT_TRUE(error.who().call_differently);
      }
      EXPECT_NE(std::string(error.what()).find("differently"), std::string::npos) << error.what();
    }
  });
}

// A refused endpoint has bound no port.
TEST(udp_endpoints, one_that_is_refused_leaves_its_port_free) {
  sockaddr_in free_port;
  {
    const ports p(1);
    free_port = p.addresses[0];
    ::close(p.sockets[0]);
  }
  udp_options o;
  o.topology = TUTTI_NET_SWITCH;
  o.addresses = {free_port};
  for (int i = 0; i < 100; ++i) EXPECT_THROW(udp_endpoint e(o), std::invalid_argument);
  o.topology = TUTTI_NET_STAR;
  EXPECT_NO_THROW(udp_endpoint e(o));
}

TEST_P(udp, deadline_names_the_dead_rank) {
  ports p(3);
  std::vector<std::thread> threads;
  // Rank 1 never comes: its port is closed.
  ::close(p.sockets[1]);
  for (const rank_t r : {0u, 2u})
    threads.emplace_back([&, r] {
      udp_options o;
      o.topology = GetParam();
      o.rank = r;
      o.addresses = p.addresses;
      udp_endpoint e(o, p.sockets[r]);
      const auto limit = clock::now() + 200ms;
      try {
        e.barrier(limit);
        ADD_FAILURE() << "rank 1 is dead";
      } catch (const deadline_error& error) {
        EXPECT_EQ(error.who().silent, std::vector<rank_t>{1});
      }
      EXPECT_LT(clock::now(), limit + 100ms);
    });
  for (std::thread& t : threads) t.join();
}

// Behind a socket of each neighbour: what they receive is the trace.
TEST_P(udp, trace_is_that_of_the_machine) {
  for (const rank_t n : {2u, 3u, 5u, 8u})
    for (rank_t rank = 0; rank < n; ++rank) {
      ports p(n);
      udp_options o;
      o.topology = GetParam();
      o.rank = rank;
      o.addresses = p.addresses;
      o.linger = 0ms;
      std::vector<std::string> trace;
      std::vector<test::arrival> arrivals;
      {
        udp_endpoint e(o, p.sockets[rank]);
        arrivals = test::script(e.table(), 8, rank + 1, true);
        // The host's own calls do not go through its socket.
        std::erase_if(arrivals, [](const test::arrival& a) { return a.slot == 0 && a.asks == 0; });
        for (const test::arrival& a : arrivals) {
          tutti_net_message m = test::message_of(e.table(), a);
          const std::array<__u64, TUTTI_NET_VALUES> none{};
          m.check = tutti_net_check_of(&m, none.data(), &o.key);
          std::array<std::uint8_t, TUTTI_NET_MESSAGE_BYTES> bytes{};
          tutti_net_write_extended(bytes.data(), &m);
          const rank_t from = m.source < n ? m.source : (rank + 1) % n;
          const tutti_net_actions did = e.deliver(bytes, p.addresses[from]);
          trace_entry entry{did.outcome, {}, did.released != 0};
          for (rank_t r = 0; r < n; ++r) {
            if (r == rank) continue;
            std::array<std::uint8_t, 512> in{};
            while (::recv(p.sockets[r], in.data(), in.size(), MSG_DONTWAIT) > 0) {
              tutti_net_message sent;
              EXPECT_TRUE(tutti_net_read_extended(in.data(), &sent));
              entry.sent.push_back({sent.kind, r});
            }
          }
          trace.push_back(text_of(entry));
        }
        EXPECT_EQ(trace, test::machine_trace(e.table(), arrivals)) << n << " " << rank;
      }
      for (rank_t r = 0; r < n; ++r)
        if (r != rank) ::close(p.sockets[r]);
    }
}

TEST(udp_packets, foreign_and_forged_datagrams_are_counted_and_change_nothing) {
  ports p(2);
  udp_options o;
  o.topology = TUTTI_NET_RING;
  o.addresses = p.addresses;
  o.key = {1, 2};
  o.linger = 0ms;
  udp_endpoint e(o, p.sockets[0]);
  std::mt19937_64 random(9);
  tutti_net_message m{};
  m.kind = TUTTI_NET_ARRIVE;
  m.topology = TUTTI_NET_RING;
  m.incarnation = 1;
  m.source = 1;
  const std::array<__u64, TUTTI_NET_VALUES> none{};
  const tutti_net_key wrong{1, 3};
  m.check = tutti_net_check_of(&m, none.data(), &wrong);
  std::array<std::uint8_t, TUTTI_NET_MESSAGE_BYTES> bytes{};
  tutti_net_write_extended(bytes.data(), &m);
  e.deliver(bytes, p.addresses[1]);
  for (std::size_t length = 0; length < bytes.size(); ++length)
    e.deliver(std::span(bytes).first(length), p.addresses[1]);
  for (int i = 0; i < 1'000; ++i) {
    std::array<std::uint8_t, TUTTI_NET_MESSAGE_BYTES> noise;
    for (auto& b : noise) b = static_cast<std::uint8_t>(random());
    e.deliver(noise, p.addresses[1]);
  }
  EXPECT_EQ(e.counters()[TUTTI_NET_OUTCOMES], 1u + bytes.size() + 1'000);
  EXPECT_EQ(e.counters()[TUTTI_NET_COUNTED], 0u);
  m.check = tutti_net_check_of(&m, none.data(), &o.key);
  tutti_net_write_extended(bytes.data(), &m);
  e.deliver(bytes, p.addresses[1]);
  EXPECT_EQ(e.counters()[TUTTI_NET_COUNTED], 1u);
  ::close(p.sockets[1]);
}

INSTANTIATE_TEST_SUITE_P(every, udp,
                         testing::Values(TUTTI_NET_RING, TUTTI_NET_TREE, TUTTI_NET_STAR,
                                         TUTTI_NET_BUTTERFLY, TUTTI_NET_DISSEMINATION),
                         [](const auto& each) { return std::string(topology_names[each.param]); });

}  // namespace
