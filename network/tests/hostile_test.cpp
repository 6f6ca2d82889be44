// SPDX-License-Identifier: Apache-2.0
// What a stranger can do to a barrier in the kernel's packet path: packets that are truncated, of
// another version, forged without the key or recorded; floods of them; and calls by processes of
// other users. Other traffic passes untouched.
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "network/tests/namespaces.hpp"

namespace {

using namespace tutti;
using namespace tutti::network;
using namespace tutti::network::test;
using namespace std::chrono_literals;

constexpr tutti_net_key the_key{0x123456789abcdef0, 0x0fedcba987654321};
constexpr std::uint32_t the_incarnation = 7;
// Hosts 0 and 1 have a communicator; host 2 is the stranger.
constexpr rank_t members = 2, stranger = 2;

xdp_options options_with_key(const testbed& bed, rank_t rank) {
  xdp_options o = bed.options(TUTTI_NET_DISSEMINATION, rank);
  o.places.resize(members);
  o.incarnation = the_incarnation;
  o.key = the_key;
  return o;
}

// The stranger's own host has no program of tutti's, which would drop what it forges.
void attach_members(testbed& bed) {
  for (rank_t r = 0; r < members; ++r) bed.attach_node(r, xdp_mode::native);
}

// Sends frames on the wire, with the address of host 0 to host 1.
class forger {
 public:
  explicit forger(const testbed& bed)
      : from_(bed.options(TUTTI_NET_RING, 0).places[0]),
        to_(bed.options(TUTTI_NET_RING, 0).places[1]),
        socket_(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)) {
    at_.sll_family = AF_PACKET;
    at_.sll_ifindex = static_cast<int>(::if_nametoindex("eth0"));
    at_.sll_halen = 6;
  }
  ~forger() { ::close(socket_); }
  forger(const forger&) = delete;
  forger& operator=(const forger&) = delete;

  // The message that host 0 would send, but for what the caller changes.
  static tutti_net_message arrival(std::uint32_t episode) {
    tutti_net_message m{};
    m.kind = TUTTI_NET_ARRIVE;
    m.topology = TUTTI_NET_DISSEMINATION;
    m.incarnation = the_incarnation;
    m.episode = episode;
    m.source = 0;
    m.destination = 1;
    return m;
  }
  std::vector<std::uint8_t> frame(tutti_net_message m, const tutti_net_key& key) const {
    const std::array<__u64, TUTTI_NET_VALUES> none{};
    if (!m.plain) m.check = tutti_net_check_of(&m, none.data(), &key);
    std::vector<std::uint8_t> f(m.plain ? TUTTI_NET_PLAIN_FRAME : TUTTI_NET_EXTENDED_FRAME);
    tutti_net_write_frame(f.data(), &from_, to_.mac, to_.ip, &m);
    return f;
  }
  void send(const std::vector<std::uint8_t>& frame) const {
    (void)::sendto(socket_, frame.data(), frame.size(), 0, reinterpret_cast<const sockaddr*>(&at_),
                   sizeof at_);
  }

 private:
  tutti_net_place from_, to_;
  int socket_;
  sockaddr_ll at_{};
};

// Every sort of packet that the stranger can make for this episode without the key.
std::vector<std::vector<std::uint8_t>> forged(const forger& f, std::uint32_t episode) {
  const tutti_net_key none{0, 0};
  const tutti_net_message sound = forger::arrival(episode);
  std::vector<std::vector<std::uint8_t>> all;
  for (const int kind :
       std::initializer_list<int>{TUTTI_NET_START, TUTTI_NET_ARRIVE, TUTTI_NET_RELEASE,
                                  TUTTI_NET_ASK, TUTTI_NET_QUERY, TUTTI_NET_STATUS, 7, 255}) {
    tutti_net_message m = sound;
    m.kind = static_cast<__u8>(kind);
    m.wanted = TUTTI_NET_ARRIVE;
    all.push_back(f.frame(m, none));
    m.destination = TUTTI_NET_EVERYONE;
    all.push_back(f.frame(m, none));
  }
  // What engines send has no check, so it counts for nobody who has a key.
  tutti_net_message plain = sound;
  plain.plain = 1;
  plain.source = plain.destination = 0;
  all.push_back(f.frame(plain, none));
  tutti_net_message other = sound;
  other.communicator = 9;
  all.push_back(f.frame(other, the_key));
  other = sound;
  other.incarnation = the_incarnation - 1;
  all.push_back(f.frame(other, the_key));
  other = sound;
  other.topology = TUTTI_NET_RING;
  all.push_back(f.frame(other, the_key));
  // Another version; a length, a checksum and a number of values that are wrong.
  for (const std::size_t at : {std::size_t{TUTTI_NET_HEADERS + 6}, std::size_t{38}, std::size_t{24},
                               std::size_t{TUTTI_NET_HEADERS + 7}}) {
    all.push_back(f.frame(sound, the_key));
    all.back()[at] ^= 0x40;
  }
  // A longer packet, by its headers, than its message is.
  all.push_back(f.frame(sound, the_key));
  std::vector<std::uint8_t>& longer = all.back();
  for (const std::size_t at : {17u, 39u}) longer[at] = static_cast<std::uint8_t>(longer[at] + 8);
  longer.resize(longer.size() + 8);
  tutti_net_put16(&longer[24], 0);
  tutti_net_put16(&longer[24],
                  static_cast<__u16>(~tutti_net_folded(tutti_net_sum_of(&longer[14], 10))));
  return all;
}

TEST(hostile, without_the_key_nobody_can_release_or_hold_up_a_barrier) {
  NEEDS_TESTBED();
  constexpr unsigned episodes = 500, between_series = 8;
  testbed bed(3, xdp_mode::native, false);
  attach_members(bed);
  const shared_array<std::atomic<unsigned>> published(members);
  const shared_array<std::atomic<unsigned>> series_sent(1);
  const shared_array<std::atomic<bool>> is_over(1);
  const shared_array<std::array<std::uint64_t, TUTTI_NET_COUNTERS>> counted(members);
  const all_ready ready(3);
  const std::string error = bed.run(
      [&](rank_t r) {
        if (r == stranger) {
          const forger f(bed);
          ready.wait();
          // relaxed: publishes nothing.
          while (!is_over[0].load(std::memory_order_relaxed)) {
            // The stranger sees every packet, so it knows the episode.
            for (std::uint32_t ahead = 0; ahead < 3; ++ahead)
              // relaxed: a number for the forgery.
              for (const auto& frame :
                   forged(f, published[1].load(std::memory_order_relaxed) - 1 + ahead))
                f.send(frame);
            // relaxed: publishes nothing.
            series_sent[0].fetch_add(1, std::memory_order_relaxed);
          }
          return;
        }
        xdp_endpoint e("eth0", options_with_key(bed, r));
        ready.wait();
        for (unsigned episode = 1; episode <= episodes; ++episode) {
          // Rank 0 is late, so rank 1 is in the barrier while the forged arrivals of rank 0 come,
          // however slow the stranger is.
          if (r == 0 && episode % between_series == 0) {
            // relaxed: publishes nothing.
            const unsigned before = series_sent[0].load(std::memory_order_relaxed);
            // relaxed: as above.
            while (series_sent[0].load(std::memory_order_relaxed) == before)
              std::this_thread::sleep_for(200us);
          }
          // release, acquire: only the barrier orders the ranks.
          published[r].store(episode, std::memory_order_release);
          e.barrier(clock::now() + 20s);
          // acquire: as above.
          if (published[1 - r].load(std::memory_order_acquire) < episode)
            throw std::runtime_error("released before rank " + std::to_string(1 - r));
        }
        counted[r] = e.counters();
        std::this_thread::sleep_for(60ms);
        // relaxed: publishes nothing.
        is_over[0].store(true, std::memory_order_relaxed);
      },
      60s);
  EXPECT_EQ(error, "");
  const auto& at_1 = counted[1];
  // The host's calls and the arrivals of rank 0, each once.
  EXPECT_EQ(at_1[TUTTI_NET_COUNTED] + at_1[TUTTI_NET_EARLY], 2u * episodes);
  EXPECT_EQ(at_1[TUTTI_NET_STRANGER], 0u);
  EXPECT_EQ(at_1[TUTTI_NET_DISAGREES], 0u);
  // Each third of a series has four packets or more for each of these counters, and rank 1 has
  // counted all but the last series when it reads them.
  constexpr unsigned least = 3 * 4 * (episodes / between_series - 1);
  EXPECT_GE(at_1[TUTTI_NET_COUNT_UNCHECKED], least);
  EXPECT_GE(at_1[TUTTI_NET_COUNT_UNKNOWN], least);
  EXPECT_GE(at_1[TUTTI_NET_COUNT_MALFORMED], least);
}

// A recorded packet has a sound check, but its episode is over.
TEST(hostile, recorded_packets_change_nothing) {
  NEEDS_TESTBED();
  constexpr unsigned episodes = 400, recorded = 20;
  testbed bed(3, xdp_mode::native, false);
  attach_members(bed);
  const shared_array<std::atomic<unsigned>> published(members);
  const shared_array<std::array<std::uint64_t, TUTTI_NET_COUNTERS>> counted(members);
  const all_ready ready(3), half(3);
  const std::string error = bed.run(
      [&](rank_t r) {
        if (r == stranger) {
          const forger f(bed);
          ready.wait();
          half.wait();
          for (unsigned i = 0; i < 200; ++i) {
            for (std::uint32_t episode = 0; episode < recorded; ++episode)
              f.send(f.frame(forger::arrival(episode), the_key));
            std::this_thread::sleep_for(200us);
          }
          return;
        }
        xdp_endpoint e("eth0", options_with_key(bed, r));
        ready.wait();
        for (unsigned episode = 1; episode <= episodes; ++episode) {
          if (episode == episodes / 2) half.wait();
          if (r == 0 && episode > episodes / 2) std::this_thread::sleep_for(200us);
          // release, acquire: only the barrier orders the ranks.
          published[r].store(episode, std::memory_order_release);
          e.barrier(clock::now() + 20s);
          // acquire: as above.
          if (published[1 - r].load(std::memory_order_acquire) < episode)
            throw std::runtime_error("released before rank " + std::to_string(1 - r));
        }
        std::this_thread::sleep_for(100ms);
        counted[r] = e.counters();
      },
      60s);
  EXPECT_EQ(error, "");
  EXPECT_EQ(counted[1][TUTTI_NET_COUNTED] + counted[1][TUTTI_NET_EARLY], 2u * episodes);
  EXPECT_GE(counted[1][TUTTI_NET_REPEATED], 200u * recorded);
}

// What a node said of itself once is no answer to a later question: a dead node stays silent.
TEST(hostile, recorded_answers_do_not_speak_for_a_dead_node) {
  NEEDS_TESTBED();
  testbed bed(3, xdp_mode::native, false);
  attach_members(bed);
  const all_ready ready(2);
  const shared_array<std::atomic<bool>> is_over(1);
  const std::string error = bed.run(
      [&](rank_t r) {
        if (r == 0) return;
        if (r == stranger) {
          const forger f(bed);
          ready.wait();
          tutti_net_message m = forger::arrival(0);
          m.kind = TUTTI_NET_STATUS;
          // relaxed: publishes nothing.
          while (!is_over[0].load(std::memory_order_relaxed)) {
            for (m.episode = 0; m.episode < 3; ++m.episode) f.send(f.frame(m, the_key));
            std::this_thread::sleep_for(1ms);
          }
          return;
        }
        xdp_endpoint e("eth0", options_with_key(bed, r));
        e.how.inquiry = 200ms;
        ready.wait();
        std::string named = "released without rank 0";
        try {
          e.barrier(clock::now() + 100ms);
        } catch (const deadline_error& d) {
          named = d.who().silent == std::vector<rank_t>{0} ? "" : d.what();
        }
        // relaxed: publishes nothing.
        is_over[0].store(true, std::memory_order_relaxed);
        if (!named.empty()) throw std::runtime_error(named);
      },
      20s);
  EXPECT_EQ(error, "");
}

// A local process of another user can neither call for a rank nor send in its name.
TEST(hostile, another_users_process_cannot_call) {
  NEEDS_TESTBED();
  testbed bed(3);
  const std::string error = bed.run(
      [&](rank_t r) {
        if (r != 0) return;
        xdp_endpoint e("eth0", options_with_key(bed, 0));
        const auto before = e.counters();
        const pid_t child = ::fork();
        if (child == 0) {
          if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(2);
          const int s = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
          sockaddr_in to{};
          to.sin_family = AF_INET;
          to.sin_port = htons(TUTTI_NET_UDP_PORT);
          to.sin_addr.s_addr = bed.options(TUTTI_NET_RING, 0).places[1].ip;
          for (const auto kind : {TUTTI_NET_START, TUTTI_NET_ARRIVE, TUTTI_NET_QUERY}) {
            tutti_net_message m = forger::arrival(0);
            m.kind = static_cast<__u8>(kind);
            m.role = e.table().role;
            m.destination = kind == TUTTI_NET_START ? 0 : 1;
            const std::array<__u64, TUTTI_NET_VALUES> none{};
            m.check = tutti_net_check_of(&m, none.data(), &the_key);
            std::array<std::uint8_t, TUTTI_NET_MESSAGE_BYTES> bytes{};
            tutti_net_write_extended(bytes.data(), &m);
            (void)::sendto(s, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&to),
                           sizeof to);
          }
          ::_exit(0);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        if (status != 0) throw std::runtime_error("the other user's process has failed");
        const auto after = e.counters();
        if (after[TUTTI_NET_COUNT_LOCAL] != before[TUTTI_NET_COUNT_LOCAL] + 3)
          throw std::runtime_error("not all three were counted as local");
        if (after[TUTTI_NET_COUNTED] != before[TUTTI_NET_COUNTED])
          throw std::runtime_error("another user has called");
      },
      20s);
  EXPECT_EQ(error, "");
}

sockaddr_in port_of(const tutti_net_place& place, std::uint16_t port) {
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_port = htons(port);
  a.sin_addr.s_addr = place.ip;
  return a;
}

// Datagrams of all lengths arrive whole, also at the port of the barrier's packets: those that are
// none of tutti's belong to whoever has the port.
TEST(hostile, other_traffic_passes_untouched) {
  NEEDS_TESTBED();
  // 18 and 34 bytes are the lengths of barrier messages; the longest needs fragments.
  constexpr std::array<std::size_t, 11> lengths{0, 1, 17, 18, 19, 33, 34, 35, 290, 1'400, 4'000};
  constexpr std::array<std::uint16_t, 2> ports{5'000, TUTTI_NET_UDP_PORT};
  for (const xdp_mode mode : {xdp_mode::native, xdp_mode::generic}) {
    testbed bed(2, mode);
    const all_ready ready(2);
    const auto places = bed.options(TUTTI_NET_RING, 0).places;
    const std::string error = bed.run(
        [&](rank_t r) {
          const xdp_endpoint e("eth0", bed.options(TUTTI_NET_RING, r));
          std::array<int, ports.size()> sockets{};
          for (std::size_t i = 0; i < ports.size(); ++i) {
            sockets[i] = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
            const sockaddr_in mine = port_of(places[r], ports[i]);
            if (::bind(sockets[i], reinterpret_cast<const sockaddr*>(&mine), sizeof mine) != 0)
              throw std::runtime_error("the port is taken");
          }
          ready.wait();
          for (std::size_t i = 0; i < ports.size(); ++i)
            for (const std::size_t bytes : lengths) {
              std::vector<char> sent(bytes), got(8'000);
              for (std::size_t at = 0; at < bytes; ++at)
                sent[at] = static_cast<char>('a' + at % 26);
              if (r == 0) {
                const sockaddr_in to = port_of(places[1], ports[i]);
                (void)::sendto(sockets[i], sent.data(), bytes, 0,
                               reinterpret_cast<const sockaddr*>(&to), sizeof to);
                continue;
              }
              pollfd p{sockets[i], POLLIN, 0};
              const ssize_t n =
                  ::poll(&p, 1, 2'000) == 1 ? ::recv(sockets[i], got.data(), got.size(), 0) : -1;
              if (n != static_cast<ssize_t>(bytes) ||
                  !std::equal(sent.begin(), sent.end(), got.begin()))
                throw std::runtime_error(std::to_string(bytes) + " bytes to port " +
                                         std::to_string(ports[i]) + " came as " +
                                         std::to_string(n));
            }
        },
        30s);
    EXPECT_EQ(error, "");
  }
}

// A device with a program of somebody else's keeps it.
TEST(hostile, another_program_stays) {
  NEEDS_TESTBED();
  testbed bed(1, xdp_mode::native, false);
  const std::string error = bed.run(
      [&](rank_t) {
        bpf_insn passes[2]{};
        passes[0] = {BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, XDP_PASS};
        passes[1] = {BPF_JMP | BPF_EXIT, 0, 0, 0, 0};
        const int other =
            bpf_prog_load(BPF_PROG_TYPE_XDP, "others_filter", "GPL", passes, 2, nullptr);
        const int index = static_cast<int>(::if_nametoindex("eth0"));
        if (other < 0 || bpf_xdp_attach(index, other, XDP_FLAGS_DRV_MODE, nullptr) != 0)
          throw std::runtime_error("the other program does not load");
        const std::uint32_t before = program_of("eth0");
        const auto refuses = [](const auto& call, const char* what) {
          try {
            call();
          } catch (const device_error& e) {
            if (std::strstr(e.what(), "others_filter") != nullptr) return;
            throw std::runtime_error(std::string(what) + " does not name it: " + e.what());
          }
          throw std::runtime_error(std::string(what) + " is not refused");
        };
        for (const xdp_mode mode :
             {xdp_mode::native_or_generic, xdp_mode::native, xdp_mode::generic})
          refuses([&] { attach("eth0", mode); }, "attach");
        refuses([] { detach("eth0"); }, "detach");
        refuses([] { (void)open_maps("eth0"); }, "status");
        if (program_of("eth0") != before) throw std::runtime_error("the other program is gone");
        const auto all = check_requirements("eth0");
        for (const requirement& each : all)
          if (each.what == "no other program" && each.met)
            throw std::runtime_error("the check does not see it");
        if (program_of("eth0") != before) throw std::runtime_error("the check has taken it off");
      },
      20s);
  EXPECT_EQ(error, "");
}

}  // namespace
