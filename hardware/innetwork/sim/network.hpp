// SPDX-License-Identifier: Apache-2.0
// Nodes joined by links, with hosts that call barriers of several communicators and send other
// traffic. The harness checks what leaves every engine: barrier packets by their bytes, all others
// against what went in.
#pragma once

#include <map>
#include <set>
#include <tuple>

#include "hardware/innetwork/sim/node.hpp"
#include "tests/conformance/trace.hpp"

namespace tutti::rtl {

struct communicator_plan {
  unsigned id = 0;
  topology shape;
  // The node of each rank.
  std::vector<rank_t> members;
};

struct network_plan {
  rank_t nodes = 2;
  std::vector<communicator_plan> communicators;
  // Cycles on a cable.
  std::uint64_t latency = 4;
  // One byte a cycle, with preamble, check sequence and gap; otherwise frames move whole.
  bool gigabit = false;
  // In this many of 1024 cycles each host queue gets another frame.
  unsigned traffic = 0;
  // The longest such frame, in bytes.
  std::size_t longest = 200;
  // In this many of 4096 cycles a queue gets a repeated or corrupted barrier packet; one in eight
  // barrier packets, and one in 64 others, has a damaged copy before it.
  unsigned faults = 0;
  pace speed;
  std::function<std::uint64_t(rank_t, std::uint64_t)> think = [](rank_t, std::uint64_t) {
    return std::uint64_t{0};
  };
};

class network {
 public:
  network(const arguments& with, network_plan plan) : plan_(std::move(plan)), random_(with.seed) {
    expected_.resize(plan_.nodes * queues);
    damaged_.resize(plan_.nodes);
    recent_.resize(plan_.nodes * queues);
    repeats_.resize(plan_.nodes);
    strangers_.resize(plan_.nodes);
    free_at_.resize(plan_.nodes * PORTS);
    for (rank_t n = 0; n < plan_.nodes; ++n) {
      // Only the first node writes waveforms and coverage.
      arguments quiet;
      nodes_.push_back(std::make_unique<node>(n == 0 ? with : quiet, with.seed * 1000 + n));
      nodes_[n]->speed = plan_.speed;
      nodes_[n]->on_departure = [this, n](departure d) { leaves(n, std::move(d)); };
      nodes_[n]->on_entry = [this, n](unsigned queue, std::uint64_t, std::uint64_t at) {
        enters(n, queue, nodes_[n]->entering(), nodes_[n]->stamp(at));
      };
    }
    hosts_.resize(plan_.communicators.size());
    passages_.resize(plan_.communicators.size());
    for (std::size_t c = 0; c < plan_.communicators.size(); ++c) join(c);
    // All clocks are at the same cycle.
    for (auto& n : nodes_)
      while (n->now() < latest()) n->cycle();
    for (auto& hosts : hosts_)
      for (rank_t r = 0; r < hosts.size(); ++r) hosts[r].until = now() + plan_.think(r, 0);
  }

  // Runs until every host has passed `episodes` and no packet is on its way; returns false if that
  // takes more than `most_cycles`.
  bool run(std::uint64_t episodes, std::uint64_t most_cycles) {
    for (std::uint64_t c = 0; c < most_cycles && wrong_.empty(); ++c) {
      if (done(episodes) && quiet()) return true;
      step(episodes);
    }
    return done(episodes) && quiet();
  }

  // Returns what is wrong, or an empty string.
  std::string check(std::uint64_t episodes) {
    if (!wrong_.empty()) return wrong_;
    for (const auto& n : nodes_)
      if (!n->wrong().empty()) return n->wrong();
    for (std::size_t c = 0; c < passages_.size(); ++c) {
      const auto ranks = static_cast<rank_t>(hosts_[c].size());
      if (std::string w = test::check(passages_[c], ranks, episodes); !w.empty())
        return "communicator " + std::to_string(c) + ": " + w;
    }
    for (const auto& queue : expected_)
      if (!queue.empty()) return "a forwarded packet is lost";
    // Let the packets inside the engines come out.
    for (unsigned c = 0; c < 64; ++c)
      for (auto& n : nodes_) n->cycle();
    for (rank_t n = 0; n < plan_.nodes; ++n) {
      const std::string name = "node " + std::to_string(n);
      if (const std::uint64_t r = nodes_[n]->read(reg::repeated); r != repeats_[n])
        return name + " was sent " + std::to_string(repeats_[n]) + " repetitions and counted " +
               std::to_string(r);
      if (const std::uint64_t r = nodes_[n]->read(reg::stranger); r != strangers_[n])
        return name + " was sent " + std::to_string(strangers_[n]) + " of strangers and counted " +
               std::to_string(r);
      if (const std::uint64_t r = nodes_[n]->read(reg::bad); r != damaged_[n])
        return name + " was sent " + std::to_string(damaged_[n]) + " damaged and counted " +
               std::to_string(r);
    }
    return {};
  }

  std::uint64_t now() const { return nodes_[0]->now(); }
  const test::trace& passages(std::size_t c) const { return passages_[c]; }
  // The stamps of the last release of a rank's host.
  stamps last_stamps(std::size_t c, rank_t r) const { return hosts_[c][r].last; }
  node& at(rank_t n) { return *nodes_[n]; }
  std::uint64_t forwarded() const { return forwarded_; }
  std::uint64_t spoilt() const { return spoilt_; }
  std::uint64_t damaged() const {
    std::uint64_t all = 0;
    for (const std::uint64_t d : damaged_) all += d;
    return all;
  }
  std::uint64_t repeated() const {
    std::uint64_t all = 0;
    for (const std::uint64_t r : repeats_) all += r;
    return all;
  }
  std::uint64_t overlaps() const { return overlaps_; }

 private:
  struct host {
    std::uint64_t until = 0, episode = 0, arrived = 0;
    bool waits = false;
    // When the engine got the call, and the last packet that counts since, by its own time.
    std::optional<std::uint64_t> called = std::nullopt;
    std::uint64_t came = 0;
    // Messages of this episode and the next that have come: queue, kind, episode.
    std::set<std::tuple<unsigned, unsigned, std::uint64_t>> seen = {};
    stamps last = {};
  };
  struct wired {
    rank_t node = 0;
    unsigned port = 0;
  };

  std::uint64_t latest() const {
    std::uint64_t cycle = 0;
    for (const auto& n : nodes_) cycle = std::max(cycle, n->now());
    return cycle;
  }

  void join(std::size_t c) {
    const communicator_plan& plan = plan_.communicators[c];
    const auto ranks = static_cast<rank_t>(plan.members.size());
    hosts_[c].resize(ranks);
    for (rank_t r = 0; r < ranks; ++r) {
      const station& s = plan.shape.stations[r];
      const rank_t me = plan.members[r];
      if (!nodes_[me]->configure(static_cast<unsigned>(c),
                                 {plan.id, plan.shape.type, s.role, incarnation_of(c)}, s.rows))
        throw std::runtime_error("an engine refused a table");
      for (const wire& w : s.wires) cables_[{me, w.port}] = {plan.members[w.to], w.there};
    }
  }

  static std::uint32_t incarnation_of(std::size_t c) {
    return static_cast<std::uint32_t>(0x9abc'def0 + 0x0101'0101 * c);
  }
  mac_address mac(rank_t n) const { return {2, 0x4e, 0x46, 0, 0, static_cast<std::uint8_t>(n)}; }

  barrier_packet packet_of(std::size_t c, rank_t r, std::uint64_t episode) const {
    const communicator_plan& plan = plan_.communicators[c];
    barrier_packet p;
    p.source_mac = mac(plan.members[r]);
    p.destination_mac = mac(0x80 + static_cast<rank_t>(c));
    p.source_ip = 0x0a00'0100 + plan.members[r];
    p.destination_ip = 0x0a00'0200 + static_cast<std::uint32_t>(c);
    p.source_port = static_cast<unsigned>(40'000 + 7 * c + r);
    p.message = message_start;
    p.episode = static_cast<std::uint32_t>(episode);
    p.incarnation = incarnation_of(c);
    p.communicator = plan.id;
    p.topology = plan.shape.type;
    p.role = plan.shape.stations[r].role;
    return p;
  }
  unsigned queue_of(std::size_t c) const { return 2 * static_cast<unsigned>(c % PORTS) + 1; }

  bool done(std::uint64_t episodes) const {
    for (const auto& hosts : hosts_)
      for (const host& h : hosts)
        if (h.episode < episodes) return false;
    return true;
  }
  bool quiet() const {
    for (const auto& n : nodes_)
      if (!n->quiet()) return false;
    for (const auto& queue : expected_)
      if (!queue.empty()) return false;
    return cable_.empty();
  }

  void step(std::uint64_t episodes) {
    for (std::size_t c = 0; c < hosts_.size(); ++c)
      for (rank_t r = 0; r < hosts_[c].size(); ++r) {
        host& me = hosts_[c][r];
        if (me.waits || me.episode >= episodes || me.until > now()) continue;
        me.waits = true;
        me.arrived = now();
        for (const host& other : hosts_[c])
          if (other.episode < me.episode) {
            ++overlaps_;
            break;
          }
        enter(plan_.communicators[c].members[r], queue_of(c), build(packet_of(c, r, me.episode)));
      }
    if (!done(episodes)) disturb();
    while (!cable_.empty() && cable_.begin()->first <= now()) {
      auto [to, port, f] = std::move(cable_.begin()->second);
      cable_.erase(cable_.begin());
      enter(to, 2 * port, std::move(f));
    }
    for (auto& n : nodes_) n->cycle();
  }

  // Returns the action that the engine of `n` must take for a frame that comes in there.
  enum class fate { forward, refuse, count };
  fate fate_of(rank_t n, unsigned queue, const frame& f) const {
    const auto p = parse(f);
    if (!p) return fate::forward;
    const bool from_host = queue % 2 == 1;
    for (std::size_t i = 0; i < plan_.communicators.size(); ++i) {
      const communicator_plan& c = plan_.communicators[i];
      for (rank_t r = 0; r < c.members.size(); ++r) {
        if (c.members[r] != n || c.id != p->communicator || c.shape.type != p->topology) continue;
        const station& s = c.shape.stations[r];
        std::uint32_t bit = 0;
        if (from_host && p->message == message_start && p->role == s.role) bit = host_bit;
        if (!from_host && p->message == message_arrive) bit = arrive_bit(queue / 2);
        if (!from_host && p->message == message_release) bit = release_bit(queue / 2);
        if (p->incarnation != incarnation_of(i)) bit = 0;
        for (const table_row& row : s.rows)
          if ((row.need & bit) != 0) return fate::count;
        return fate::refuse;
      }
    }
    return fate::forward;
  }

  void enter(rank_t n, unsigned queue, frame f) {
    const fate what = fate_of(n, queue, f);
    if (plan_.faults != 0 && random_() % (what == fate::forward ? 64 : 8) == 0)
      damage(n, queue, f, what);
    if (what == fate::count) {
      auto& recent = recent_[n * queues + queue];
      recent.push_back(f);
      if (recent.size() > 6) recent.pop_front();
    } else if (what == fate::refuse) {
      ++strangers_[n];
    } else {
      expected_[n * queues + (queue ^ 1)].push_back({f, false});
    }
    nodes_[n]->enqueue(queue, std::move(f));
  }

  // The same frame comes damaged, which only its end says.
  void damage(rank_t n, unsigned queue, const frame& f, fate what) {
    if (what == fate::forward)
      expected_[n * queues + (queue ^ 1)].push_back({f, true});
    else
      ++damaged_[n];
    nodes_[n]->enqueue(queue, f, true);
  }

  // A frame that is whole begins to enter its engine.
  void enters(rank_t n, unsigned queue, const arrived_frame& f, std::uint64_t stamp) {
    if (f.bad || fate_of(n, queue, f.bytes) != fate::count) return;
    const barrier_packet p = *parse(f.bytes);
    const std::size_t c = index_of(p.communicator);
    const auto& members = plan_.communicators[c].members;
    host& me =
        hosts_[c]
              [static_cast<rank_t>(std::find(members.begin(), members.end(), n) - members.begin())];
    const auto open = static_cast<std::uint32_t>(me.episode);
    if (p.episode != open && p.episode != open + 1) return;
    if (!me.seen.emplace(queue, p.message, p.episode).second || p.episode != open) return;
    if (queue % 2 == 1) me.called = stamp;
    if (me.called) me.came = stamp;
  }

  void disturb() {
    for (rank_t n = 0; n < plan_.nodes; ++n)
      for (unsigned q = 0; q < queues; ++q) {
        if (nodes_[n]->queued(q) > 3) continue;
        const bool wired = cables_.contains({n, q / 2});
        if (q % 2 == 1 && wired && random_() % 1024 < plan_.traffic) enter(n, q, other_traffic());
        if (plan_.faults == 0 || random_() % 4096 >= plan_.faults) continue;
        const auto& recent = recent_[n * queues + q];
        if (recent.empty()) continue;
        frame f = recent[random_() % recent.size()];
        if (random_() % 2 == 0) {
          ++repeats_[n];
          nodes_[n]->enqueue(q, std::move(f));
          continue;
        }
        spoil(f);
        // The change had no effect.
        if (fate_of(n, q, f) == fate::count) continue;
        ++spoilt_;
        enter(n, q, std::move(f));
      }
  }

  frame other_traffic() {
    frame f(14 + random_() % (plan_.longest - 14));
    for (std::uint8_t& b : f) b = static_cast<std::uint8_t>(random_() & 0xff);
    // UDP to another destination.
    if (f.size() > 38 && random_() % 2 == 0) {
      put(f, 12, 2, 0x0800);
      put(f, 14, 1, 0x45);
      put(f, 23, 1, 17);
    }
    return f;
  }

  void spoil(frame& f) {
    switch (random_() % 12) {
      case 0: return f.resize(1 + random_() % (packet_bytes - 1));
      // An unused communicator, another service, another message, another topology, a fragment,
      // options, another role.
      case 1: put(f, 44, 2, 0x7777); break;
      case 2: put(f, 36, 2, default_udp_port + 1); break;
      case 3: put(f, 43, 1, random_() % 8); break;
      case 4: put(f, 46, 1, get(f, 46, 1) + 1); break;
      case 5: put(f, 20, 2, 0x2000); break;
      case 6: put(f, 14, 1, 0x46); break;
      case 7: put(f, 47, 1, get(f, 47, 1) + 1); break;
      // Another version, another incarnation, two episodes.
      case 8: put(f, 48, 1, 2); break;
      case 9: put(f, 56, 4, get(f, 56, 4) ^ 1u << random_() % 32); break;
      case 10: put(f, 52, 4, get(f, 52, 4) ^ 1u << random_() % 8); break;
      default:
        f[random_() % packet_bytes] ^= static_cast<std::uint8_t>(1 + random_() % 255);
        return;
    }
    sign(f);
  }

  void leaves(rank_t n, departure d) {
    if (!wrong_.empty()) return;
    // A forwarded packet must be, byte for byte, the oldest one that is due there.
    if (d.to == std::uint32_t{1} << (d.origin ^ 1)) {
      auto& queue = expected_[n * queues + (d.origin ^ 1)];
      if (!queue.empty() && queue.front().bytes == d.bytes && queue.front().bad == d.bad) {
        queue.pop_front();
        ++forwarded_;
        // A port without a cable drops its packets, and the next MAC a damaged one.
        if (!d.bad && d.origin % 2 == 1 && cables_.contains({n, d.origin / 2}))
          send(n, d.origin / 2, std::move(d));
        return;
      }
    }
    // A host is answered at the port from which it wrote.
    const bool to_host = d.to == std::uint32_t{1} << d.origin && d.origin % 2 == 1;
    const unsigned port =
        to_host && d.bytes.size() >= packet_bytes ? get(d.bytes, 36, 2) : default_udp_port;
    if (const std::string w = flaw(d.bytes, port, to_host); !w.empty() || d.bad) {
      wrong_ =
          "node " + std::to_string(n) + " sent a packet that is neither forwarded nor sound: " + w;
      return;
    }
    const barrier_packet p = *parse(d.bytes, port, to_host);
    if (d.bytes.size() != (to_host ? stamped_bytes : packet_bytes)) {
      wrong_ = "a built packet has " + std::to_string(d.bytes.size()) + " bytes";
      return;
    }
    const std::size_t c = index_of(p.communicator);
    if (c == hosts_.size()) {
      wrong_ = "a packet of no communicator";
      return;
    }
    if (to_host) {
      released(n, c, p, d);
      return;
    }
    for (unsigned q = 0; q < queues; ++q)
      if (d.to >> q & 1) {
        if (q % 2 == 1) wrong_ = "a packet for neighbours goes to a host";
        send(n, q / 2, d);
      }
  }

  std::size_t index_of(unsigned id) const {
    std::size_t c = 0;
    while (c < plan_.communicators.size() && plan_.communicators[c].id != id) ++c;
    return c;
  }

  void released(rank_t n, std::size_t c, const barrier_packet& p, const departure& d) {
    const auto& members = plan_.communicators[c].members;
    const auto r =
        static_cast<rank_t>(std::find(members.begin(), members.end(), n) - members.begin());
    if (r == members.size() || d.origin != queue_of(c)) {
      wrong_ = "a release for a host that is not there";
      return;
    }
    host& me = hosts_[c][r];
    barrier_packet answer = packet_of(c, r, me.episode);
    std::swap(answer.source_mac, answer.destination_mac);
    std::swap(answer.source_ip, answer.destination_ip);
    std::swap(answer.source_port, answer.destination_port);
    answer.message = message_release;
    if (!me.waits || !(p == answer)) {
      wrong_ = "node " + std::to_string(n) + ": a release that its host does not wait for";
      return;
    }
    const stamps s = stamps_of(d.bytes);
    if (me.called != s.called || me.came != s.came || s.left != nodes_[n]->stamp(d.first)) {
      wrong_ = "node " + std::to_string(n) + ": a release with wrong stamps";
      return;
    }
    me.called.reset();
    std::erase_if(me.seen, [&](const auto& m) { return std::get<2>(m) == p.episode; });
    me.last = s;
    passages_[c].push_back({r, me.episode, me.arrived, d.last});
    ++me.episode;
    me.waits = false;
    me.until = d.last + 1 + plan_.think(r, me.episode);
  }

  void send(rank_t n, unsigned port, departure d) {
    const auto cable = cables_.find({n, port});
    if (cable == cables_.end()) {
      wrong_ = "node " + std::to_string(n) + " sends to port " + std::to_string(port) +
               ", which is not wired";
      return;
    }
    std::uint64_t there = d.last + plan_.latency;
    if (plan_.gigabit) {
      std::uint64_t& free = free_at_[n * PORTS + port];
      const std::uint64_t start = std::max(free, d.last + 1);
      there = start + 8 + d.bytes.size() + 4 + plan_.latency;
      free = start + 8 + d.bytes.size() + 4 + 12;
    }
    cable_.emplace(there, std::tuple{cable->second.node, cable->second.port, std::move(d.bytes)});
  }

  network_plan plan_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<node>> nodes_;
  std::map<std::pair<rank_t, unsigned>, wired> cables_;
  std::multimap<std::uint64_t, std::tuple<rank_t, unsigned, frame>> cable_;
  struct due {
    frame bytes;
    bool bad = false;
  };
  std::vector<std::deque<due>> expected_;
  std::vector<std::deque<frame>> recent_;
  std::vector<std::vector<host>> hosts_;
  std::vector<test::trace> passages_;
  std::vector<std::uint64_t> repeats_, strangers_, damaged_, free_at_;
  std::uint64_t forwarded_ = 0, spoilt_ = 0, overlaps_ = 0;
  std::string wrong_;
};

}  // namespace tutti::rtl
