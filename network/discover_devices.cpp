// SPDX-License-Identifier: Apache-2.0
#include "network/discover_devices.hpp"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "network/device.hpp"

namespace tutti::network {
namespace {

constexpr std::uint16_t frame_type = 0x88b5;

// A socket that sees the frames of the discovery on one device.
class port {
 public:
  explicit port(const std::string& device) {
    // Without a protocol it hears no device until it is bound to its own.
    socket_ = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket_ < 0)
      throw device_error("this user may not send frames: run it as root, or with CAP_NET_RAW");
    ifreq request{};
    std::copy_n(device.c_str(), std::min<std::size_t>(device.size(), IFNAMSIZ - 1),
                request.ifr_name);
    sockaddr_ll at{};
    at.sll_family = AF_PACKET;
    at.sll_protocol = htons(frame_type);
    at.sll_ifindex = static_cast<int>(::if_nametoindex(device.c_str()));
    if (at.sll_ifindex == 0 || ::ioctl(socket_, SIOCGIFHWADDR, &request) != 0 ||
        ::bind(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) {
      ::close(socket_);
      throw no_device(device);
    }
    frame_.assign(14, 0xff);
    std::memcpy(&frame_[6], request.ifr_hwaddr.sa_data, 6);
    tutti_net_put16(&frame_[12], frame_type);
  }
  ~port() {
    if (socket_ >= 0) ::close(socket_);
  }
  port(port&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), frame_(std::move(other.frame_)) {}
  port(const port&) = delete;
  port& operator=(const port&) = delete;

  int socket() const { return socket_; }
  void send(std::span<const std::uint8_t> packet) {
    frame_.resize(14);
    frame_.insert(frame_.end(), packet.begin(), packet.end());
    // The shortest frame of Ethernet has 60 bytes.
    frame_.resize(std::max<std::size_t>(frame_.size(), 60));
    // A frame that the device does not take is lost like any other.
    (void)::send(socket_, frame_.data(), frame_.size(), 0);
  }
  // Calls use(packet) for each frame that has come.
  template <class Use>
  void receive(Use use) {
    std::array<std::uint8_t, 1600> bytes;
    for (;;) {
      sockaddr_ll from{};
      socklen_t length = sizeof from;
      const ssize_t n = ::recvfrom(socket_, bytes.data(), bytes.size(), 0,
                                   reinterpret_cast<sockaddr*>(&from), &length);
      if (n <= 0) return;
      if (n > 14 && from.sll_pkttype != PACKET_OUTGOING)
        use(std::span<const std::uint8_t>(bytes.data() + 14, static_cast<std::size_t>(n) - 14));
    }
  }

 private:
  int socket_ = -1;
  std::vector<std::uint8_t> frame_;
};

}  // namespace

tutti_net_place place_of(const std::string& device) {
  tutti_net_place place{};
  ifreq request{};
  std::copy_n(device.c_str(), std::min<std::size_t>(device.size(), IFNAMSIZ - 1), request.ifr_name);
  const int s = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const bool has_ip = ::ioctl(s, SIOCGIFADDR, &request) == 0;
  if (has_ip) {
    sockaddr_in address;
    std::memcpy(&address, &request.ifr_addr, sizeof address);
    place.ip = address.sin_addr.s_addr;
  }
  const bool has_mac = ::ioctl(s, SIOCGIFHWADDR, &request) == 0;
  std::memcpy(place.mac, request.ifr_hwaddr.sa_data, sizeof place.mac);
  ::close(s);
  if (!has_mac) throw no_device(device);
  if (!has_ip) throw device_error(device + " has no IPv4 address; `ip addr add` gives it one");
  return place;
}

tutti_net_place place_of(const found_node& node) {
  tutti_net_place place{};
  place.ip = node.ip;
  std::copy_n(node.mac, sizeof place.mac, place.mac);
  return place;
}

discovered discover(const discovery_wish& wish) {
  if (wish.devices.empty()) throw device_error("name a device that `ip link` lists");
  const tutti_net_place self = place_of(wish.devices[0]);
  std::vector<port> ports;
  for (const std::string& device : wish.devices) ports.emplace_back(device);
  discoverer::settings with;
  for (const std::uint8_t byte : self.mac) with.id = with.id << 8 | byte;
  with.ports = static_cast<unsigned>(ports.size());
  with.ip = self.ip;
  std::copy_n(self.mac, sizeof self.mac, with.mac);
  with.key = wish.key;
  with.first_sequence =
      static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                     std::chrono::system_clock::now().time_since_epoch())
                                     .count());
  discoverer node(with);
  const auto out = [&](unsigned at, std::span<const std::uint8_t> packet) {
    ports[at].send(packet);
  };
  const auto ticks = static_cast<unsigned>(wish.quiet / wish.interval);
  const auto begin = clock::now();
  bool has_agreed = false;
  clock::time_point agreed, uncrowded = begin;
  for (auto next = begin;; next += wish.interval) {
    node.tick(out);
    const auto now = clock::now();
    if (!node.is_crowded()) uncrowded = now;
    // It goes on for a while, so that the others notice it, too.
    if (now - uncrowded >= wish.linger)
      throw device_error("more than " + std::to_string(discoverer::most_neighbours + 1) +
                         " nodes share a cable, which the discovery cannot do");
    const std::size_t known = node.network().size();
    const bool is_complete =
        wish.nodes == 0 ? node.settled() >= ticks : known >= wish.nodes && node.settled() >= 2;
    if (is_complete && !has_agreed) agreed = now;
    has_agreed = is_complete;
    if (has_agreed && now - agreed >= wish.linger) return {node.network(), with.id};
    if (now - begin > wish.at_most)
      throw device_error(
          node.agreed() && wish.nodes == 0
              ? "the network has not come to rest in time; give it more with --time"
          : node.agreed() ? "only " + std::to_string(known) + " of " + std::to_string(wish.nodes) +
                                (known == 1 ? " nodes answers" : " nodes answer")
                          : "the nodes that answer (" + std::to_string(known) +
                                ") do not agree on the network; are all of them discovering?");
    while (clock::now() < next + wish.interval) {
      std::vector<pollfd> waiting;
      for (const port& p : ports) waiting.push_back({p.socket(), POLLIN, 0});
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next + wish.interval -
                                                                              clock::now());
      ::poll(waiting.data(), waiting.size(), static_cast<int>(std::max<long>(left.count(), 0)) + 1);
      for (unsigned at = 0; at < ports.size(); ++at)
        ports[at].receive(
            [&](std::span<const std::uint8_t> packet) { node.receive(at, packet, out); });
    }
  }
}

}  // namespace tutti::network
