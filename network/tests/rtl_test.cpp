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
#include <cstring>
#include <thread>

#include "hardware/innetwork/sim/node.hpp"
#include "network/frame.h"
#include "network/tests/arrivals.hpp"
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
  p.episode = m.episode & 0xff;
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
    p.episode = static_cast<unsigned>(random() % 256);
    p.communicator = static_cast<unsigned>(random() % 65'536);
    p.topology = static_cast<unsigned>(1 + random() % 4);
    p.role = static_cast<unsigned>(random() % 3);
    tutti_net_message m{};
    m.plain = 1;
    m.kind = static_cast<__u8>(p.message);
    m.episode = p.episode;
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
    ours[random() % 24 + 24] ^= static_cast<std::uint8_t>(1 + random() % 255);
    ASSERT_NE(tutti_net_frame_kind(ours.data()) == TUTTI_NET_PLAIN, !rtl::flaw(ours).empty());
  }
}

std::vector<std::string> engine_trace(const tutti_net_table& t, const rtl::topology& shape,
                                      const std::vector<test::arrival>& arrivals) {
  rtl::node engine({}, 1);
  std::vector<rtl::departure> out;
  engine.on_departure = [&](rtl::departure d) { out.push_back(std::move(d)); };
  const rtl::station& s = shape.stations[t.rank];
  if (!engine.configure(0, {t.communicator, t.topology, t.role}, s.rows))
    throw std::runtime_error("the engine refuses a table");
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

#ifdef TUTTI_NETWORK_KERNEL

// A host with an engine for a network card: frames of the cable (eth0) and of the host's stack (a
// TAP device) go through the simulated engine.
class engine_host {
 public:
  engine_host(const testbed& bed, rank_t rank, std::uint16_t communicator)
      : table_(make_table(TUTTI_NET_RING, bed.nodes(), rank)), node_({}, rank + 1) {
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
    const rtl::topology shape = rtl::make_topology(rtl::type_ring, bed.nodes());
    node_.on_departure = [this](rtl::departure d) {
      if (d.to & 1) (void)::send(cable_, d.bytes.data(), d.bytes.size(), 0);
      if (d.to & 2) (void)::write(tap_, d.bytes.data(), d.bytes.size());
    };
    if (!node_.configure(0, {communicator, rtl::type_ring, shape.stations[rank].role},
                         shape.stations[rank].rows))
      throw std::runtime_error("the engine refuses a table");
    clock_ = std::thread([this] { run_clock(); });
    // The host's side, as the paper's library: a UDP socket that sends, and blocks.
    socket_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(TUTTI_NET_UDP_PORT);
    ::inet_pton(AF_INET, other.c_str(), &to.sin_addr);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0)
      throw std::runtime_error("no route to the engine");
    communicator_ = communicator;
  }
  ~engine_host() {
    ends_ = true;
    clock_.join();
    ::close(socket_);
    ::close(cable_);
    ::close(tap_);
  }

  void barrier() {
    tutti_net_message m{};
    m.plain = 1;
    m.kind = TUTTI_NET_START;
    m.episode = episode_;
    m.communicator = communicator_;
    m.topology = TUTTI_NET_RING;
    m.role = table_.role;
    std::array<__u8, TUTTI_NET_PLAIN_BYTES> bytes;
    tutti_net_write_plain(bytes.data(), &m);
    if (::send(socket_, bytes.data(), bytes.size(), 0) < 0) throw std::runtime_error("no call");
    pollfd p{socket_, POLLIN, 0};
    if (::poll(&p, 1, 20'000) != 1) throw std::runtime_error("no release");
    std::array<__u8, 64> answer;
    if (::recv(socket_, answer.data(), answer.size(), 0) != TUTTI_NET_PLAIN_BYTES ||
        answer[0] != (episode_ & 0xff) || answer[1] != TUTTI_NET_RELEASE)
      throw std::runtime_error("an answer that is no release");
    ++episode_;
  }

 private:
  void run_clock() {
    while (!ends_) {
      pollfd p[2]{{cable_, POLLIN, 0}, {tap_, POLLIN, 0}};
      ::poll(p, 2, 5);
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

  tutti_net_table table_;
  rtl::node node_;
  std::uint16_t communicator_ = 0;
  std::uint32_t episode_ = 0;
  int tap_ = -1, cable_ = -1, socket_ = -1;
  std::atomic<bool> ends_{false};
  std::thread clock_;
};

void mixed_ring(rank_t n, unsigned first_engine, unsigned episodes) {
  using namespace std::chrono_literals;
  const std::string why = why_no_testbed();
  if (!why.empty()) GTEST_SKIP() << "no namespaces here: " << why;
  if (::access("/dev/net/tun", R_OK | W_OK) != 0) GTEST_SKIP() << "no TAP devices here";
  testbed bed(n, xdp_mode::native, false);
  const auto has_engine = [&](rank_t r) { return r % 2 == first_engine; };
  for (rank_t r = 0; r < n; ++r)
    if (!has_engine(r)) bed.attach_node(r, xdp_mode::native);
  const shared_array<std::atomic<unsigned>> published(n);
  const test::all_ready ready(n);
  const std::string error = bed.run(
      [&](rank_t r) {
        std::unique_ptr<engine_host> engine;
        std::unique_ptr<xdp_endpoint> node;
        if (has_engine(r)) {
          engine = std::make_unique<engine_host>(bed, r, 9);
        } else {
          auto o = bed.options(TUTTI_NET_RING, r);
          o.communicator = 9;
          o.plain = true;
          node = std::make_unique<xdp_endpoint>("eth0", o);
          // Nobody repeats: an engine could not answer.
          node->how.first_repeat = node->how.longest_repeat = 20s;
        }
        ready.wait();
        for (unsigned episode = 1; episode <= episodes; ++episode) {
          // release, acquire: only the barrier orders the ranks.
          published[r].store(episode, std::memory_order_release);
          if (engine)
            engine->barrier();
          else
            node->barrier(clock::now() + 20s);
          for (rank_t other = 0; other < n; ++other)
            // acquire: as above.
            if (published[other].load(std::memory_order_acquire) < episode)
              throw std::runtime_error("released before rank " + std::to_string(other));
        }
        if (node && node->counters()[TUTTI_NET_COUNTED] < episodes)
          throw std::runtime_error("the kernel's program did not take part");
        std::this_thread::sleep_for(50ms);
      },
      60s);
  EXPECT_EQ(error, "");
}

TEST(mixed_ring, kernel_and_engine_of_two) { mixed_ring(2, 1, 600); }
TEST(mixed_ring, the_head_is_an_engine) { mixed_ring(2, 0, 600); }
TEST(mixed_ring, kernel_and_engines_of_four) { mixed_ring(4, 1, 600); }

#endif

}  // namespace
