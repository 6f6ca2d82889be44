// SPDX-License-Identifier: Apache-2.0
// Tests one machine at a time: what it refuses and leaves unchanged, for whom it waits, and
// participants that disagree.
#include "tutti/termination/protocol/machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <random>
#include <stdexcept>
#include <vector>

#include "tests/termination/watched.hpp"

namespace tutti::protocol::test {
namespace {

value_t sum(const value_t& left, const value_t& right) {
  value_t v{};
  v = static_cast<std::uint64_t>(left) + static_cast<std::uint64_t>(right);
  return v;
}
contribution vote(std::uint32_t operation = 1) {
  contribution c;
  c.vote = 1;
  c.operation = operation;
  c.combine = operation != 0 && operation != mixed_operation ? sum : nullptr;
  return c;
}

struct sent_message {
  rank_t to;
  control message;
};

// Participants without a program: they are idle when the test says so, and control messages wait
// until the test delivers them.
template <class Machine>
struct group {
  std::deque<Machine> machines;
  std::vector<sent_message> under_way;
  std::vector<outcome> releases;

  auto out() {
    return [this](rank_t to, const control& c) { under_way.push_back({to, c}); };
  }
  void see(const outcome& o) {
    if (o.released) releases.push_back(o);
  }
  void idle(rank_t r, const contribution& c = vote()) { see(machines[r].passive({}, c, out())); }
  void deliver(std::size_t i) {
    const sent_message m = under_way[i];
    under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(i));
    const outcome o = machines[m.to].receive(m.message, out());
    EXPECT_TRUE(o.status == status::accepted || o.status == status::overdue) << text(o.status);
    see(o);
    if (o.released) machines[m.to].left(out());
  }
  void deliver_all() {
    while (!under_way.empty()) deliver(under_way.size() - 1);
  }
};

// --- what is refused -----------------------------------------------------------------------------

// Machines whose whole state is in their bytes, with wave numbers that do not repeat.
struct inline_state : watched {
  static constexpr std::uint32_t wave_mask = ~std::uint32_t{0};
};

struct refusals {
  std::uint64_t tried = 0, refused = 0;
  std::uint64_t by_status[7] = {};
};

template <class Machine>
class fuzzed {
 public:
  fuzzed(std::vector<Machine> machines, std::uint64_t seed)
      : machines_(std::move(machines)),
        random_(seed),
        idle_(machines_.size()),
        leaving_(machines_.size()) {}

  refusals run(int steps) {
    for (int i = 0; i < steps; ++i) {
      one_step();
      for (int bad = 0; bad < 8; ++bad) one_bad_message();
    }
    return result_;
  }

 private:
  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
  }

  void see(std::size_t who, const outcome& o) {
    ASSERT_EQ(o.status, status::accepted);
    if (!o.released) return;
    idle_[who] = false;
    leaving_[who] = true;
  }
  void one_step() {
    const std::size_t who = below(machines_.size());
    const auto out = [&](rank_t to, const control& c) { under_way_.push_back({to, c}); };
    if (!under_way_.empty() && below(2) == 0) {
      const std::size_t i = below(under_way_.size());
      const sent_message m = under_way_[i];
      under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(i));
      past_.push_back(m);
      see(m.to, machines_[m.to].receive(m.message, out));
    } else if (leaving_[who]) {
      leaving_[who] = false;
      see(who, machines_[who].left(out));
    } else if (!idle_[who]) {
      idle_[who] = true;
      see(who, machines_[who].passive({freed_, freed_}, vote(), out));
    } else if (below(8) == 0) {
      idle_[who] = false;
      machines_[who].active();
      ++freed_;
    }
  }

  void one_bad_message() {
    const std::size_t to = below(machines_.size());
    bool is_past = false;
    const control bad = make_bad(to, is_past);
    Machine copy = machines_[to];
    bool answered = false;
    const outcome o = copy.receive(bad, [&](rank_t, const control&) { answered = true; });
    ++result_.tried;
    ++result_.by_status[static_cast<int>(o.status)];
    if (o.status == status::accepted) {
      EXPECT_FALSE(is_past || is_wrong(bad, to))
          << "kind " << static_cast<int>(bad.kind) << " from " << bad.source << " to " << to
          << ", episode " << bad.episode << ", wave " << bad.wave;
      return;
    }
    ++result_.refused;
    EXPECT_FALSE(answered || o.released);
    EXPECT_EQ(std::memcmp(&copy, &machines_[to], sizeof(Machine)), 0) << text(o.status);
  }
  // Whether no participant could send this message to `to` now. A message that could be true may be
  // accepted.
  bool is_wrong(const control& c, std::size_t to) const {
    const auto kind = static_cast<int>(c.kind);
    const std::uint64_t episode = machines_[to].episode();
    // The ring's release.
    const bool comes_back = to == 0 && c.kind == message_kind::depart;
    return kind < 1 || kind > 6 || c.source >= machines_.size() || c.source == to ||
           c.episode + comes_back != episode || c.wave > 1'000'000;
  }

  // Makes a message from one that was or is under way with one field changed, from the past, or
  // from noise.
  control make_bad(std::size_t to, bool& is_past) {
    control c;
    switch (below(3)) {
      case 0:
        if (!past_.empty()) {
          const sent_message& m = past_[below(past_.size())];
          // Another participant may be about to get the same message.
          is_past = m.to == to;
          return m.message;
        }
        [[fallthrough]];
      case 1:
        c.kind = static_cast<message_kind>(below(256));
        c.source = static_cast<rank_t>(random_());
        c.episode = random_();
        c.wave = static_cast<std::uint32_t>(random_());
        return c;
      default: break;
    }
    if (!under_way_.empty()) c = under_way_[below(under_way_.size())].message;
    switch (below(4)) {
      case 0: c.kind = static_cast<message_kind>(below(10)); break;
      case 1: c.source = static_cast<rank_t>(below(machines_.size() + 3)); break;
      case 2: c.episode += below(5) - 2; break;
      default: c.wave += static_cast<std::uint32_t>(below(5)) - 2; break;
    }
    return c;
  }

  std::vector<Machine> machines_;
  std::mt19937_64 random_;
  std::vector<char> idle_, leaving_;
  std::vector<sent_message> under_way_;
  std::vector<sent_message> past_;
  std::uint64_t freed_ = 0;
  refusals result_;
};

template <class Machine>
void expect_refusals(const std::vector<Machine>& machines) {
  static_assert(std::is_trivially_copyable_v<Machine>);
  refusals all;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const refusals r = fuzzed<Machine>(machines, seed).run(4000);
    all.tried += r.tried;
    all.refused += r.refused;
    for (int i = 0; i < 6; ++i) all.by_status[i] += r.by_status[i];
  }
  for (int i = 1; i < 6; ++i)
    EXPECT_GT(all.by_status[i], 0u) << text(static_cast<status>(i)) << " never met";
  EXPECT_GT(all.by_status[0], 0u) << "nothing was accepted: the run stands still";
}

class Refusals : public testing::TestWithParam<std::pair<rank_t, release_scheme>> {};

TEST_P(Refusals, StarChangesNothing) {
  const auto [n, scheme] = GetParam();
  std::vector<gather<inline_state>> machines;
  for (rank_t r = 0; r < n; ++r) machines.emplace_back(r, n, 4, criterion::safra, scheme);
  expect_refusals(machines);
}
TEST_P(Refusals, TreeChangesNothing) {
  const auto [n, scheme] = GetParam();
  std::vector<gather<inline_state>> machines;
  for (rank_t r = 0; r < n; ++r) machines.emplace_back(r, n, 2, criterion::four_counter, scheme);
  expect_refusals(machines);
}
TEST_P(Refusals, RingChangesNothing) {
  const auto [n, scheme] = GetParam();
  std::vector<ring<inline_state>> machines;
  for (rank_t r = 0; r < n; ++r) machines.emplace_back(r, n, scheme);
  expect_refusals(machines);
}
INSTANTIATE_TEST_SUITE_P(, Refusals,
                         testing::Values(std::pair{rank_t{2}, release_scheme::epochs},
                                         std::pair{rank_t{3}, release_scheme::phases},
                                         std::pair{rank_t{4}, release_scheme::epochs},
                                         std::pair{rank_t{4}, release_scheme::phases}));

TEST(Names, AreThoseOfTheList) {
  for (const algorithm& a : algorithms) EXPECT_NO_THROW(machine(a.name, 0, 3)) << a.name;
  EXPECT_EQ(tutti::detail::find_by_name(algorithms, "ring"), &algorithms[2]);
  EXPECT_EQ(tutti::detail::find_by_name(algorithms, "Ring"), nullptr);
  EXPECT_THROW(machine("Star", 0, 3), std::invalid_argument);
  EXPECT_THROW(machine("star", 3, 3), std::invalid_argument);
  EXPECT_THROW(machine("ring", 0, 0), std::invalid_argument);
}

// --- whom a machine waits for --------------------------------------------------------------------

class Forms : public testing::TestWithParam<std::string_view> {
 protected:
  group<machine> of(rank_t n) const {
    group<machine> g;
    for (rank_t r = 0; r < n; ++r) g.machines.emplace_back(GetParam(), r, n);
    return g;
  }
};

// From rank 0, following the ranks for which each waits leads to those that are not idle.
TEST_P(Forms, AwaitedLeadsToWhoIsMissing) {
  constexpr rank_t n = 23;
  for (rank_t missing = 0; missing < n; ++missing) {
    group<machine> g = of(n);
    for (rank_t r = 0; r < n; ++r)
      if (r != missing) g.idle(r);
    g.deliver_all();
    ASSERT_TRUE(g.releases.empty());
    std::vector<bool> asked(n);
    std::vector<rank_t> next{0};
    while (!next.empty()) {
      const rank_t r = next.back();
      next.pop_back();
      if (asked[r]) continue;
      asked[r] = true;
      g.machines[r].awaited([&](rank_t other) { next.push_back(other); });
    }
    EXPECT_TRUE(asked[missing]) << missing;
  }
}

TEST_P(Forms, NobodyIsAwaitedOnceAllHaveReported) {
  group<machine> g = of(5);
  for (rank_t r = 0; r < 5; ++r) g.idle(r);
  g.deliver_all();
  EXPECT_EQ(g.releases.size(), 5u);
}

// --- participants that disagree ------------------------------------------------------------------

TEST_P(Forms, DisagreementAboutTheOperationIsReportedToAll) {
  for (rank_t n = 2; n <= 9; ++n)
    for (rank_t odd_one = 0; odd_one < n; ++odd_one)
      for (const std::uint32_t other : {0u, 2u, std::uint32_t{mixed_operation}}) {
        group<machine> g = of(n);
        for (rank_t r = 0; r < n; ++r) g.idle(r, vote(r == odd_one ? other : 1));
        g.deliver_all();
        ASSERT_EQ(g.releases.size(), n) << n << " " << odd_one << " " << other;
        for (const outcome& o : g.releases) EXPECT_TRUE(o.mismatched);
        // The next episode, in which they agree, is not affected.
        g.releases.clear();
        for (rank_t r = 0; r < n; ++r) g.idle(r);
        g.deliver_all();
        ASSERT_EQ(g.releases.size(), n);
        for (const outcome& o : g.releases) EXPECT_FALSE(o.mismatched);
      }
}

// There are two waves per episode, and they disagree in every other episode. Released participants
// go on while others are not released.
TEST_P(Forms, DisagreementHarmsNobodyInWhateverOrderControlArrives) {
  constexpr int episodes = 6;
  std::uint64_t overdue = 0;
  for (rank_t n = 2; n <= 9; ++n)
    for (std::uint32_t seed = 1; seed <= 60; ++seed) {
      std::mt19937 random(seed);
      const auto odd_one = static_cast<rank_t>(random() % n);
      group<machine> g = of(n);
      std::vector<int> episode(n);
      std::vector<char> is_inside(n);
      const auto see = [&](rank_t who, const outcome& o) {
        if (o.status == status::overdue) return static_cast<void>(++overdue);
        ASSERT_EQ(o.status, status::accepted) << text(o.status);
        if (!o.released) return;
        const bool disagreed = episode[who]++ % 2 == 0;
        is_inside[who] = false;
        EXPECT_EQ(o.mismatched, disagreed);
        const std::uint64_t right_sum = n * (n + 1) / 2;
        EXPECT_TRUE(disagreed || static_cast<std::uint64_t>(o.value) == right_sum);
      };
      for (int step = 0; step < 100'000; ++step) {
        const std::size_t i = random() % (n + g.under_way.size());
        if (i >= n) {
          const auto at = g.under_way.begin() + static_cast<std::ptrdiff_t>(i - n);
          const sent_message m = *at;
          g.under_way.erase(at);
          see(m.to, g.machines[m.to].receive(m.message, g.out()));
        } else if (const auto who = static_cast<rank_t>(i);
                   !is_inside[who] && episode[who] < episodes) {
          is_inside[who] = true;
          const bool disagree = episode[who] % 2 == 0;
          contribution given = vote(disagree && who == odd_one ? 2 : 1);
          given.value = std::uint64_t{who} + 1;
          const auto freed = static_cast<std::uint64_t>(episode[who]) + 1;
          see(who, g.machines[who].passive({freed, freed}, given, g.out()));
        }
        if (HasFatalFailure()) return;
        const auto is_done = [](int e) { return e == episodes; };
        if (std::all_of(episode.begin(), episode.end(), is_done)) break;
      }
      ASSERT_EQ(*std::min_element(episode.begin(), episode.end()), episodes) << n << " " << seed;
    }
  EXPECT_EQ(overdue > 0, GetParam() == "ring");
}

// A vote that was withdrawn after it had been reported counts if the episode ends; sending waits
// for the answer.
TEST_P(Forms, WhatHasBeenReportedCannotBeUnsaid) {
  group<machine> g = of(4);
  for (const rank_t r : {3u, 2u, 1u}) g.idle(r);
  g.deliver_all();
  g.idle(0);
  const bool released_at_once = !g.releases.empty();
  // In the ring the token has been at all participants but rank 0.
  if (!released_at_once) {
    while (!g.machines[1].committed() && !g.under_way.empty()) g.deliver(0);
  }
  ASSERT_TRUE(g.machines[1].committed());
  g.machines[1].withdraw();
  EXPECT_FALSE(g.machines[1].sends_allowed());
  g.deliver_all();
  EXPECT_EQ(g.releases.size(), 4u);
  EXPECT_TRUE(g.machines[1].sends_allowed());
  for (const outcome& o : g.releases) EXPECT_TRUE(o.unanimous);
}

std::vector<std::string_view> names() {
  std::vector<std::string_view> all;
  for (const algorithm& a : algorithms) all.push_back(a.name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(, Forms, testing::ValuesIn(names()),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace tutti::protocol::test
