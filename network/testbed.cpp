// SPDX-License-Identifier: Apache-2.0
#include "network/testbed.hpp"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <system_error>
#include <thread>

#include "cli/end_with_parent.hpp"

namespace tutti::network {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

int current_namespace() {
  const int fd = ::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail("the network namespace");
  return fd;
}

// The thread is in a namespace while this lives.
class inside {
 public:
  explicit inside(const net_namespace& there) : back_(current_namespace()) { there.enter(); }
  ~inside() {
    (void)::setns(back_, CLONE_NEWNET);
    ::close(back_);
  }
  inside(const inside&) = delete;
  inside& operator=(const inside&) = delete;

 private:
  int back_;
};

// Runs `ip` with these arguments.
void ip(const std::string& arguments) {
  std::vector<std::string> words{"ip"};
  for (std::size_t at = 0; at < arguments.size();) {
    const std::size_t end = std::min(arguments.find(' ', at), arguments.size());
    words.push_back(arguments.substr(at, end - at));
    at = end + 1;
  }
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  if (const int error = ::posix_spawnp(&pid, "ip", nullptr, nullptr, argv.data(), environ);
      error != 0)
    throw device_error("the command `ip` does not run; install iproute2");
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (status != 0) throw device_error("`ip " + arguments + "` failed");
}

void ethtool(const std::string& device, std::uint32_t command, std::uint32_t value) {
  const int s = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ethtool_value v{command, value};
  ifreq request{};
  std::copy_n(device.c_str(), std::min<std::size_t>(device.size() + 1, IFNAMSIZ - 1),
              request.ifr_name);
  request.ifr_data = reinterpret_cast<char*>(&v);
  (void)::ioctl(s, SIOCETHTOOL, &request);
  ::close(s);
}

std::string text_of(const std::array<std::uint8_t, 6>& mac) {
  char text[18];
  std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
                mac[4], mac[5]);
  return text;
}

std::string address_of(rank_t rank) { return "10.77.0." + std::to_string(rank + 1); }

tutti_net_place place_of(rank_t rank) {
  tutti_net_place p{};
  ::inet_pton(AF_INET, address_of(rank).c_str(), &p.ip);
  const auto mac = station_mac(rank);
  std::copy(mac.begin(), mac.end(), p.mac);
  return p;
}

std::vector<net_namespace> several(rank_t count) {
  std::vector<net_namespace> all;
  for (rank_t i = 0; i < count; ++i) all.emplace_back();
  return all;
}

void no_ipv6() {
  // /proc/sys/net is that of the thread's own namespace.
  for (const char* which : {"all", "default"})
    std::ofstream("/proc/sys/net/ipv6/conf/" + std::string(which) + "/disable_ipv6") << 1;
}

}  // namespace

std::array<std::uint8_t, 6> station_mac(rank_t rank) {
  return {0x02, 0x54, 0x54,
          0x00, 0x00, static_cast<std::uint8_t>(rank == switch_station ? rank : rank + 1)};
}

net_namespace::net_namespace() {
  const int before = current_namespace();
  if (::unshare(CLONE_NEWNET) != 0) {
    ::close(before);
    throw device_error("this user may not make network namespaces: run it as root");
  }
  fd_ = current_namespace();
  const int back = ::setns(before, CLONE_NEWNET);
  ::close(before);
  if (back != 0) fail("the network namespace");
}
net_namespace::~net_namespace() {
  if (fd_ >= 0) ::close(fd_);
}
void net_namespace::enter() const {
  if (::setns(fd_, CLONE_NEWNET) != 0) fail("a network namespace");
}

std::string why_no_testbed() {
  if (::geteuid() != 0) return "it needs root, for namespaces and programs in the kernel";
  try {
    const net_namespace n;
    const loaded_programs p;
  } catch (const std::exception& e) {
    return e.what();
  }
  return {};
}

testbed::testbed(rank_t nodes, xdp_mode mode, bool attach_nodes)
    : nodes_(nodes), hosts_(several(nodes)) {
  if (nodes < 1 || nodes > 63) throw std::invalid_argument("a testbed has 1 to 63 nodes");
  {
    const inside there(switch_);
    no_ipv6();
    for (rank_t r = 0; r < nodes; ++r) {
      ports_.push_back("p" + std::to_string(r));
      stations_.push_back(station_mac(r));
      ip("link add " + ports_.back() + " type veth peer name eth0 netns /proc/" +
         std::to_string(::getpid()) + "/fd/" + std::to_string(hosts_[r].fd()));
      ip("link set " + ports_.back() + " up");
    }
    switch_maps_ = attach_switch(ports_, stations_);
  }
  for (rank_t r = 0; r < nodes; ++r) {
    const inside there(hosts_[r]);
    no_ipv6();
    ip("link set lo up");
    ip("link set eth0 address " + text_of(station_mac(r)) + " up");
    ip("addr add " + address_of(r) + "/24 dev eth0");
    // Frames that a program redirects here arrive only with a program, or with this, at this end.
    ethtool("eth0", ETHTOOL_SGRO, 1);
    // A redirected frame keeps no note that a checksum or a segmentation is still to be done.
    ethtool("eth0", ETHTOOL_STXCSUM, 0);
    ethtool("eth0", ETHTOOL_STSO, 0);
    ethtool("eth0", ETHTOOL_SGSO, 0);
    for (rank_t other = 0; other < nodes; ++other)
      if (other != r)
        ip("neigh replace " + address_of(other) + " lladdr " + text_of(station_mac(other)) +
           " dev eth0 nud permanent");
    if (attach_nodes) attach("eth0", mode);
  }
}

void testbed::attach_node(rank_t rank, xdp_mode mode) const {
  const inside there(hosts_[rank]);
  attach("eth0", mode);
}

void testbed::join(rank_t one, const std::string& device, rank_t other,
                   const std::string& its_device) const {
  {
    const inside there(hosts_[one]);
    ip("link add " + device + " type veth peer name " + its_device + " netns /proc/" +
       std::to_string(::getpid()) + "/fd/" + std::to_string(hosts_[other].fd()));
    ip("link set " + device + " up");
  }
  const inside there(hosts_[other]);
  ip("link set " + its_device + " up");
}

void testbed::restart_switch() {
  const inside there(switch_);
  detach_switch(ports_);
  switch_maps_ = attach_switch(ports_, stations_);
}

testbed::~testbed() { end_faulty_cable(); }

void testbed::end_faulty_cable() {
  if (faulty_cable_ <= 0) return;
  ::kill(faulty_cable_, SIGKILL);
  ::waitpid(faulty_cable_, nullptr, 0);
  faulty_cable_ = -1;
}

xdp_options testbed::options(unsigned topology, rank_t rank) const {
  xdp_options o;
  o.topology = topology;
  o.rank = rank;
  for (rank_t r = 0; r < nodes_; ++r) o.places.push_back(place_of(r));
  o.the_switch = place_of(253);
  const auto mac = station_mac(switch_station);
  std::copy(mac.begin(), mac.end(), o.the_switch.mac);
  return o;
}

void testbed::inject_faults(const cable_faults& plan) {
  const auto share = [](double p) { return static_cast<__u32>(p * 4294967295.0); };
  const double worse = plan.worse();
  const tutti_net_switch_settings set{share(plan.lose), share(worse)};
  // A cable of another plan has ended.
  end_faulty_cable();
  if (worse > 0) start_faulty_cable(plan);
  const __u32 zero = 0;
  bpf_map_update_elem(switch_maps_.fd("settings"), &zero, &set, BPF_ANY);
}

// The process that the switch hands packets to: they come up in the switch's namespace, and go out
// of the port of their destination.
void testbed::start_faulty_cable(const cable_faults& plan) {
  const pid_t parent = ::getpid();
  faulty_cable_ = ::fork();
  if (faulty_cable_ < 0) fail("a process");
  if (faulty_cable_ != 0) return;
  cli::end_with_parent(parent);
  switch_.enter();
  const int s = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
  cable_faults part = plan;
  // The switch has done that.
  part.lose = 0;
  faulty_cable<int> cable(part, true);
  std::array<int, 64> ports{};
  for (rank_t r = 0; r < nodes_; ++r)
    ports[r] = static_cast<int>(::if_nametoindex(("p" + std::to_string(r)).c_str()));
  const auto out = [&](const std::vector<std::uint8_t>& frame, int port) {
    sockaddr_ll to{};
    to.sll_family = AF_PACKET;
    to.sll_ifindex = port;
    to.sll_halen = 6;
    (void)::sendto(s, frame.data(), frame.size(), 0, reinterpret_cast<const sockaddr*>(&to),
                   sizeof to);
  };
  for (;;) {
    std::array<std::uint8_t, 2048> buffer;
    sockaddr_ll from{};
    socklen_t length = sizeof from;
    pollfd p{s, POLLIN, 0};
    if (::poll(&p, 1, 1) == 0) cable.release(out);
    const ssize_t n = ::recvfrom(s, buffer.data(), buffer.size(), MSG_DONTWAIT,
                                 reinterpret_cast<sockaddr*>(&from), &length);
    if (n < TUTTI_NET_PLAIN_FRAME || from.sll_pkttype == PACKET_OUTGOING) continue;
    // To the switch itself, or by it: such packets are lost here.
    if (buffer[5] == 0 || buffer[5] > nodes_) continue;
    cable.pass({buffer.begin(), buffer.begin() + n}, ports[buffer[5] - 1u], out);
  }
}

std::string testbed::run(const std::function<void(rank_t)>& body, std::chrono::seconds at_most) {
  struct report {
    char text[240];
  };
  const shared_array<report> reports(nodes_);
  std::vector<pid_t> children;
  const pid_t parent = ::getpid();
  for (rank_t r = 0; r < nodes_; ++r) {
    const pid_t child = ::fork();
    if (child < 0) fail("a process");
    if (child == 0) {
      cli::end_with_parent(parent);
      int status = 0;
      try {
        hosts_[r].enter();
        body(r);
      } catch (const std::exception& e) {
        std::snprintf(reports[r].text, sizeof reports[r].text, "rank %u: %s", r, e.what());
        status = 1;
      }
      ::_exit(status);
    }
    children.push_back(child);
  }
  auto end = clock::now() + at_most;
  std::string error;
  std::vector<bool> ended(nodes_);
  for (rank_t left = nodes_; left > 0;) {
    for (rank_t r = 0; r < nodes_; ++r) {
      int status = 0;
      if (ended[r] || ::waitpid(children[r], &status, WNOHANG) != children[r]) continue;
      ended[r] = true;
      --left;
      if (status == 0 || !error.empty()) continue;
      error = reports[r].text[0] != 0
                  ? reports[r].text
                  : "rank " + std::to_string(r) + " ended with status " + std::to_string(status);
      // The others may wait for this one in vain.
      end = std::min(end, clock::now() + std::chrono::seconds(2));
    }
    if (left > 0 && clock::now() >= end) {
      for (rank_t r = 0; r < nodes_; ++r)
        if (!ended[r]) ::kill(children[r], SIGKILL);
      for (rank_t r = 0; r < nodes_; ++r)
        if (!ended[r]) ::waitpid(children[r], nullptr, 0);
      return error.empty() ? "the ranks did not end in time" : error;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return error;
}

}  // namespace tutti::network
