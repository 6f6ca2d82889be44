// SPDX-License-Identifier: Apache-2.0
// Tests against the engine in RTL (hardware/innetwork), as Verilator simulates it: one layout of
// packets, one trace for the same arrivals, and a ring in which kernel programs and engines are
// neighbours.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>

#include "hardware/innetwork/sim/node.hpp"
#include "network/engine_endpoint.hpp"
#include "network/frame.h"
#include "network/tests/arrivals.hpp"
#include "network/tests/cables.hpp"
#ifdef TUTTI_NETWORK_KERNEL
#include "network/tests/namespaces.hpp"
#endif

namespace {

using namespace tutti;
using namespace tutti::network;

// The port that a message between two ranks takes, and whether it is there.
unsigned port_between(const rtl::topology& shape, rank_t rank, rank_t other, bool incoming) {
  // In a ring the two ports may lead to the same rank: what comes, comes from the predecessor.
  if (shape.type == rtl::type_ring) return incoming ? 1 : 0;
  return rtl::port_of(shape.stations[rank], other);
}

rtl::barrier_packet packet_of(const tutti_net_table& t, const test::arrival& a) {
  const tutti_net_message m = test::message_of(t, a);
  rtl::barrier_packet p;
  p.destination_mac = {2, 0x54, 0x54, 0, 0, 9};
  p.source_mac = {2, 0x54, 0x54, 0, 0, 1};
  p.source_ip = 0x0a4d0001;
  p.destination_ip = 0x0a4d0002;
  p.source_port = 40'000;
  p.message = m.kind;
  p.episode = m.episode;
  p.incarnation = m.incarnation;
  p.communicator = m.communicator;
  p.topology = m.topology;
  p.role = m.role;
  return p;
}

TEST(packets, are_those_of_the_engine) {
  EXPECT_EQ(unsigned{TUTTI_NET_UDP_PORT}, rtl::default_udp_port);
  EXPECT_EQ(unsigned{TUTTI_NET_PLAIN_FRAME}, rtl::packet_bytes);
  EXPECT_EQ(unsigned{TUTTI_NET_START}, rtl::message_start);
  EXPECT_EQ(unsigned{TUTTI_NET_ARRIVE}, rtl::message_arrive);
  EXPECT_EQ(unsigned{TUTTI_NET_RELEASE}, rtl::message_release);
  EXPECT_EQ(unsigned{TUTTI_NET_RING}, rtl::type_ring);
  EXPECT_EQ(unsigned{TUTTI_NET_TREE}, rtl::type_tree);
  EXPECT_EQ(unsigned{TUTTI_NET_STAR}, rtl::type_star);
  EXPECT_EQ(unsigned{TUTTI_NET_BUTTERFLY}, rtl::type_butterfly);
  std::mt19937_64 random(5);
  for (int i = 0; i < 1'000; ++i) {
    rtl::barrier_packet p;
    for (auto& b : p.destination_mac) b = static_cast<std::uint8_t>(random());
    for (auto& b : p.source_mac) b = static_cast<std::uint8_t>(random());
    p.source_ip = static_cast<std::uint32_t>(random());
    p.destination_ip = static_cast<std::uint32_t>(random());
    p.source_port = TUTTI_NET_UDP_PORT;
    p.message = static_cast<unsigned>(1 + random() % 3);
    p.episode = static_cast<std::uint32_t>(random());
    p.incarnation = static_cast<std::uint32_t>(random());
    p.communicator = static_cast<unsigned>(random() % 65'536);
    p.topology = static_cast<unsigned>(1 + random() % 4);
    p.role = static_cast<unsigned>(random() % 3);
    tutti_net_message m{};
    m.plain = 1;
    m.kind = static_cast<__u8>(p.message);
    m.episode = p.episode;
    m.incarnation = p.incarnation;
    m.communicator = static_cast<__u16>(p.communicator);
    m.topology = static_cast<__u8>(p.topology);
    m.role = static_cast<__u8>(p.role);
    tutti_net_place from{};
    std::copy(p.source_mac.begin(), p.source_mac.end(), from.mac);
    from.ip = htonl(p.source_ip);
    rtl::frame ours(rtl::packet_bytes);
    tutti_net_write_frame(ours.data(), &from, p.destination_mac.data(), htonl(p.destination_ip),
                          &m);
    ASSERT_EQ(rtl::flaw(ours), "");
    ASSERT_TRUE(rtl::parse(ours) == p);
    ASSERT_EQ(ours, rtl::build(p, rtl::packet_bytes));
    ASSERT_EQ(tutti_net_frame_kind(ours.data()), TUTTI_NET_PLAIN);
    ours[random() % 36 + 24] ^= static_cast<std::uint8_t>(1 + random() % 255);
    ASSERT_NE(tutti_net_frame_kind(ours.data()) == TUTTI_NET_PLAIN, !rtl::flaw(ours).empty());
  }
}

std::vector<std::string> engine_trace(const tutti_net_table& t, const rtl::topology& shape,
                                      const std::vector<test::arrival>& arrivals) {
  rtl::node engine({}, 1);
  std::vector<rtl::departure> out;
  engine.on_departure = [&](rtl::departure d) { out.push_back(std::move(d)); };
  const rtl::station& s = shape.stations[t.rank];
  const rtl::key who{t.communicator, t.topology, t.role, t.incarnation, t.echoes != 0};
  if (!engine.configure(0, who, s.rows)) throw std::runtime_error("the engine refuses a table");
  const auto outcome_now = [&] {
    return std::array{engine.read(rtl::reg::counted), engine.read(rtl::reg::repeated),
                      engine.read(rtl::reg::stranger)};
  };
  auto before = outcome_now();
  std::vector<std::string> trace;
  for (const test::arrival& a : arrivals) {
    out.clear();
    // A stranger is at a port without a cable.
    unsigned queue = 1;
    if (a.stranger)
      queue = 2 * (PORTS - 1);
    else if (a.slot != 0)
      queue = 2 * port_between(shape, t.rank, t.in[a.slot].rank, true);
    engine.enqueue(queue, rtl::build(packet_of(t, a)));
    for (unsigned c = 0; c < 100; ++c) engine.cycle();
    const auto after = outcome_now();
    trace_entry entry;
    entry.outcome = after[0] != before[0]   ? unsigned{TUTTI_NET_COUNTED}
                    : after[1] != before[1] ? unsigned{TUTTI_NET_REPEATED}
                                            : unsigned{TUTTI_NET_STRANGER};
    before = after;
    for (const rtl::departure& d : out) {
      if (d.to == 2) {
        entry.released = true;
        continue;
      }
      for (unsigned slot = 1; slot < t.outs; ++slot) {
        const unsigned port = port_between(shape, t.rank, t.out[slot].rank, false);
        if ((d.to >> (2 * port) & 1) && d.bytes[43] == t.out[slot].kind)
          entry.sent.push_back({t.out[slot].kind, t.out[slot].rank});
      }
    }
    trace.push_back(text_of(entry));
  }
  return trace;
}

class engine : public testing::TestWithParam<unsigned> {};

TEST_P(engine, writes_the_trace_of_the_machine) {
  for (const rank_t n : {2u, 3u, 5u, 7u}) {
    const rtl::topology shape = rtl::make_topology(GetParam(), n);
    for (rank_t rank = 0; rank < n; ++rank) {
      tutti_net_table t = make_table(GetParam(), n, rank);
      t.communicator = 77;
      t.incarnation = 40 + n;
      // Some nodes echo what is repeated.
      t.echoes = rank % 2;
      const auto arrivals = test::script(t, 300, rank + 10 * n, false);
      auto expected = test::machine_trace(t, arrivals);
      // The engine counts early messages with the others.
      for (std::string& line : expected)
        if (line == "early") line = "counted";
      const auto trace = engine_trace(t, shape, arrivals);
      ASSERT_EQ(trace.size(), expected.size());
      for (std::size_t i = 0; i < trace.size(); ++i)
        ASSERT_EQ(trace[i], expected[i]) << "rank " << rank << " of " << n << ", arrival " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(all, engine, testing::Range(1u, 5u),
                         [](const auto& each) { return std::string(topology_names[each.param]); });

// Engines with cables between their ports, in any order. The hosts know nothing: their discovery's
// frames go through the engines, as all traffic does, and what they find out they write into the
// engines' registers.
class cabled_engines {
 public:
  explicit cabled_engines(test::wiring w) : wires_(std::move(w)), released_(wires_.nodes) {
    for (unsigned v = 0; v < wires_.nodes; ++v) {
      discoverer::settings s;
      s.id = 500 + v;
      s.ports = PORTS;
      hosts_.emplace_back(s);
      engines_.push_back(std::make_unique<rtl::node>(rtl::arguments{}, v + 1));
      engines_[v]->on_departure = [this, v](rtl::departure d) { leave(v, std::move(d)); };
    }
  }

  bool discover() {
    for (unsigned tick = 0; tick < 40; ++tick) {
      bool is_settled = true;
      for (unsigned v = 0; v < wires_.nodes; ++v) {
        hosts_[v].tick(sender(v));
        is_settled = is_settled && hosts_[v].settled() >= 2;
      }
      if (is_settled) return true;
      run(4'000);
    }
    return false;
  }

  void configure() {
    for (unsigned v = 0; v < wires_.nodes; ++v) {
      const auto plan = plan_of(hosts_[v].network(), 500 + v);
      ASSERT_TRUE(plan);
      std::vector<rtl::table_row> rows;
      for (const engine_row& r : engine_rows(*plan, PORTS)) rows.push_back({r.need, r.send});
      ASSERT_TRUE(
          engines_[v]->configure(0, {communicator, plan->topology, plan->table.role}, rows));
      plans_.push_back(*plan);
    }
  }

  void expect_barriers(unsigned episodes, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<unsigned> called(wires_.nodes);
    for (unsigned round = 0; std::ranges::min(released_) < episodes; ++round) {
      ASSERT_LT(round, 400 * episodes) << "nobody is released";
      for (unsigned v = 0; v < wires_.nodes; ++v) {
        ASSERT_LE(released_[v], std::ranges::min(called)) << "released early";
        if (called[v] != released_[v] || random() % 4 != 0) continue;
        rtl::barrier_packet p;
        p.source_ip = 10 + v;
        p.destination_ip = 9;
        p.source_port = 4'000;
        p.message = rtl::message_start;
        p.episode = called[v]++;
        p.communicator = communicator;
        p.topology = plans_[v].topology;
        p.role = plans_[v].table.role;
        engines_[v]->enqueue(1, rtl::build(p));
      }
      run(60);
    }
  }
  const found_plan& plan(unsigned v) const { return plans_[v]; }

 private:
  static constexpr unsigned communicator = 5;

  discoverer::output sender(unsigned v) {
    return [this, v](unsigned port, std::span<const std::uint8_t> packet) {
      rtl::frame f(14, 0xff);
      tutti_net_put16(&f[12], 0x88b5);
      f.insert(f.end(), packet.begin(), packet.end());
      f.resize(std::max<std::size_t>(f.size(), 60));
      engines_[v]->enqueue(2 * port + 1, std::move(f));
    };
  }
  void leave(unsigned v, rtl::departure d) {
    for (unsigned port = 0; port < PORTS; ++port) {
      test::cable_end there;
      if ((d.to >> 2 * port & 1) && wires_.other_end({v, port}, there))
        engines_[there.node]->enqueue(2 * there.port, d.bytes);
      if ((d.to >> (2 * port + 1) & 1) == 0) continue;
      if (tutti_net_get16(&d.bytes[12]) == 0x88b5)
        hosts_[v].receive(port, std::span(d.bytes).subspan(14), sender(v));
      else if (d.bytes[43] == rtl::message_release && rtl::get(d.bytes, 52, 4) == released_[v])
        ++released_[v];
    }
  }
  void run(unsigned cycles) {
    for (unsigned c = 0; c < cycles; ++c)
      for (const auto& e : engines_) e->cycle();
  }

  test::wiring wires_;
  std::vector<discoverer> hosts_;
  std::vector<std::unique_ptr<rtl::node>> engines_;
  std::vector<found_plan> plans_;
  std::vector<unsigned> released_;
};

struct cabled_shape {
  const char* shape;
  unsigned nodes, topology;
};
class discovered_engines : public testing::TestWithParam<cabled_shape> {};

TEST_P(discovered_engines, find_their_network_and_synchronise) {
  const auto [shape, nodes, topology] = GetParam();
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    cabled_engines net(test::wired(shape, nodes, seed));
    ASSERT_TRUE(net.discover()) << "they do not agree";
    net.configure();
    if (HasFatalFailure()) return;
    EXPECT_EQ(net.plan(0).topology, topology);
    net.expect_barriers(40, seed);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(all, discovered_engines,
                         testing::Values(cabled_shape{"ring", 2, TUTTI_NET_RING},
                                         cabled_shape{"ring", 5, TUTTI_NET_RING},
                                         cabled_shape{"star", 5, TUTTI_NET_STAR},
                                         cabled_shape{"tree", 7, TUTTI_NET_TREE},
                                         cabled_shape{"line", 4, TUTTI_NET_TREE},
                                         cabled_shape{"butterfly", 4, TUTTI_NET_BUTTERFLY},
                                         cabled_shape{"butterfly", 8, TUTTI_NET_BUTTERFLY}),
                         [](const auto& each) {
                           return each.param.shape + std::string("_") +
                                  std::to_string(each.param.nodes);
                         });

#ifdef TUTTI_NETWORK_KERNEL

// A host with an engine for a network card: frames of the cable (eth0) and of the host's stack (a
// TAP device) go through the simulated engine.
class engine_host {
 public:
  engine_host(const testbed& bed, rank_t rank, std::uint16_t communicator,
              std::uint32_t incarnation)
      : node_({}, rank + 1) {
    const rank_t next = (rank + 1) % bed.nodes();
    const auto run = [](const std::string& line) {
      if (std::system((line + " >/dev/null 2>&1").c_str()) != 0) throw std::runtime_error(line);
    };
    const std::string own = "10.77.0." + std::to_string(rank + 1);
    const std::string other = "10.77.0." + std::to_string(next + 1);
    run("ip addr flush dev eth0");
    tap_ = ::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    ifreq request{};
    std::strcpy(request.ifr_name, "tap0");
    request.ifr_flags = IFF_TAP | IFF_NO_PI;
    if (tap_ < 0 || ::ioctl(tap_, TUNSETIFF, &request) != 0)
      throw std::runtime_error("no TAP device");
    run("ip link set tap0 up");
    run("ip addr add " + own + "/24 dev tap0");
    char mac[18];
    const auto m = station_mac(next);
    std::snprintf(mac, sizeof mac, "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4],
                  m[5]);
    run("ip neigh replace " + other + " lladdr " + mac + " dev tap0 nud permanent");
    cable_ = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETH_P_ALL));
    sockaddr_ll at{};
    at.sll_family = AF_PACKET;
    at.sll_protocol = htons(ETH_P_ALL);
    at.sll_ifindex = static_cast<int>(::if_nametoindex("eth0"));
    if (::bind(cable_, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0)
      throw std::runtime_error("no cable");
    station_ = rtl::make_topology(rtl::type_ring, bed.nodes()).stations[rank];
    node_.on_departure = [this](rtl::departure d) {
      if (d.to & 1) (void)::send(cable_, d.bytes.data(), d.bytes.size(), 0);
      if (d.to & 2) (void)::write(tap_, d.bytes.data(), d.bytes.size());
    };
    ::inet_pton(AF_INET, other.c_str(), &options_.towards);
    options_.ranks = bed.nodes();
    options_.rank = rank;
    options_.communicator = communicator;
    begin(incarnation);
    clock_ = std::thread([this] { run_clock(); });
  }
  ~engine_host() {
    ends_ = true;
    clock_.join();
    ::close(cable_);
    ::close(tap_);
  }

  // The communicator begins again, at episode 0, whatever is still on the cables.
  void begin(std::uint32_t incarnation) {
    const std::lock_guard lock(engine_);
    options_.incarnation = incarnation;
    const rtl::key who{options_.communicator, rtl::type_ring, station_.role, incarnation, true};
    if (!node_.configure(0, who, station_.rows))
      throw std::runtime_error("the engine refuses a table");
    endpoint_ = std::make_unique<engine_endpoint>(options_);
  }
  engine_endpoint& endpoint() { return *endpoint_; }

 private:
  void run_clock() {
    while (!ends_) {
      pollfd p[2]{{cable_, POLLIN, 0}, {tap_, POLLIN, 0}};
      ::poll(p, 2, 5);
      const std::lock_guard lock(engine_);
      for (;;) {
        std::array<std::uint8_t, 2048> bytes;
        sockaddr_ll from{};
        socklen_t length = sizeof from;
        const ssize_t n = ::recvfrom(cable_, bytes.data(), bytes.size(), 0,
                                     reinterpret_cast<sockaddr*>(&from), &length);
        if (n <= 0) break;
        // Port 1 is the predecessor's.
        if (from.sll_pkttype != PACKET_OUTGOING)
          node_.enqueue(2, rtl::frame(bytes.begin(), bytes.begin() + n));
      }
      for (;;) {
        std::array<std::uint8_t, 2048> bytes;
        const ssize_t n = ::read(tap_, bytes.data(), bytes.size());
        if (n <= 0) break;
        node_.enqueue(1, rtl::frame(bytes.begin(), bytes.begin() + n));
      }
      // What is inside comes out some cycles after the queues are empty.
      while (!node_.quiet()) node_.cycle();
      for (unsigned c = 0; c < 64; ++c) node_.cycle();
    }
  }

  rtl::node node_;
  rtl::station station_;
  engine_options options_;
  std::unique_ptr<engine_endpoint> endpoint_;
  // The clock's thread and the host both use the engine.
  std::mutex engine_;
  int tap_ = -1, cable_ = -1;
  std::atomic<bool> ends_{false};
  std::thread clock_;
};

// A rank of a ring in which kernel programs and engines are neighbours.
class ring_rank {
 public:
  ring_rank(const testbed& bed, rank_t rank, bool has_engine) : bed_(bed), rank_(rank) {
    if (has_engine) engine_ = std::make_unique<engine_host>(bed, rank, communicator, 1);
    if (!engine_) begin(1);
  }
  void begin(std::uint32_t incarnation) {
    if (engine_) return engine_->begin(incarnation);
    node_.reset();
    auto o = bed_.options(TUTTI_NET_RING, rank_);
    o.communicator = communicator;
    o.incarnation = incarnation;
    o.plain = true;
    node_ = std::make_unique<xdp_endpoint>("eth0", o);
  }
  bool barrier(tutti::network::clock::time_point limit) {
    endpoint& mine = engine_ ? static_cast<endpoint&>(engine_->endpoint()) : *node_;
    try {
      mine.barrier(limit);
      return true;
    } catch (const deadline_error&) {
      return false;
    }
  }
  std::uint64_t counted() const {
    return node_ ? node_->counters()[TUTTI_NET_COUNTED] : ~std::uint64_t{0};
  }

 private:
  static constexpr std::uint16_t communicator = 9;
  const testbed& bed_;
  rank_t rank_;
  std::unique_ptr<engine_host> engine_;
  std::unique_ptr<xdp_endpoint> node_;
};

struct ring_plan {
  rank_t nodes = 4;
  // Ranks of this parity have engines.
  unsigned first_engine = 1;
  unsigned episodes = 600;
  cable_faults faults = {};
  // After so many episodes all begin again with another incarnation, without waiting until nothing
  // is on the cables; the last rank leaves the ring alone in the barrier before.
  unsigned run = 0;
};

void mixed_ring(const ring_plan& plan) {
  using namespace std::chrono_literals;
  const std::string why = why_no_testbed();
  if (!why.empty()) GTEST_SKIP() << "no namespaces here: " << why;
  if (::access("/dev/net/tun", R_OK | W_OK) != 0) GTEST_SKIP() << "no TAP devices here";
  const rank_t n = plan.nodes;
  testbed bed(n, xdp_mode::native, false);
  const auto has_engine = [&](rank_t r) { return r % 2 == plan.first_engine; };
  for (rank_t r = 0; r < n; ++r)
    if (!has_engine(r)) bed.attach_node(r, xdp_mode::native);
  bed.inject_faults(plan.faults);
  const shared_array<std::atomic<unsigned>> published(n);
  const test::all_ready ready(n);
  const bool is_long = plan.episodes > 5000;
  const std::chrono::seconds at_most = is_long ? 300s : 20s;
  const std::string error = bed.run(
      [&](rank_t r) {
        ring_rank me(bed, r, has_engine(r));
        ready.wait();
        std::uint32_t incarnation = 1;
        for (unsigned episode = 1; episode <= plan.episodes; ++episode) {
          // release, acquire: only the barrier orders the ranks.
          published[r].store(episode, std::memory_order_release);
          if (!me.barrier(tutti::network::clock::now() + at_most))
            throw std::runtime_error("no release in episode " + std::to_string(episode));
          for (rank_t other = 0; other < n; ++other)
            // acquire: as above.
            if (published[other].load(std::memory_order_acquire) < episode)
              throw std::runtime_error("released before rank " + std::to_string(other));
          if (plan.run == 0 || episode % plan.run != 0) continue;
          // One rank dies before this barrier; the others have called it, and give up.
          if (r != n - 1 && me.barrier(tutti::network::clock::now() + 30ms))
            throw std::runtime_error("released without the last rank");
          me.begin(++incarnation);
        }
        if (me.counted() < plan.episodes)
          throw std::runtime_error("the kernel's program did not take part");
        // Nodes serve those that have not heard of the last release.
        std::this_thread::sleep_for(150ms);
      },
      is_long ? 1800s : 60s);
  EXPECT_EQ(error, "");
}

TEST(mixed_ring, kernel_and_engine_of_two) { mixed_ring({.nodes = 2}); }
TEST(mixed_ring, the_head_is_an_engine) { mixed_ring({.nodes = 2, .first_engine = 0}); }
TEST(mixed_ring, kernel_and_engines_of_four) { mixed_ring({}); }
TEST(mixed_ring, heals_lost_repeated_reordered_and_corrupt_packets) {
  for (const unsigned first_engine : {0u, 1u})
    mixed_ring({.first_engine = first_engine,
                .episodes = 300,
                .faults = {.lose = 0.05, .repeat = 0.05, .reorder = 0.05, .corrupt = 0.02}});
}
// Without the incarnation, what the barrier before has left behind would release the next one.
TEST(mixed_ring, begins_again_while_old_packets_are_on_the_cables) {
  mixed_ring({.nodes = 3,
              .episodes = 60,
              .faults = {.lose = 0.02, .repeat = 0.2, .reorder = 0.2},
              .run = 3});
}
TEST(mixed_ring, long_with_loss) {
  const char* const number = std::getenv("TUTTI_NETWORK_RING_BARRIERS");
  const auto episodes = number == nullptr ? 10'000u : static_cast<unsigned>(std::atoi(number));
  const auto begin = tutti::network::clock::now();
  mixed_ring({.episodes = episodes, .faults = {.lose = 0.05, .repeat = 0.02, .reorder = 0.02}});
  const std::chrono::duration<double> took = tutti::network::clock::now() - begin;
  std::printf("%u barriers in a ring of 4, 5 %% lost, %.1f s\n", episodes, took.count());
}

#endif

}  // namespace
