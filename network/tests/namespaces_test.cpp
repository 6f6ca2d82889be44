// SPDX-License-Identifier: Apache-2.0
// Tests the kernel's programs in namespaces that the test makes: every topology, native and
// generic, values, loss, a late host, a dead one, hosts that discover each other.
#include "network/tests/namespaces.hpp"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <ctime>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "network/discover_devices.hpp"
#include "network/tests/arrivals.hpp"

namespace {

using namespace tutti;
using namespace tutti::network;
using namespace tutti::network::test;
using namespace std::chrono_literals;

TEST(namespaces, all_topologies_native) {
  NEEDS_TESTBED();
  for (const rank_t n : {1u, 2u, 3u, 6u}) {
    testbed bed(n);
    for (unsigned topology = first_topology; topology <= last_topology; ++topology)
      EXPECT_EQ(run_barriers(bed, topology, 200), "") << topology_names[topology] << " of " << n;
  }
}

TEST(namespaces, all_topologies_generic) {
  NEEDS_TESTBED();
  testbed bed(4, xdp_mode::generic);
  for (unsigned topology = first_topology; topology <= last_topology; ++topology)
    EXPECT_EQ(run_barriers(bed, topology, 100), "") << topology_names[topology];
}

TEST(namespaces, loss_repetition_reordering_and_corruption_are_healed) {
  NEEDS_TESTBED();
  testbed bed(5);
  bed.inject_faults({.lose = 0.05, .repeat = 0.02, .reorder = 0.02, .corrupt = 0.02, .seed = 3});
  for (unsigned topology = first_topology; topology <= last_topology; ++topology)
    EXPECT_EQ(run_barriers(bed, topology, 100), "") << topology_names[topology];
}

TEST(namespaces, values_are_combined_in_the_packets) {
  NEEDS_TESTBED();
  constexpr rank_t n = 4;
  testbed bed(n);
  bed.inject_faults({.lose = 0.02});
  const std::array<double, n> parts{1e16, 3.14159, -1e16, 1e-9};
  double expected = parts[0];
  for (rank_t r = 1; r < n; ++r) expected += parts[r];
  for (unsigned topology = first_topology; topology <= last_topology; ++topology) {
    if (topology == TUTTI_NET_SWITCH) bed.start_in_switch(bed.options(topology, 0));
    const all_ready ready(n);
    const std::string error = bed.run(
        [&](rank_t r) {
          xdp_endpoint e("eth0", bed.options(topology, r));
          ready.wait();
          for (std::uint64_t i = 0; i < 30; ++i) {
            std::array<std::uint64_t, 4> sums{r + i, 1, ~0ull, i * i};
            e.allreduce(TUTTI_NET_SUM, sums, clock::now() + 20s);
            if (sums != std::array<std::uint64_t, 4>{6 + 4 * i, 4, ~0ull * 4, 4 * i * i})
              throw std::runtime_error("a wrong sum");
            double mine = parts[r];
            e.sum_in_rank_order({&mine, 1}, clock::now() + 20s);
            if (std::bit_cast<std::uint64_t>(mine) != std::bit_cast<std::uint64_t>(expected))
              throw std::runtime_error("other bits than in the order of ranks");
            std::array<std::uint64_t, 3> news{};
            if (r == i % n) news = {i, 7, 9};
            e.broadcast(static_cast<rank_t>(i % n), news, clock::now() + 20s);
            if (news != std::array<std::uint64_t, 3>{i, 7, 9})
              throw std::runtime_error("wrong news");
            e.barrier(clock::now() + 20s);
          }
          std::this_thread::sleep_for(60ms);
        },
        60s);
    EXPECT_EQ(error, "") << topology_names[topology];
    if (topology == TUTTI_NET_SWITCH) bed.stop_in_switch(0);
  }
}

TEST(namespaces, deadline_names_the_late_and_the_dead) {
  NEEDS_TESTBED();
  testbed bed(4);
  const all_ready ready(3), done(3);
  const std::string error = bed.run(
      [&](rank_t r) {
        // Rank 3 never starts: its node knows nothing of the communicator.
        if (r == 3) return;
        xdp_endpoint e("eth0", bed.options(TUTTI_NET_STAR, r));
        // On a busy machine an answer takes longer, and so does the rank that asks.
        e.how.inquiry = 900ms;
        ready.wait();
        // Rank 2 is late until the others have found that out.
        if (r == 2) return done.wait();
        const auto limit = clock::now() + 1200ms;
        try {
          e.barrier(limit);
        } catch (const deadline_error& d) {
          if (d.who().late != std::vector<rank_t>{2} || d.who().silent != std::vector<rank_t>{3})
            throw std::runtime_error(std::string("it named others: ") + d.what());
          if (clock::now() > limit + 2s) throw std::runtime_error("too late");
          return done.wait();
        }
        throw std::runtime_error("released without ranks 2 and 3");
      },
      20s);
  EXPECT_EQ(error, "");
}

// What a call says that ends at a deadline.
template <class Call>
std::string said_at_deadline(Call call) {
  try {
    call();
  } catch (const deadline_error& e) {
    return e.what();
  }
  throw std::runtime_error("there was no deadline");
}

TEST(namespaces, ranks_that_call_differently_are_told_so) {
  NEEDS_TESTBED();
  testbed bed(2);
  for (const rank_t first : {0u, 1u}) {
    const all_ready ready(2), done(2);
    const std::string error = bed.run(
        [&](rank_t r) {
          auto o = bed.options(TUTTI_NET_STAR, r);
          o.communicator = static_cast<std::uint16_t>(first);
          xdp_endpoint e("eth0", o);
          e.how.inquiry = 900ms;
          ready.wait();
          if (r != first) std::this_thread::sleep_for(100ms);
          const std::string text = said_at_deadline([&] {
            const auto limit = clock::now() + 300ms;
            std::array<std::uint64_t, 1> value{r};
            if (r == 0)
              e.allreduce(TUTTI_NET_SUM, value, limit);
            else
              e.barrier(limit);
          });
          done.wait();
          // The leaf hears it only of a centre whose own call does not agree with the leaf's.
          if (text.find("ranks call differently") == std::string::npos &&
              (r == 0 || text.find("ranks have called differently") == std::string::npos))
            throw std::runtime_error(text);
        },
        20s);
    EXPECT_EQ(error, "") << "first: rank " << first;
  }
}

TEST(namespaces, plain_packets_name_nobody_at_a_deadline) {
  NEEDS_TESTBED();
  testbed bed(2);
  const all_ready ready(2), done(2);
  const std::string error = bed.run(
      [&](rank_t r) {
        auto o = bed.options(TUTTI_NET_RING, r);
        o.plain = true;
        xdp_endpoint e("eth0", o);
        ready.wait();
        if (r == 1) return done.wait();
        const std::string text = said_at_deadline([&] { e.barrier(clock::now() + 100ms); });
        done.wait();
        if (text !=
            "the deadline is over: ranks have not called, or messages are lost; plain "
            "packets cannot tell which")
          throw std::runtime_error(text);
      },
      20s);
  EXPECT_EQ(error, "");
}

// Hosts of several communicators share a device and its ring buffer: what one of them takes out of
// it, another does not miss.
TEST(namespaces, another_communicators_reader_takes_no_answers) {
  NEEDS_TESTBED();
  testbed bed(2);
  const all_ready ready(2), done(2);
  const std::string error = bed.run(
      [&](rank_t r) {
        xdp_endpoint e("eth0", bed.options(TUTTI_NET_TREE, r));
        e.how.inquiry = 900ms;
        ready.wait();
        if (r == 1) return done.wait();
        std::atomic<bool> is_over{false};
        std::thread reader([&] {
          const program_maps maps = open_maps("eth0");
          ring_buffer* const events = ring_buffer__new(
              maps.fd("events"), [](void*, void*, std::size_t) { return 0; }, nullptr, nullptr);
          while (!is_over) ring_buffer__consume(events);
          ring_buffer__free(events);
        });
        std::string named = "released without rank 1";
        try {
          e.barrier(clock::now() + 100ms);
        } catch (const deadline_error& d) {
          named = d.who().late == std::vector<rank_t>{1} ? "" : d.what();
        }
        is_over = true;
        reader.join();
        done.wait();
        if (!named.empty()) throw std::runtime_error(named);
      },
      20s);
  EXPECT_EQ(error, "");
}

TEST(namespaces, a_late_host_is_waited_for_without_spinning) {
  NEEDS_TESTBED();
  testbed bed(3);
  const all_ready ready(3);
  EXPECT_EQ(bed.run(
                [&](rank_t r) {
                  xdp_endpoint e("eth0", bed.options(TUTTI_NET_DISSEMINATION, r));
                  ready.wait();
                  if (r == 1) std::this_thread::sleep_for(500ms);
                  const std::clock_t before = std::clock();
                  e.barrier(clock::now() + 10s);
                  if (std::clock() - before > CLOCKS_PER_SEC / 10)
                    throw std::runtime_error("it kept a processor busy");
                  std::this_thread::sleep_for(60ms);
                },
                20s),
            "");
}

// A node that begins again has the episode of its host, which may be any number of 32 bits.
TEST(namespaces, a_node_that_begins_again_has_not_released_its_episode) {
  NEEDS_TESTBED();
  testbed bed(2);
  EXPECT_EQ(bed.run(
                [&](rank_t r) {
                  const program_maps maps = open_maps("eth0");
                  for (const std::uint32_t episode : {1u, 0x80000000u, 0x90000001u, 0xffffffffu}) {
                    tutti_net_member m = member_of(bed.options(TUTTI_NET_RING, r));
                    m.state.episode = episode;
                    const std::uint32_t place = maps.start(m);
                    tutti_net_completion word{};
                    if (bpf_map_lookup_elem(maps.fd("completions"), &place, &word) != 0 ||
                        static_cast<std::int32_t>(word.done - episode) > 0)
                      throw std::runtime_error("released from " + std::to_string(episode));
                    maps.stop(m.table.communicator);
                  }
                },
                20s),
            "");
}

// A host dies in a barrier. The others learn it at the deadline; its successor and they begin again
// with another incarnation, while packets of the first one are still on their way.
TEST(namespaces, a_dead_host_is_named_and_its_successor_begins_a_new_incarnation) {
  NEEDS_TESTBED();
  constexpr rank_t n = 4, dies = 2;
  testbed bed(n);
  bed.inject_faults({.repeat = 0.2, .reorder = 0.2});
  const shared_array<std::atomic<unsigned>> published(n);
  const all_ready ready(n);
  const std::string error = bed.run(
      [&](rank_t r) {
        unsigned episode = 0;
        for (std::uint32_t incarnation = 1; incarnation <= 12; ++incarnation) {
          auto o = bed.options(incarnation % 2 != 0 ? TUTTI_NET_TREE : TUTTI_NET_DISSEMINATION, r);
          o.incarnation = incarnation;
          xdp_endpoint e("eth0", o);
          if (incarnation == 1) ready.wait();
          for (unsigned i = 0; i < 3; ++i) {
            // release, acquire: only the barrier orders the ranks.
            published[r].store(++episode, std::memory_order_release);
            e.barrier(clock::now() + 20s);
            for (rank_t other = 0; other < n; ++other)
              // acquire: as above.
              if (published[other].load(std::memory_order_acquire) < episode)
                throw std::runtime_error("released before rank " + std::to_string(other));
          }
          if (r == dies) continue;
          try {
            e.barrier(clock::now() + 60ms);
          } catch (const deadline_error& d) {
            const auto& who = d.who();
            const bool is_named = std::ranges::count(who.late, dies) != 0 ||
                                  std::ranges::count(who.silent, dies) != 0;
            if (is_named) continue;
            throw std::runtime_error(std::string("it named others: ") + d.what());
          }
          throw std::runtime_error("released without the dead host");
        }
        std::this_thread::sleep_for(100ms);
      },
      60s);
  EXPECT_EQ(error, "");
}

// Hosts that know nothing of each other but the device.
TEST(namespaces, hosts_discover_each_other_and_synchronise) {
  NEEDS_TESTBED();
  constexpr rank_t n = 5;
  testbed bed(n);
  // The switch loses barrier packets only, so the discovery's loss is in network_discovery.
  bed.inject_faults({.lose = 0.02});
  const shared_array<std::atomic<unsigned>> published(n), ranks(n);
  const std::string error = bed.run(
      [&](rank_t r) {
        discovery_wish wish;
        wish.devices = {"eth0"};
        wish.nodes = n;
        wish.interval = 10ms;
        const discovered found = discover(wish);
        for (const unsigned topology : {0u, unsigned{TUTTI_NET_DISSEMINATION}}) {
          const auto plan = plan_of(found.network, found.me, topology);
          if (!plan || plan->shape != "segment") throw std::runtime_error("no segment");
          xdp_options o;
          o.topology = plan->topology;
          o.rank = plan->rank;
          o.communicator = static_cast<std::uint16_t>(plan->topology);
          for (const node_id id : plan->nodes) o.places.push_back(place_of(found.network.at(id)));
          xdp_endpoint e("eth0", o);
          ++ranks[o.rank];
          for (unsigned episode = 1; episode <= 100; ++episode) {
            // release, acquire: only the barrier orders the ranks.
            published[r].store(1000 * topology + episode, std::memory_order_release);
            e.barrier(clock::now() + 20s);
            for (rank_t other = 0; other < n; ++other)
              // acquire: as above.
              if (published[other].load(std::memory_order_acquire) < 1000 * topology + episode)
                throw std::runtime_error("released before host " + std::to_string(other));
          }
          std::this_thread::sleep_for(60ms);
        }
      },
      60s);
  EXPECT_EQ(error, "");
  for (rank_t r = 0; r < n; ++r) EXPECT_EQ(ranks[r], 2u) << "rank " << r;
}

TEST(namespaces, a_discovery_without_the_others_ends_with_a_sentence) {
  NEEDS_TESTBED();
  testbed bed(1);
  const std::string error = bed.run(
      [&](rank_t) {
        discovery_wish wish;
        wish.devices = {"eth0"};
        wish.nodes = 2;
        wish.at_most = 300ms;
        discover(wish);
      },
      20s);
  EXPECT_EQ(error, "rank 0: only 1 of 2 nodes answers");
}

// One host speaks for 113 nodes.
TEST(namespaces, a_discovery_of_too_many_nodes_tells_the_reason) {
  NEEDS_TESTBED();
  testbed bed(2);
  const shared_array<std::atomic<unsigned>> over(1);
  const std::string error = bed.run(
      [&](rank_t r) {
        if (r == 0) {
          discovery_wish wish;
          wish.devices = {"eth0"};
          wish.at_most = 15s;
          try {
            discover(wish);
          } catch (...) {
            ++over[0];
            throw;
          }
          return;
        }
        const int s = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
        sockaddr_ll at{};
        at.sll_family = AF_PACKET;
        at.sll_ifindex = static_cast<int>(::if_nametoindex("eth0"));
        std::vector<discoverer> nodes;
        for (node_id id = 1; id <= 113; ++id) {
          discoverer::settings with;
          with.id = id;
          nodes.emplace_back(with);
        }
        const auto send = [&](unsigned, std::span<const std::uint8_t> packet) {
          std::vector<std::uint8_t> frame(12, 0xff);
          frame.insert(frame.end(), {0x88, 0xb5});
          frame.insert(frame.end(), packet.begin(), packet.end());
          (void)::sendto(s, frame.data(), frame.size(), 0, reinterpret_cast<sockaddr*>(&at),
                         sizeof at);
        };
        while (over[0] == 0) {
          for (discoverer& node : nodes) node.tick(send);
          std::this_thread::sleep_for(50ms);
        }
        ::close(s);
      },
      20s);
  EXPECT_EQ(error, "rank 0: more than 113 nodes share a cable, which the discovery cannot do");
}

// What the programs do with frames from all sides, as sockets beside the other hosts see it.
class watched_node {
 public:
  watched_node(const testbed& bed, unsigned topology, rank_t rank) : bed_(bed), rank_(rank) {
    for (rank_t r = 0; r < bed.nodes(); ++r) sockets_.push_back(socket_of(r));
    bed.enter_host(rank);
    member_ = member_of(bed.options(topology, rank));
    maps_ = open_maps("eth0");
    maps_.start(member_);
    calls_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const int yes = 1;
    ::setsockopt(calls_, SOL_SOCKET, SO_NO_CHECK, &yes, sizeof yes);
  }
  ~watched_node() {
    maps_.stop(0);
    for (const int s : sockets_) ::close(s);
    ::close(calls_);
  }
  const tutti_net_table& table() const { return member_.table; }

  std::string after(const test::arrival& a) {
    const auto before = maps_.counters();
    const std::uint32_t episode = maps_.members().at(0).state.episode;
    tutti_net_message m = test::message_of(member_.table, a);
    const std::array<__u64, TUTTI_NET_VALUES> none{};
    m.check = tutti_net_check_of(&m, none.data(), &member_.key);
    std::array<std::uint8_t, TUTTI_NET_EXTENDED_FRAME> frame{};
    const rank_t from = m.source < bed_.nodes() ? m.source : (rank_ + 1) % bed_.nodes();
    const auto options = bed_.options(member_.table.topology, rank_);
    tutti_net_write_frame(frame.data(), &options.places[from], member_.self.mac, member_.self.ip,
                          &m);
    if (m.kind == TUTTI_NET_START) {
      sockaddr_in to{};
      to.sin_family = AF_INET;
      to.sin_port = htons(TUTTI_NET_UDP_PORT);
      to.sin_addr.s_addr = options.places[(rank_ + 1) % bed_.nodes()].ip;
      (void)::sendto(calls_, frame.data() + TUTTI_NET_HEADERS, TUTTI_NET_MESSAGE_BYTES, 0,
                     reinterpret_cast<sockaddr*>(&to), sizeof to);
    } else {
      (void)::send(sockets_[from], frame.data(), frame.size(), 0);
    }
    // The packets are handled within the calls above, or soon.
    auto now = maps_.counters();
    for (int i = 0; i < 200 && handled(now) == handled(before); ++i) {
      std::this_thread::sleep_for(50us);
      now = maps_.counters();
    }
    std::this_thread::sleep_for(300us);
    trace_entry entry;
    for (unsigned o = 0; o < TUTTI_NET_OUTCOMES; ++o)
      if (now[o] != before[o]) entry.outcome = o;
    entry.released = maps_.members().at(0).state.episode != episode;
    for (rank_t r = 0; r < bed_.nodes(); ++r) {
      if (r == rank_) continue;
      std::array<std::uint8_t, 512> in{};
      sockaddr_ll where{};
      socklen_t length = sizeof where;
      while (::recvfrom(sockets_[r], in.data(), in.size(), MSG_DONTWAIT,
                        reinterpret_cast<sockaddr*>(&where), &length) > 0) {
        tutti_net_message sent;
        if (where.sll_pkttype != PACKET_OUTGOING &&
            tutti_net_frame_kind(in.data()) == TUTTI_NET_EXTENDED &&
            tutti_net_read_extended(in.data() + TUTTI_NET_HEADERS, &sent) && sent.source == rank_)
          entry.sent.push_back({sent.kind, r});
      }
    }
    return text_of(entry);
  }

 private:
  static std::uint64_t handled(const std::array<std::uint64_t, TUTTI_NET_COUNTERS>& c) {
    std::uint64_t all = 0;
    for (unsigned o = 0; o < TUTTI_NET_OUTCOMES; ++o) all += c[o];
    return all;
  }
  int socket_of(rank_t r) const {
    bed_.enter_host(r);
    const int s = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETH_P_ALL));
    sockaddr_ll at{};
    at.sll_family = AF_PACKET;
    at.sll_protocol = htons(ETH_P_ALL);
    at.sll_ifindex = static_cast<int>(::if_nametoindex("eth0"));
    (void)::bind(s, reinterpret_cast<sockaddr*>(&at), sizeof at);
    return s;
  }

  const testbed& bed_;
  rank_t rank_;
  tutti_net_member member_{};
  program_maps maps_;
  std::vector<int> sockets_;
  int calls_ = -1;
};

TEST(namespaces, trace_is_that_of_the_machine) {
  NEEDS_TESTBED();
  constexpr rank_t n = 5, watched = 1;
  testbed bed(n, xdp_mode::native, false);
  bed.attach_node(watched, xdp_mode::native);
  // Another process: it changes its namespace.
  const std::string error = bed.run(
      [&](rank_t r) {
        if (r != watched) return;
        for (unsigned topology = first_topology; topology < TUTTI_NET_SWITCH; ++topology) {
          watched_node node(bed, topology, watched);
          const auto arrivals = test::script(node.table(), 12, topology, true);
          const auto expected = test::machine_trace(node.table(), arrivals);
          for (std::size_t i = 0; i < arrivals.size(); ++i)
            if (const std::string line = node.after(arrivals[i]); line != expected[i])
              throw std::runtime_error(std::string(topology_names[topology]) + ", arrival " +
                                       std::to_string(i) + ": the programs: " + line +
                                       "; the machine: " + expected[i]);
        }
      },
      60s);
  EXPECT_EQ(error, "");
}

}  // namespace
