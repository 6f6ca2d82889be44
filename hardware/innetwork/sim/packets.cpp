// SPDX-License-Identifier: Apache-2.0
// Tests one node and its packets. Malformed, truncated, repeated and foreign packets leave the
// barrier's state unchanged and go to the right queue; the intended packet then counts. Also tests
// what the registers refuse.

#include <algorithm>
#include <sstream>

#include "hardware/innetwork/sim/node.hpp"

namespace {

using namespace tutti;
using namespace tutti::rtl;

constexpr unsigned host_queue = 1, child_queue = 0, parent_queue = 4;
constexpr key inner{77, type_tree, 1, 0x8765'4321};
// A child at port 0, the parent at port 2.
const std::vector<table_row> inner_rows = {{host_bit | arrive_bit(0), arrive_bit(2)},
                                           {release_bit(2), host_bit | release_bit(0)}};

barrier_packet packet(unsigned message, unsigned episode, const key& k) {
  barrier_packet p;
  p.destination_mac = {2, 0, 0, 0, 0, 9};
  p.source_mac = {2, 0, 0, 0, 0, 1};
  // Different addresses in every episode give checksums with and without carries.
  p.source_ip = 0xc0a8'0001u + 0x1003'0507u * episode;
  p.destination_ip = 0xfffe'ff00u + 7 * episode;
  p.source_port = 51'000;
  p.message = message;
  p.episode = episode;
  p.incarnation = k.incarnation;
  p.communicator = k.communicator;
  p.topology = k.topology;
  p.role = k.role;
  return p;
}

class bench {
 public:
  explicit bench(const arguments& with) : node_(with, with.seed) {
    node_.on_departure = [this](departure d) { out_.push_back(std::move(d)); };
    node_.on_entry = [this](unsigned, std::uint64_t, std::uint64_t at) { entered_ = at; };
  }
  node& engine() { return node_; }
  // When the last frame came in, by the engine's time.
  std::uint64_t entered() const { return node_.stamp(entered_); }
  std::uint64_t state(unsigned c = 0) { return node_.read(reg::window(c) + reg::state); }

  // Returns what comes out because of a frame, which may come in damaged.
  std::vector<departure> pass(unsigned queue, frame f, bool bad = false) {
    out_.clear();
    node_.enqueue(queue, std::move(f), bad);
    for (unsigned c = 0; c < 4'000; ++c) {
      node_.cycle();
      if (node_.quiet() && c > 60) break;
    }
    for (unsigned c = 0; c < 150; ++c) node_.cycle();
    return out_;
  }

 private:
  node node_;
  std::vector<departure> out_;
  std::uint64_t entered_ = 0;
};

// Changes bytes of a frame to `value`, or flips its bits in them; the checksums fit again or not.
struct spoilt {
  const char* what;
  unsigned at, bytes;
  std::uint64_t value;
  bool is_signed = true;
  bool flips = false;

  void change(frame& f) const {
    put(f, at, bytes, flips ? get(f, at, bytes) ^ value : value);
    if (is_signed) sign(f);
  }
};
const spoilt flaws[] = {
    {"another type of frame", 12, 2, 0x86dd, false},
    {"a tag before the type", 12, 2, 0x8100, false},
    {"version 6", 14, 1, 0x65},
    {"options", 14, 1, 0x46},
    {"longer than it says", 16, 2, 47},
    {"shorter than it says", 16, 2, 45},
    {"first fragment", 20, 2, 0x2000},
    {"later fragment", 20, 2, 0x0001},
    {"reserved flag", 20, 2, 0x8000},
    {"TCP", 23, 1, 6},
    {"wrong IP checksum", 24, 2, 0x0100, false, true},
    {"IP checksum of zero", 24, 2, 0, false},
    {"another service", 36, 2, default_udp_port ^ 1},
    {"another UDP length", 38, 2, 27},
    {"wrong UDP checksum", 40, 2, 0x8000, false, true},
    {"changed address", 26, 4, 0xc0a8'0002, false},
    {"changed episode", 42, 1, 1, false, true},
    {"changed high bits of the episode", 52, 2, 1, false, true},
    {"changed incarnation", 56, 4, 0x0800'0000, false, true},
    {"two episodes", 42, 1, 1, true, true},
    {"another version of the packet", 48, 1, 2},
    {"values", 49, 1, 1},
    {"changed communicator", 44, 2, 78, false},
    {"another communicator", 44, 2, 78},
    {"another topology", 46, 1, type_ring},
};

// Checks that the frame was forwarded unchanged to the queue beside its own, and that nothing else
// came out.
std::string forwarded(const std::vector<departure>& out, unsigned queue, const frame& f) {
  if (out.size() != 1) return std::to_string(out.size()) + " packets came out";
  if (out[0].to != 1u << (queue ^ 1) || out[0].origin != queue) return "it went elsewhere";
  if (out[0].bytes != f) return "it was changed";
  return {};
}

std::string other_traffic(bench& b) {
  const std::uint64_t before = b.state();
  std::mt19937_64 random(7);
  std::uint64_t packets = 0;
  const auto goes_on = [&](unsigned queue, const frame& f, const std::string& what) -> std::string {
    ++packets;
    if (std::string w = forwarded(b.pass(queue, f), queue, f); !w.empty()) return what + ": " + w;
    return b.state() == before ? "" : what + ": changed the state";
  };
  for (const unsigned queue : {host_queue, child_queue, parent_queue}) {
    const unsigned message = queue == host_queue    ? message_start
                             : queue == child_queue ? message_arrive
                                                    : message_release;
    const frame good = build(packet(message, 0, inner));
    for (const spoilt& s : flaws) {
      frame f = good;
      s.change(f);
      if (std::string w = goes_on(queue, f, s.what); !w.empty()) return w;
    }
    // What comes in damaged goes on damaged.
    for (const std::size_t bytes : {3u, 60u, 200u}) {
      const frame f(bytes, 0x5a);
      ++packets;
      const std::vector<departure> out = b.pass(queue, f, true);
      if (std::string w = forwarded(out, queue, f); !w.empty()) return "damaged: " + w;
      if (!out[0].bad) return "a damaged frame goes on as a whole one";
    }
    // The bytes that were cut off are still on the wires.
    b.engine().beyond = good;
    for (std::size_t bytes = 1; bytes < packet_bytes; ++bytes)
      if (std::string w =
              goes_on(queue, frame(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(bytes)),
                      "cut to " + std::to_string(bytes) + " bytes");
          !w.empty())
        return w;
    b.engine().beyond.clear();
    // Every bit that a checksum covers.
    for (std::size_t bit = 14 * 8; bit < packet_bytes * 8; ++bit) {
      frame f = good;
      f[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
      if (flaw(f).empty()) continue;
      if (std::string w = goes_on(queue, f, "bit " + std::to_string(bit) + " changed"); !w.empty())
        return w;
    }
    for (const std::size_t bytes :
         {1u, 7u, 8u, 9u, 47u, 48u, 56u, 57u, 59u, 60u, 61u, 64u, 65u, 1514u}) {
      frame f(bytes);
      for (std::uint8_t& byte : f) byte = static_cast<std::uint8_t>(random() & 0xff);
      if (std::string w = goes_on(queue, f, std::to_string(bytes) + " bytes of anything");
          !w.empty())
        return w;
    }
  }
  const std::uint64_t counted = b.engine().read(reg::forwarded);
  if (counted != packets)
    return "forwarded " + std::to_string(packets) + ", counted " + std::to_string(counted);
  return {};
}

// Well-formed but unexpected packets of the communicator: they are not forwarded and change only a
// counter.
std::string refused(bench& b, unsigned episode) {
  struct {
    const char* what;
    unsigned queue, message;
    std::uint32_t episode;
    unsigned role, counter;
    std::uint32_t incarnation = inner.incarnation;
  } const cases[] = {
      {"a call of 256 episodes later", host_queue, message_start, episode + 256, 1, reg::repeated},
      {"an arrival of 2^31 episodes later", child_queue, message_arrive, episode + (1u << 31), 2,
       reg::repeated},
      {"an arrival of another incarnation", child_queue, message_arrive, episode, 2, reg::stranger,
       inner.incarnation ^ 0x8000'0000},
      {"a call of another incarnation", host_queue, message_start, episode, 1, reg::stranger,
       inner.incarnation ^ 1},
      {"a host that is an episode ahead", host_queue, message_start, episode + 1, 1, reg::repeated},
      {"an old call", host_queue, message_start, episode - 1, 1, reg::repeated},
      {"an old arrival", child_queue, message_arrive, episode - 1, 2, reg::repeated},
      {"an arrival from far ahead", child_queue, message_arrive, episode + 2, 2, reg::repeated},
      {"a call in another's role", host_queue, message_start, episode, 2, reg::stranger},
      {"a host that says release", host_queue, message_release, episode, 1, reg::stranger},
      {"a host that says arrive", host_queue, message_arrive, episode, 1, reg::stranger},
      {"a neighbour that says start", child_queue, message_start, episode, 1, reg::stranger},
      {"an arrival from a port without a neighbour", 2, message_arrive, episode, 2, reg::stranger},
      {"an arrival from the parent", parent_queue, message_arrive, episode, 0, reg::stranger},
      {"a release from the child", child_queue, message_release, episode, 2, reg::stranger},
      {"no known message", child_queue, 9, episode, 2, reg::stranger},
  };
  for (const auto& c : cases) {
    const std::uint64_t before = b.state(), counter = b.engine().read(c.counter);
    barrier_packet p = packet(c.message, c.episode, inner);
    p.role = c.role;
    p.incarnation = c.incarnation;
    if (!b.pass(c.queue, build(p)).empty()) return std::string(c.what) + ": a packet came out";
    if (b.state() != before) return std::string(c.what) + ": changed the state";
    if (b.engine().read(c.counter) != counter + 1) return std::string(c.what) + ": is not counted";
  }
  return {};
}

// Runs an episode in which every packet comes twice, and checks the packets that come out.
std::string episode(bench& b, unsigned number, std::size_t bytes, bool without_checksum) {
  const auto counts = [&](unsigned queue, unsigned message, unsigned role,
                          std::vector<departure>& out, std::uint64_t& entered) -> std::string {
    barrier_packet p = packet(message, number, inner);
    p.role = role;
    frame f = build(p, bytes);
    if (without_checksum) put(f, 40, 2, 0);
    const std::uint64_t before = b.state(), bad = b.engine().read(reg::bad);
    if (!b.pass(queue, f, true).empty() || b.state() != before)
      return "a damaged packet had an effect";
    if (b.engine().read(reg::bad) != bad + 1) return "a damaged packet is not counted";
    out = b.pass(queue, f);
    entered = b.entered();
    if (b.state() == before) return "a packet did not count";
    const std::uint64_t after = b.state();
    if (!b.pass(queue, f).empty() || b.state() != after) return "a repeated packet had an effect";
    return {};
  };
  const auto built = [&](const departure& d, std::uint32_t to, unsigned message,
                         unsigned port) -> std::string {
    if (d.to != to) return "a packet goes to the wrong queues";
    const bool to_host = port != default_udp_port;
    if (std::string w = flaw(d.bytes, port, to_host); !w.empty())
      return "a built packet is wrong: " + w;
    if (d.bytes.size() != (to_host ? stamped_bytes : packet_bytes))
      return "a built packet has another length";
    barrier_packet expect = packet(message, number, inner);
    if (to_host) {
      std::swap(expect.source_mac, expect.destination_mac);
      std::swap(expect.source_ip, expect.destination_ip);
      std::swap(expect.source_port, expect.destination_port);
    }
    return *parse(d.bytes, port, to_host) == expect ? "" : "a built packet has a wrong field";
  };
  std::vector<departure> out;
  std::uint64_t arrived = 0, called = 0, released = 0;
  // The child may be first, and even an episode ahead.
  if (std::string w = counts(child_queue, message_arrive, 2, out, arrived);
      !w.empty() || !out.empty())
    return "child: " + w;
  if (std::string w = counts(host_queue, message_start, 1, out, called); !w.empty())
    return "host: " + w;
  if (out.size() != 1) return "host and child: " + std::to_string(out.size()) + " packets";
  if (std::string w = built(out[0], 1u << parent_queue, message_arrive, default_udp_port);
      !w.empty())
    return w;
  if (std::string w = counts(parent_queue, message_release, 0, out, released); !w.empty())
    return "parent: " + w;
  if (out.size() != 2) return "release: " + std::to_string(out.size()) + " packets";
  if (std::string w = built(out[0], 1u << child_queue, message_release, default_udp_port);
      !w.empty())
    return w;
  if (std::string w = built(out[1], 1u << host_queue, message_release, 51'000); !w.empty())
    return w;
  const stamps s = stamps_of(out[1].bytes);
  if (s.called != called) return "the stamp of the call is another";
  if (s.came != released) return "the stamp of the last packet is another";
  if (s.left != b.engine().stamp(out[1].first)) return "the stamp of the release is another";
  return {};
}

std::string registers(bench& b) {
  node& n = b.engine();
  if (n.read(reg::id) != 0x5455'5454'494e'4554) return "another identity";
  if (n.read(reg::capability) !=
      (PORTS | COMMUNICATORS << 8 | std::uint64_t{5} << 16 | std::uint64_t{default_udp_port} << 32))
    return "another capability";
  const auto refuses = [&](const char* what, unsigned c, const key& k,
                           const std::vector<table_row>& rows) -> std::string {
    n.write(reg::error, ~std::uint64_t{0});
    if (n.configure(c, k, rows)) return std::string(what) + " is taken";
    return (n.read(reg::error) & reg::error_refused) != 0 ? ""
                                                          : std::string(what) + " leaves no error";
  };
  const key other{78, type_tree, 1};
  if (std::string w = refuses("a table without rows", 1, other, {}); !w.empty()) return w;
  if (std::string w = refuses("too many rows", 1, other, std::vector<table_row>(6, {host_bit, 0}));
      !w.empty())
    return w;
  if (std::string w =
          refuses("a first row without the host", 1, other, {{arrive_bit(0), host_bit}});
      !w.empty())
    return w;
  if (std::string w = refuses("the identity of another", 1, inner, inner_rows); !w.empty())
    return w;
  n.write(reg::error, ~std::uint64_t{0});
  const std::uint64_t need = n.read(reg::window(0) + reg::need);
  n.write(reg::window(0) + reg::need, 0);
  if (n.read(reg::window(0) + reg::need) != need || (n.read(reg::error) & reg::error_refused) == 0)
    return "a table in use is changed";
  n.write(reg::error, ~std::uint64_t{0});
  n.write(reg::window(COMMUNICATORS) + reg::control, 0);
  if ((n.read(reg::error) & reg::error_refused) == 0)
    return "a communicator that is not there is written";
  n.write(reg::error, ~std::uint64_t{0});
  return n.read(reg::error) == 0 ? "" : "an error stays";
}

// Configures the communicator again in the middle of an episode: the state is clear, and episode 0
// is open.
std::string begun_again(bench& b, unsigned open) {
  barrier_packet p = packet(message_arrive, open, inner);
  p.role = 2;
  if (!b.pass(child_queue, build(p)).empty()) return "half an episode sends something";
  if ((b.state() & 0xff'ffff) == 0) return "half an episode does not count";
  b.engine().write(reg::window(0) + reg::control, 1);
  // The core follows one cycle later.
  b.engine().cycle();
  if (b.state() != 0) return "something is left of an episode after a new beginning";
  return episode(b, 0, packet_bytes, false);
}

std::string run(const arguments& with) {
  bench b(with);
  if (!b.engine().configure(0, inner, inner_rows)) return "a good table is refused";
  if (std::string w = registers(b); !w.empty()) return w;
  if (std::string w = other_traffic(b); !w.empty()) return w;
  const unsigned episodes = static_cast<unsigned>(std::max<std::uint64_t>(8, with.cycles / 1'000));
  for (unsigned e = 0; e < episodes; ++e) {
    const std::size_t bytes = e % 3 == 0 ? packet_bytes : e % 3 == 1 ? 64 : 200;
    if (std::string w = episode(b, e, bytes, e % 4 == 3); !w.empty())
      return "episode " + std::to_string(e) + ": " + w;
    if (e < 3 || (e > 253 && e < 259))
      if (std::string w = refused(b, e + 1); !w.empty()) return w;
    b.engine().speed = {.offer = 4 + e % 13, .take = 4 + e % 11};
  }
  if (std::string w = begun_again(b, episodes); !w.empty()) return w;
  if (!b.engine().wrong().empty()) return b.engine().wrong();
  const std::uint64_t before = b.engine().stamp(b.engine().now());
  if (b.engine().read(reg::timer) != before) return "the timer is another";
  if (b.engine().read(reg::clock) != 125'000'000) return "the clock is another";
  std::printf("{\"flaws\": %zu, \"episodes\": %u, \"forwarded\": %llu}\n", std::size(flaws),
              episodes, static_cast<unsigned long long>(b.engine().read(reg::forwarded)));
  return {};
}

}  // namespace

int main(int argc, char** argv) { return run_harness(argc, argv, run); }
