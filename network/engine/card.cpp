// SPDX-License-Identifier: Apache-2.0
// A card whose engine is the RTL of hardware/innetwork, simulated by Verilator. Its host's side is
// a TAP device, its cables are network devices of any kind (between namespaces: veth), and it
// serves the card's driver (network/engine_card.hpp). The clock runs only while a frame is inside,
// so a card that has nothing to do takes no processor.
//   tutti-network-engine --device tap0 --address 10.78.0.1 --towards 10.78.0.254
//                        --cable 0,c0,10.78.0.2,1 ...
// --help explains the options.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <list>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "cli/errors.hpp"
#include "cli/options.hpp"
#include "hardware/innetwork/sim/node.hpp"
#include "network/engine_card.hpp"

namespace {

using namespace tutti;
using namespace tutti::network;

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

struct cable_wish {
  unsigned port = 0;
  std::string device;
  card::cable end;
};
struct card_wish {
  std::string device = "tap0", address, towards;
  std::vector<cable_wish> cables;
};

in_addr address_of(const std::string& text) {
  in_addr a{};
  if (::inet_pton(AF_INET, text.c_str(), &a) != 1)
    throw std::invalid_argument("'" + text + "' is no IPv4 address");
  return a;
}

unsigned port_of(const std::string& text) {
  if (text.size() != 1 || text[0] < '0' || static_cast<unsigned>(text[0] - '0') >= PORTS)
    throw std::invalid_argument("'" + text + "' is no port from 0 to " + std::to_string(PORTS - 1));
  return static_cast<unsigned>(text[0] - '0');
}

cable_wish cable_of(const std::string& text) {
  std::istringstream parts(text);
  std::array<std::string, 4> part;
  for (std::string& p : part)
    if (!std::getline(parts, p, ',') || p.empty())
      throw std::invalid_argument("'" + text + "' is not PORT,DEVICE,ADDRESS,PORT");
  if (!parts.eof()) throw std::invalid_argument("'" + text + "' has more than four parts");
  return {port_of(part[0]), part[1], {address_of(part[2]).s_addr, port_of(part[3])}};
}

// Makes what `read` throws about the text of an option a complaint about it.
template <class Read>
auto complaint_of(Read read) {
  return [read](const std::string& text) -> std::string {
    try {
      read(text);
      return {};
    } catch (const std::invalid_argument& wrong) {
      return wrong.what();
    }
  };
}

class descriptor {
 public:
  explicit descriptor(int number = -1) : number_(number) {}
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  descriptor(descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  int number() const { return number_; }

 private:
  int number_;
};

// The device through which the host's stack talks to the engine, with its address and the way to
// `towards`, which nobody has.
descriptor tap_device(const card_wish& w) {
  descriptor tap(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (tap.number() < 0) fail("/dev/net/tun");
  const descriptor control(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq device{};
  if (w.device.size() >= sizeof device.ifr_name)
    throw std::invalid_argument("'" + w.device + "' is too long for a device");
  std::ranges::copy(w.device, device.ifr_name);
  device.ifr_flags = IFF_TAP | IFF_NO_PI;
  if (::ioctl(tap.number(), TUNSETIFF, &device) != 0) fail("a TAP device " + w.device);
  const auto set = [&](unsigned long what, in_addr value) {
    ifreq r = device;
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr = value;
    std::memcpy(&r.ifr_addr, &a, sizeof a);
    if (::ioctl(control.number(), what, &r) != 0) fail("the address of " + w.device);
  };
  set(SIOCSIFADDR, address_of(w.address));
  set(SIOCSIFNETMASK, address_of("255.255.255.0"));
  device.ifr_flags = IFF_UP | IFF_RUNNING;
  if (::ioctl(control.number(), SIOCSIFFLAGS, &device) != 0) fail("the device " + w.device);
  arpreq neighbour{};
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr = address_of(w.towards);
  std::memcpy(&neighbour.arp_pa, &to, sizeof to);
  neighbour.arp_ha.sa_family = ARPHRD_ETHER;
  constexpr unsigned char nobody[6] = {0x02, 0x54, 0x54, 0x00, 0x00, 0xfe};
  std::memcpy(neighbour.arp_ha.sa_data, nobody, sizeof nobody);
  neighbour.arp_flags = ATF_PERM | ATF_COM;
  std::ranges::copy(w.device, neighbour.arp_dev);
  if (::ioctl(control.number(), SIOCSARP, &neighbour) != 0) fail("the way to " + w.towards);
  return tap;
}

descriptor cable_device(const std::string& device) {
  descriptor cable(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETH_P_ALL)));
  if (cable.number() < 0) fail("a cable");
  const int index = static_cast<int>(::if_nametoindex(device.c_str()));
  if (index == 0) throw std::invalid_argument("there is no device " + device);
  const int yes = 1;
  ::setsockopt(cable.number(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof yes);
  // What comes is for the other side's host, or for nobody.
  packet_mreq all{};
  all.mr_ifindex = index;
  all.mr_type = PACKET_MR_PROMISC;
  ::setsockopt(cable.number(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all);
  sockaddr_ll at{};
  at.sll_family = AF_PACKET;
  at.sll_protocol = htons(ETH_P_ALL);
  at.sll_ifindex = index;
  if (::bind(cable.number(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0)
    fail("the cable of " + device);
  return cable;
}

class simulated_card {
 public:
  explicit simulated_card(const card_wish& w)
      : engine_({}, 1), tap_(tap_device(w)), address_(address_of(w.address).s_addr) {
    towards_ = address_of(w.towards).s_addr;
    for (const cable_wish& c : w.cables) {
      cables_[c.port] = cable_device(c.device);
      ends_[c.port] = c.end;
    }
    const std::uint64_t capability = engine_.read(rtl::reg::capability);
    rows_ = static_cast<unsigned>(capability >> 16 & 0xff);
    places_.resize(capability >> 8 & 0xff);
    engine_.on_departure = [this](const rtl::departure& d) { leave(d); };
    // Last: who finds the driver finds the whole card.
    const card::socket_name at(w.device);
    driver_ = descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (::bind(driver_.number(), reinterpret_cast<const sockaddr*>(&at.name), at.length) != 0 ||
        ::listen(driver_.number(), 64) != 0)
      fail("the driver of " + w.device);
  }

  [[noreturn]] void run() {
    for (;;) {
      std::vector<pollfd> all{{tap_.number(), POLLIN, 0}, {driver_.number(), POLLIN, 0}};
      for (const descriptor& c : cables_)
        if (c.number() >= 0) all.push_back({c.number(), POLLIN, 0});
      for (const client& c : clients_) all.push_back({c.socket.number(), POLLIN, 0});
      if (::poll(all.data(), all.size(), -1) < 0 && errno != EINTR) fail("poll");
      take(tap_, host_queue);
      for (unsigned p = 0; p < PORTS; ++p)
        if (cables_[p].number() >= 0) take(cables_[p], 2 * p);
      while (!engine_.quiet()) engine_.cycle();
      // What is inside comes out some cycles after the queues are empty.
      for (unsigned c = 0; c < 64; ++c) engine_.cycle();
      serve();
    }
  }

 private:
  // A program, and the place of the engine's table that it has.
  struct client {
    descriptor socket;
    std::optional<unsigned> place;
  };
  // What the engine executes there.
  struct place {
    bool is_used = false;
    std::uint32_t communicator = 0;
  };
  static constexpr unsigned host_queue = 1;

  // Frames wait where they are while there are many.
  void take(const descriptor& from, unsigned queue) {
    for (unsigned i = 0; i < 64; ++i) {
      std::array<std::uint8_t, 2048> bytes;
      const ssize_t n = ::read(from.number(), bytes.data(), bytes.size());
      if (n <= 0) return;
      engine_.enqueue(queue, rtl::frame(bytes.begin(), bytes.begin() + n));
    }
  }

  void leave(const rtl::departure& d) {
    bool is_for_host = false;
    for (unsigned p = 0; p < PORTS; ++p) {
      if ((d.to >> 2 * p & 1) != 0 && cables_[p].number() >= 0)
        (void)::send(cables_[p].number(), d.bytes.data(), d.bytes.size(), 0);
      is_for_host = is_for_host || (d.to >> (2 * p + 1) & 1) != 0;
    }
    // A frame that a device does not take is lost, as on a cable; hosts repeat their calls.
    if (is_for_host && ::write(tap_.number(), d.bytes.data(), d.bytes.size()) < 0) return;
  }

  void serve() {
    for (;;) {
      const int made = ::accept4(driver_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (made < 0) break;
      descriptor socket(made);
      // Another user may not use the card's engine.
      ucred who{};
      socklen_t length = sizeof who;
      if (::getsockopt(made, SOL_SOCKET, SO_PEERCRED, &who, &length) == 0 &&
          (who.uid == ::geteuid() || who.uid == 0))
        clients_.push_back({std::move(socket), {}});
    }
    for (auto c = clients_.begin(); c != clients_.end();) {
      if (serve(*c)) {
        ++c;
        continue;
      }
      if (c->place) stop(*c->place);
      c = clients_.erase(c);
    }
  }

  // Returns false if the program has gone.
  bool serve(client& c) {
    for (;;) {
      card::request r;
      const ssize_t n = ::recv(c.socket.number(), &r, sizeof r, MSG_TRUNC);
      if (n < 0) return errno == EAGAIN || errno == EINTR;
      if (n != sizeof r || r.of_version != card::version) return false;
      card::answer a;
      try {
        answer(c, r, a);
      } catch (const std::exception& error) {
        a.is_refused = 1;
        std::snprintf(a.why, sizeof a.why, "%s", error.what());
      }
      if (::send(c.socket.number(), &a, sizeof a, MSG_NOSIGNAL) != sizeof a) return false;
    }
  }

  void answer(client& c, const card::request& r, card::answer& a) {
    switch (r.what) {
      case card::wish::describe: return describe(a);
      case card::wish::start: return start(c, r);
      case card::wish::state:
        if (!c.place) throw std::runtime_error("this program has started no communicator");
        a.state = engine_.read(rtl::reg::window(*c.place) + rtl::reg::state);
        return;
    }
    throw std::runtime_error("the driver does not know this request");
  }

  void describe(card::answer& a) {
    a.address = address_;
    a.towards = towards_;
    a.clock_hz = engine_.read(rtl::reg::clock);
    a.port_count = PORTS;
    a.room = static_cast<std::uint32_t>(
        std::ranges::count_if(places_, [](const place& p) { return !p.is_used; }));
    std::ranges::copy(ends_, a.cables);
    std::bitset<card::identifiers> used;
    for (const place& p : places_)
      if (p.is_used && p.communicator < used.size()) used.set(p.communicator);
    for (unsigned id = 0; id < card::identifiers; ++id)
      if (!used[id]) a.available[id / 64] |= std::uint64_t{1} << id % 64;
  }

  void start(client& c, const card::request& r) {
    if (c.place) throw std::runtime_error("this program has started a communicator already");
    const auto free = std::ranges::find_if(places_, [](const place& p) { return !p.is_used; });
    if (free == places_.end())
      throw std::runtime_error("all " + std::to_string(places_.size()) +
                               " communicators of the engine are in use");
    if (r.row_count == 0 || r.row_count > std::min(rows_, card::rows))
      throw std::runtime_error("the engine has " + std::to_string(rows_) + " rows, and the table " +
                               std::to_string(r.row_count));
    std::vector<rtl::table_row> rows;
    for (unsigned i = 0; i < r.row_count; ++i) rows.push_back({r.table[i].need, r.table[i].send});
    const auto number = static_cast<unsigned>(free - places_.begin());
    if (!engine_.configure(number, {r.communicator, r.topology, r.role, r.incarnation, true}, rows))
      throw std::runtime_error("the engine refuses the table");
    *free = {true, r.communicator};
    c.place = number;
  }

  void stop(unsigned number) {
    engine_.write(rtl::reg::window(number) + rtl::reg::control, 0);
    places_[number] = {};
  }

  rtl::node engine_;
  descriptor tap_, driver_;
  std::array<descriptor, PORTS> cables_;
  std::array<card::cable, card::ports> ends_{};
  std::uint32_t address_ = 0, towards_ = 0;
  unsigned rows_ = 0;
  std::vector<place> places_;
  std::list<client> clients_;
};

}  // namespace

int main(int argc, char** argv) {
  static_assert(PORTS <= card::ports);
  card_wish wish;
  std::vector<std::string> cables;
  cli::program program(
      "Simulates a network card whose engine synchronises hosts. `tutti network testbed --engines` "
      "starts one for each host. It needs root, makes its device itself, and runs until a signal "
      "ends it",
      "tutti-network-engine");
  program.add_option("--device", wish.device, "The TAP device that is the host's side of the card")
      .value_name("NAME")
      .show_default();
  program.add_option("--address", wish.address, "The IPv4 address of the device")
      .value_name("ADDRESS")
      .required()
      .check(complaint_of(address_of));
  program
      .add_option("--towards", wish.towards,
                  "The IPv4 address that hosts send the engine's packets to")
      .value_name("ADDRESS")
      .required()
      .check(complaint_of(address_of));
  program
      .add_option("--cable", cables,
                  "A cable: the port, from 0 to " + std::to_string(PORTS - 1) +
                      ", the network device that it ends at, and the address and the port of the "
                      "card at its other end; once for each cable")
      .value_name("PORT,DEVICE,ADDRESS,PORT")
      .check(complaint_of(cable_of));
  return program.run(argc, argv, [&]() -> int {
    for (const std::string& each : cables) wish.cables.push_back(cable_of(each));
    simulated_card(wish).run();
  });
}
