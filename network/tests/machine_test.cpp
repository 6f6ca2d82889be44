// SPDX-License-Identifier: Apache-2.0
// Tests the packet and the state machine without a network: round trips, every topology with
// messages in any order, lost and repeated; the values that episodes end with.
#include "network/machine.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "network/tests/arrivals.hpp"

namespace {

using namespace tutti;
using namespace tutti::network;

TEST(packet, comes_back_as_it_was_written) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1'000; ++i) {
    tutti_net_message m{};
    m.kind = static_cast<__u8>(random() % 8);
    m.topology = static_cast<__u8>(random());
    m.role = static_cast<__u8>(random());
    m.words = static_cast<__u8>(random() % 33);
    m.operation = m.words == 0 ? 0 : static_cast<__u8>(1 + random() % 6);
    m.wanted = static_cast<__u8>(random());
    m.communicator = static_cast<__u16>(random());
    m.episode = static_cast<__u32>(random());
    m.incarnation = static_cast<__u32>(random());
    m.source = static_cast<__u32>(random());
    m.destination = static_cast<__u32>(random());
    m.check = random();
    std::array<__u8, TUTTI_NET_MESSAGE_BYTES> bytes{};
    tutti_net_write_extended(bytes.data(), &m);
    tutti_net_message back;
    ASSERT_TRUE(tutti_net_read_extended(bytes.data(), &back));
    EXPECT_EQ(0, std::memcmp(&m, &back, sizeof m));
    bytes[6] = 2;
    EXPECT_FALSE(tutti_net_read_extended(bytes.data(), &back)) << "another version";
    bytes[6] = 1;
    bytes[7] = 33;
    EXPECT_FALSE(tutti_net_read_extended(bytes.data(), &back)) << "too many values";
  }
}

TEST(packet, plain_message_is_written_and_read) {
  tutti_net_message m{};
  m.plain = 1;
  m.kind = TUTTI_NET_ARRIVE;
  m.topology = TUTTI_NET_RING;
  m.role = 1;
  m.communicator = 0x1234;
  m.episode = 0x89abcdef;
  m.incarnation = 0x76543210;
  std::array<__u8, TUTTI_NET_PLAIN_BYTES> bytes;
  tutti_net_write_plain(bytes.data(), &m);
  EXPECT_EQ(bytes[0], 0xef);
  tutti_net_message back;
  ASSERT_TRUE(tutti_net_read_plain(bytes.data(), &back));
  EXPECT_EQ(0, std::memcmp(&m, &back, sizeof m));
  for (const auto& [at, value] : {std::pair{0, 0xee}, {6, 2}, {7, 1}, {8, 1}, {9, 1}, {13, 0xee}}) {
    auto wrong = bytes;
    wrong[static_cast<std::size_t>(at)] = static_cast<__u8>(value);
    EXPECT_FALSE(tutti_net_read_plain(wrong.data(), &back)) << "byte " << at;
  }
}

// The vectors are those of the reference implementation, for messages of 0, 8, 16 ... bytes.
TEST(packet, check_is_siphash_2_4) {
  const tutti_net_key key{0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull};
  tutti_net_siphash s;
  tutti_net_sip_begin(&s, &key);
  EXPECT_EQ(tutti_net_sip_end(&s), 0x726fdb47dd0e0e31ull);
  tutti_net_sip_begin(&s, &key);
  tutti_net_sip_word(&s, 0x0706050403020100ull);
  EXPECT_EQ(tutti_net_sip_end(&s), 0x93f5f5799a932462ull);
}

TEST(packet, any_changed_bit_changes_the_check) {
  tutti_net_message m{};
  m.kind = TUTTI_NET_ARRIVE;
  m.words = 2;
  m.operation = TUTTI_NET_SUM;
  m.episode = 77;
  std::array<__u64, TUTTI_NET_VALUES> values{1, 2};
  const tutti_net_key key{0, 0};
  m.check = tutti_net_check_of(&m, values.data(), &key);
  std::array<__u8, TUTTI_NET_MESSAGE_BYTES> bytes{};
  tutti_net_write_extended(bytes.data(), &m);
  for (unsigned bit = 0; bit < 8 * bytes.size(); ++bit) {
    auto changed = bytes;
    changed[bit / 8] ^= static_cast<__u8>(1u << bit % 8);
    tutti_net_message back;
    if (!tutti_net_read_extended(changed.data(), &back)) continue;
    EXPECT_NE(tutti_net_check_of(&back, values.data(), &key), back.check) << "bit " << bit;
  }
}

// A whole network in memory: messages are delivered in any order, some never, some twice.
class network_of {
 public:
  network_of(unsigned topology, rank_t n, std::uint64_t seed, double lose)
      : random_(seed), lose_(lose) {
    for (rank_t r = 0; r < n; ++r) nodes_.push_back({make_table(topology, n, r), {}, {}});
    if (topology == TUTTI_NET_SWITCH) nodes_.push_back({make_switch_table(n), {}, {}});
    for (node& each : nodes_) each.values = std::make_unique<tutti_net_values>();
    hosts_ = n;
  }

  // Runs an episode with these values of the ranks; returns the results, or nothing if it hangs.
  std::vector<std::vector<std::uint64_t>> run(unsigned operation,
                                              const std::vector<std::vector<std::uint64_t>>& in) {
    std::vector<bool> called(hosts_);
    released_.assign(hosts_, false);
    std::vector<std::vector<std::uint64_t>> out(hosts_);
    for (unsigned step = 0; step < 2'000'000; ++step) {
      rank_t waiting = 0;
      for (rank_t r = 0; r < hosts_; ++r) waiting += !released_[r];
      if (waiting == 0) {
        for (rank_t r = 0; r < hosts_; ++r) {
          const auto& t = nodes_[r].table;
          const auto* sent = nodes_[r].values->sent[episode_ & 1][t.rows - 1];
          out[r].assign(sent, sent + in[r].size());
        }
        ++episode_;
        return out;
      }
      const auto r = static_cast<rank_t>(random_() % hosts_);
      if (!called[r] || (wire_.empty() && !released_[r])) {
        call(r, operation, in[r]);
        called[r] = true;
        for (rank_t other = 0; other < hosts_; ++other)
          if (released_[other] && !called_all(called)) return {};
      } else if (!wire_.empty()) {
        deliver();
      }
    }
    return {};
  }
  bool early() const { return early_; }
  // The switch begins again, and knows nothing.
  void restart_switch() {
    nodes_[hosts_].state = {};
    *nodes_[hosts_].values = {};
  }

 private:
  struct node {
    tutti_net_table table;
    tutti_net_state state;
    std::unique_ptr<tutti_net_values> values;
  };
  struct packet {
    std::size_t to;
    tutti_net_message message;
    std::array<__u64, TUTTI_NET_VALUES> values;
  };

  static bool called_all(const std::vector<bool>& called) {
    return std::find(called.begin(), called.end(), false) == called.end();
  }
  std::size_t place(rank_t r) const { return r == TUTTI_NET_THE_SWITCH ? hosts_ : r; }

  void call(rank_t r, unsigned operation, const std::vector<std::uint64_t>& values) {
    packet p{r, {}, {}};
    tutti_net_compose(&nodes_[r].table, nullptr, episode_, TUTTI_NET_START, r, &p.message);
    p.message.words = static_cast<__u8>(values.size());
    p.message.operation = static_cast<__u8>(values.empty() ? 0 : operation);
    std::copy(values.begin(), values.end(), p.values.begin());
    perform(p, 1);
  }
  void deliver() {
    const std::size_t i = random_() % wire_.size();
    packet p = wire_[i];
    const double luck = std::uniform_real_distribution<double>()(random_);
    // A packet that is delivered may come once more.
    if (luck > lose_ / 2) {
      wire_[i] = wire_.back();
      wire_.pop_back();
    }
    if (luck < lose_) return;
    perform(p, 0);
  }
  void perform(const packet& p, int from_host) {
    node& n = nodes_[p.to];
    tutti_net_actions a;
    if (p.to == hosts_) tutti_net_catch_up(&n.table, &n.state, &p.message);
    tutti_net_step(&n.table, &n.state, n.values.get(), &p.message, p.values.data(), from_host, &a);
    if (a.released && p.to < hosts_) released_[p.to] = true;
    for (unsigned slot = 1; slot < TUTTI_NET_SLOTS; ++slot) {
      if (a.send >> slot & 1) {
        const tutti_net_link& l = n.table.out[slot];
        packet q{place(l.rank), {}, {}};
        tutti_net_compose(&n.table, n.values.get(), a.episode, l.kind, l.rank, &q.message);
        std::copy_n(n.values->sent[a.episode & 1][l.row], q.values.size(), q.values.begin());
        wire_.push_back(q);
      }
      if (a.ask >> slot & 1) {
        const tutti_net_link& l = n.table.in[slot];
        packet q{place(l.rank), {}, {}};
        tutti_net_compose(&n.table, nullptr, a.episode, TUTTI_NET_ASK, l.rank, &q.message);
        q.message.wanted = l.kind;
        wire_.push_back(q);
      }
    }
  }

  std::mt19937_64 random_;
  double lose_;
  rank_t hosts_ = 0;
  std::uint32_t episode_ = 0;
  std::vector<node> nodes_;
  std::vector<packet> wire_;
  std::vector<bool> released_;
  bool early_ = false;
};

class every_topology : public testing::TestWithParam<unsigned> {};

TEST_P(every_topology, ends_and_never_early_whatever_is_lost) {
  for (rank_t n = 1; n <= 18; ++n) {
    for (const double lose : {0.0, 0.3}) {
      network_of network(GetParam(), n, n * 7 + 1, lose);
      for (unsigned episode = 0; episode < 60; ++episode)
        ASSERT_EQ(network.run(0, std::vector<std::vector<std::uint64_t>>(n)).size(), n)
            << "ranks " << n << " episode " << episode << " loss " << lose;
    }
  }
}

TEST_P(every_topology, combines_every_rank_once) {
  std::mt19937_64 random(3);
  for (rank_t n = 1; n <= 17; ++n) {
    network_of network(GetParam(), n, n, 0.2);
    for (unsigned episode = 0; episode < 40; ++episode) {
      const unsigned operation = 1 + episode % 6;
      const bool once = operation == TUTTI_NET_SUM || operation == TUTTI_NET_XOR;
      if (once && !counts_once(GetParam(), n)) continue;
      const std::size_t words = 1 + random() % 4;
      std::vector<std::vector<std::uint64_t>> in(n);
      std::vector<std::uint64_t> expected(words);
      for (rank_t r = 0; r < n; ++r)
        for (std::size_t i = 0; i < words; ++i) {
          in[r].push_back(random());
          expected[i] =
              r == 0 ? in[r][i]
                     : tutti_net_combined(static_cast<__u8>(operation), expected[i], in[r][i]);
        }
      const auto out = network.run(operation, in);
      ASSERT_EQ(out.size(), n) << "it hangs, or ends early";
      for (rank_t r = 0; r < n; ++r) ASSERT_EQ(out[r], expected) << "ranks " << n << " rank " << r;
    }
  }
}

// A switch that begins again between any two barriers; also when the hosts are in their second one,
// which it takes for the next after its own first.
TEST(machine, a_switch_that_begins_again_goes_on) {
  constexpr rank_t n = 4;
  for (unsigned before = 0; before <= 4; ++before) {
    network_of network(TUTTI_NET_SWITCH, n, before + 1, 0.1);
    const std::vector<std::vector<std::uint64_t>> none(n);
    for (unsigned i = 0; i < before; ++i)
      ASSERT_FALSE(network.run(TUTTI_NET_NO_OPERATION, none).empty());
    network.restart_switch();
    for (unsigned i = 0; i < 3; ++i)
      ASSERT_FALSE(network.run(TUTTI_NET_NO_OPERATION, none).empty()) << before << " + " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(all, every_topology, testing::Range(first_topology, last_topology + 1),
                         [](const auto& each) { return std::string(topology_names[each.param]); });

// A lost release comes again in whichever episode that was. A node that has only begun has sent
// none.
TEST(machine, echoes_the_last_episode_also_behind_the_largest_number) {
  for (const __u32 first : {0u, 7u, 0xffffffffu}) {
    tutti_net_table t = make_table(TUTTI_NET_RING, 3, 1);
    t.echoes = 1;
    tutti_net_state s{};
    s.episode = first;
    std::vector<test::arrival> arrivals(t.ins);
    tutti_net_actions a;
    const auto step = [&](const test::arrival& each) {
      const tutti_net_message m = test::message_of(t, each);
      tutti_net_step(&t, &s, nullptr, &m, nullptr, each.slot == 0, &a);
    };
    for (unsigned slot = 0; slot < t.ins; ++slot) {
      arrivals[slot].slot = slot;
      arrivals[slot].episode = first;
    }
    arrivals[1].episode = first - 1;
    if (first == 0) {
      step(arrivals[1]);
      EXPECT_EQ(a.send, 0u);
    }
    arrivals[1].episode = first;
    for (const test::arrival& each : arrivals) step(each);
    ASSERT_TRUE(a.released);
    ASSERT_EQ(s.episode, first + 1);
    for (unsigned slot = 1; slot < t.ins; ++slot) {
      step(arrivals[slot]);
      EXPECT_EQ(a.outcome, TUTTI_NET_REPEATED);
      EXPECT_EQ(a.send, t.row[t.in[slot].row].send & ~1ull) << "episode " << first;
      EXPECT_EQ(a.again, 1);
    }
  }
}

TEST(machine, refuses_ranks_that_call_differently) {
  tutti_net_table t = make_table(TUTTI_NET_TREE, 3, 0);
  tutti_net_state s{};
  auto v = std::make_unique<tutti_net_values>();
  tutti_net_message m{};
  tutti_net_actions a;
  const std::array<__u64, TUTTI_NET_VALUES> values{};
  m.kind = TUTTI_NET_START;
  tutti_net_step(&t, &s, v.get(), &m, values.data(), 1, &a);
  EXPECT_EQ(a.outcome, TUTTI_NET_COUNTED);
  m.kind = TUTTI_NET_ARRIVE;
  m.source = 1;
  m.words = 1;
  m.operation = TUTTI_NET_SUM;
  tutti_net_step(&t, &s, v.get(), &m, values.data(), 0, &a);
  EXPECT_EQ(a.outcome, TUTTI_NET_DISAGREES);
}

TEST(tables, say_what_they_cannot) {
  EXPECT_THROW(make_table(TUTTI_NET_STAR, 70, 0), std::invalid_argument);
  EXPECT_THROW(make_table(TUTTI_NET_SWITCH, 64, 0), std::invalid_argument);
  EXPECT_THROW(make_table(9, 4, 0), std::invalid_argument);
  EXPECT_THROW(make_table(TUTTI_NET_RING, 4, 4), std::invalid_argument);
  EXPECT_NO_THROW(make_table(TUTTI_NET_DISSEMINATION, 1'000'000, 999'999));
  EXPECT_NO_THROW(make_table(TUTTI_NET_BUTTERFLY, 1'000'000, 475'712));
}

}  // namespace
