// SPDX-License-Identifier: Apache-2.0
// Tests regions: every rank runs once, plain data are published in, out and between; regions inside
// regions; teams that come and go.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/team/teams.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

std::uint64_t text_of(rank_t rank, unsigned region) { return std::uint64_t{region} << 16 | rank; }

class Region : public testing::TestWithParam<shape> {};
INSTANTIATE_TEST_SUITE_P(Every, Region, testing::ValuesIn(every_shape()), name_of_shape);

TEST_P(Region, PublishesPlainDataIntoAndOut) {
  team t(GetParam().options());
  const rank_t n = t.size();
  ASSERT_EQ(n, GetParam().size());
  ASSERT_EQ(t.threads(), GetParam().threads);
  std::vector<std::uint64_t> in(n), out(n);
  for (unsigned region = 1; region <= GetParam().regions(); ++region) {
    for (rank_t r = 0; r < n; ++r) in[r] = text_of(r, region);
    t.run([&](member& me) { out[me.rank()] = in[(me.rank() + 1) % me.size()]; });
    for (rank_t r = 0; r < n; ++r) ASSERT_EQ(out[r], text_of((r + 1) % n, region)) << "rank " << r;
  }
}

TEST_P(Region, PublishesPlainDataBetweenItsRanks) {
  team t(GetParam().options());
  const rank_t n = t.size();
  std::vector<std::uint64_t> boards[2] = {std::vector<std::uint64_t>(n),
                                          std::vector<std::uint64_t>(n)};
  std::vector<unsigned> mistakes(n);
  const unsigned episodes = GetParam().burns_the_core() ? 6 : 20;
  for (unsigned region = 0; region < 3; ++region)
    t.run([&](member& me) {
      for (unsigned episode = 0; episode < episodes; ++episode) {
        std::vector<std::uint64_t>& board = boards[episode % 2];
        board[me.rank()] = text_of(me.rank(), episode);
        rank_t sum = n * (n - 1) / 2;
        // Each way to synchronise has its turn.
        switch (episode % 3) {
          case 0: me.barrier(); break;
          case 1: sum = me.reduce(plus{}, me.rank()); break;
          case 2: me.gather(me.rank(), [](auto) {}); break;
        }
        for (rank_t r = 0; r < n; ++r) mistakes[me.rank()] += board[r] != text_of(r, episode);
        mistakes[me.rank()] += sum != n * (n - 1) / 2;
      }
      // This comes before another rank writes its board in the next region.
      me.barrier();
    });
  EXPECT_EQ(mistakes, std::vector<unsigned>(n));
}

class Team : public testing::TestWithParam<shape> {};
INSTANTIATE_TEST_SUITE_P(Few, Team, testing::ValuesIn(few_shapes()), name_of_shape);

TEST_P(Team, CallerIsRank0AndRanksKeepTheirThreads) {
  team t(GetParam().options());
  std::vector<std::thread::id> first(t.size()), again(t.size());
  std::vector<rank_t> threads(t.size());
  const auto note = [&](auto& where) {
    t.run([&](member& me) {
      ASSERT_EQ(me.size(), t.size());
      where[me.rank()] = std::this_thread::get_id();
      threads[me.rank()] = me.thread();
    });
  };
  note(first);
  note(again);
  EXPECT_EQ(first, again);
  EXPECT_EQ(first[0], std::this_thread::get_id());
  EXPECT_EQ(threads.front(), 0u);
  EXPECT_EQ(threads.back(), t.threads() - 1);
  for (rank_t r = 1; r < t.size(); ++r) {
    EXPECT_LE(threads[r] - threads[r - 1], 1u) << "neighbours share a thread or take the next";
    EXPECT_EQ(first[r] == first[r - 1], threads[r] == threads[r - 1]);
  }
}

TEST_P(Team, RunsRegionsAfterAPause) {
  team t(GetParam().options());
  for (int region = 0; region < 3; ++region) {
    // By now the workers are asleep.
    std::this_thread::sleep_for(50ms);
    expect_works(t);
  }
}

TEST_P(Team, EndsWithoutEverHavingRun) {
  for (int i = 0; i < 5; ++i) const team t(GetParam().options());
}

TEST_P(Team, RunsANestedRegionAlone) {
  team t(GetParam().options());
  std::vector<rank_t> calls(t.size());
  t.run([&](member& outer) {
    t.run([&](member& me) {
      EXPECT_EQ(me.size(), 1u);
      EXPECT_EQ(me.rank(), 0u);
      me.barrier();
      EXPECT_EQ(me.reduce(plus{}, 7), 7);
      EXPECT_EQ(me.exclusive_scan(plus{}, 7, 5), 5);
      EXPECT_EQ(me.inclusive_scan(plus{}, 7), 7);
      std::array<int, 3> values{1, 2, 3};
      me.reduce(plus{}, std::span(values));
      EXPECT_EQ(values, (std::array{1, 2, 3}));
      const std::array<double, 20> large{1.5};
      EXPECT_EQ(me.reduce(plus{}, large), large);
      ++calls[outer.rank()];
    });
    for (const auto kind :
         {loop::static_blocks, loop::static_chunks, loop::dynamic_chunks, loop::guided_chunks})
      t.parallel_for(0, 3, [&](std::size_t) { ++calls[outer.rank()]; }, {.kind = kind});
    const auto identity = [](std::size_t i) { return i; };
    EXPECT_EQ(t.parallel_reduce(0, 5, plus{}, identity), 10u);
    EXPECT_EQ(t.parallel_reduce_any(0, 5, plus{}, identity), 10u);
    EXPECT_EQ(t.run_reduce(plus{}, [](member& me) { return me.rank() + 4; }), 4u);
    const auto large = t.run_reduce(plus{}, [](member&) { return std::array<long, 30>{9}; });
    EXPECT_EQ(large[0], 9);
    outer.barrier();
  });
  EXPECT_EQ(calls, std::vector<rank_t>(t.size(), 13u));
  expect_works(t);
}

TEST_P(Team, OpensAnotherTeamInsideARegion) {
  team outer(GetParam().options());
  std::vector<rank_t> calls(outer.size());
  outer.run([&](member& me) {
    team inner({.threads = 2, .ranks = me.rank() % 2 == 0 ? 2u : 5u});
    for (int i = 0; i < 3; ++i)
      calls[me.rank()] += inner.run_reduce(plus{}, [](member& mine) { return mine.rank() + 1; });
    me.barrier();
  });
  for (rank_t r = 0; r < outer.size(); ++r) EXPECT_EQ(calls[r], r % 2 == 0 ? 9u : 45u);
  expect_works(outer);
}

// If a team is open and a region of it is opened again through another team, that region runs on
// the calling rank alone; nothing hangs.
TEST(Teams, NestedInEachOther) {
  team a(2), b({.threads = 2, .ranks = 5});
  std::atomic<unsigned> calls{0}, ranks{0};
  a.run([&](member& me) {
    if (me.rank() == 0)
      b.run([&](member&) {
        a.run([&](member& again) {
          ++calls;
          ranks += again.size();
        });
      });
    me.barrier();
  });
  EXPECT_EQ(calls, 5u);
  EXPECT_EQ(ranks, 5u);
  expect_works(a);
  expect_works(b);
}

// Two ranks open another team at once: one region has the team's ranks, the other runs alone or
// after it. They never run on the team's threads at the same time, which would make the plain
// counter lose counts.
TEST(Teams, OpenedByTwoThreadsAtOnce) {
  team outer(2), shared(2);
  std::atomic<unsigned> calls{0}, together{0}, alone{0};
  unsigned plain[2] = {0, 0};
  constexpr unsigned regions = 10'000;
  for (unsigned i = 0; i < regions; ++i)
    outer.run([&](member& me) {
      me.barrier();
      shared.run([&](member& mine) {
        ++calls;
        if (mine.size() == 1) {
          ++alone;
          return;
        }
        ++together;
        ++plain[mine.rank()];
      });
    });
  EXPECT_EQ(together % 2, 0u);
  EXPECT_EQ(together / 2 + alone, 2 * regions);
  EXPECT_EQ(calls, together + alone);
  EXPECT_EQ(plain[0], together / 2);
  EXPECT_EQ(plain[1], together / 2);
  expect_works(shared);
}

// Only that thread could end the region, so it must not wait for it.
TEST(Teams, RunsASecondThreadsRegionAloneWhileOneIsOpen) {
  for (const rank_t ranks : {2u, 7u}) {
    team t({.threads = 2, .ranks = ranks});
    std::atomic<unsigned> calls{0};
    t.run([&](member& me) {
      if (me.rank() != 0) return;
      std::thread([&] {
        const auto count = [&](member& mine) {
          EXPECT_EQ(mine.size(), 1u);
          ++calls;
        };
        t.run(count);
        t.run(2, count);
        EXPECT_TRUE(t.run_for(1ms, count));
        EXPECT_EQ(t.run_reduce(plus{}, [](member& mine) { return mine.size(); }), 1u);
        t.parallel_for(0, 1000, [&](std::size_t) { ++calls; });
        EXPECT_EQ(t.parallel_reduce(0, 5, plus{}, [](std::size_t i) { return i; }), 10u);
      }).join();
    });
    EXPECT_EQ(calls, 1003u);
    expect_works(t);
  }
}

// Several threads share one team, with all kinds of regions and loops: each gets its own results.
TEST(Teams, SharedByThreadsThatDoNotKnowOfEachOther) {
  team t(2);
  std::vector<std::thread> users;
  std::atomic<unsigned> wrong{0};
  for (unsigned user = 0; user < 3; ++user)
    users.emplace_back([&t, &wrong] {
      for (unsigned i = 0; i < 300; ++i) {
        std::atomic<rank_t> calls{0}, size{0};
        t.run([&](member& me) {
          ++calls;
          size = me.size();
        });
        wrong += calls != size;
        const auto index = [](std::size_t k) { return static_cast<double>(k); };
        wrong += t.parallel_reduce(0, 3000, plus{}, index) != 2999.0 * 3000 / 2;
        std::vector<unsigned> each(2000);
        t.parallel_for(0, each.size(), [&](std::size_t k) { ++each[k]; }, {.chunk = 16});
        wrong += each != std::vector<unsigned>(2000, 1u);
      }
    });
  for (auto& user : users) user.join();
  EXPECT_EQ(wrong, 0u);
  expect_works(t);
}

// ---- regions of the first k ranks

TEST_P(Team, RunsOnItsFirstRanks) {
  team t(GetParam().options());
  const rank_t n = t.size();
  for (int round = 0; round < 3; ++round)
    for (rank_t k = 1; k <= n; ++k) {
      std::vector<rank_t> calls(n);
      std::vector<std::thread::id> threads(n), usual(n);
      t.run(k, [&](member& me) {
        ASSERT_EQ(me.size(), k);
        ++calls[me.rank()];
        threads[me.rank()] = std::this_thread::get_id();
        me.barrier();
        EXPECT_EQ(me.reduce(plus{}, me.rank() + 1), k * (k + 1) / 2);
        std::vector<rank_t> seen(k);
        me.gather(me.rank(), [&](auto get) {
          for (rank_t r = 0; r < k; ++r) seen[r] = get(r);
        });
        for (rank_t r = 0; r < k; ++r) EXPECT_EQ(seen[r], r);
        EXPECT_EQ(me.inclusive_scan(plus{}, 1u), me.rank() + 1);
      });
      for (rank_t r = 0; r < n; ++r) ASSERT_EQ(calls[r], r < k ? 1u : 0u) << "of " << k;
      t.run([&](member& me) {
        ASSERT_EQ(me.size(), n);
        usual[me.rank()] = std::this_thread::get_id();
        me.barrier();
      });
      for (rank_t r = 0; r < k; ++r) ASSERT_EQ(threads[r], usual[r]);
    }
  expect_works(t);
}

TEST_P(Team, ItsFirstRanksMayFail) {
  team t(GetParam().options());
  for (rank_t k = 1; k <= t.size(); ++k) {
    EXPECT_THROW(t.run(k,
                       [&](member& me) {
                         if (me.rank() == k - 1) throw 17;
                         me.barrier();
                       }),
                 int);
    t.run(k, [&](member& me) { me.barrier(); });
  }
  expect_works(t);
}

TEST_P(Team, RefusesMoreFirstRanksThanItHas) {
  team t(GetParam().options());
  for (const rank_t k : {rank_t{0}, t.size() + 1, ~rank_t{0}})
    expect_refused<std::invalid_argument>([&] { t.run(k, [](member&) { FAIL(); }); },
                                          "not " + std::to_string(k));
  expect_works(t);
}

// The other ranks stay asleep.
TEST(Teams, FirstRanksAreAllThatAreUsed) {
  team t(4);
  std::this_thread::sleep_for(50ms);
  for (int i = 0; i < 1000; ++i) {
    rank_t calls[2] = {0, 0};
    t.run(2, [&](member& me) { ++calls[me.rank()]; });
    ASSERT_EQ(calls[0] + calls[1], 2u);
    if (i % 100 == 0) expect_works(t);
  }
}

// One thread after another may use the team, as long as they do not overlap.
TEST(Teams, MayBeUsedByOneThreadAfterTheOther) {
  team t(3);
  for (int i = 0; i < 5; ++i) std::thread([&] { expect_works(t); }).join();
  expect_works(t);
}

TEST(Teams, AreMadeAndEndedAThousandTimes) {
  for (int i = 0; i < 1000; ++i) {
    team t({.threads = 1 + static_cast<rank_t>(i) % 3, .ranks = i % 4 == 0 ? 6u : 0u});
    rank_t calls = 0;
    if (i % 2 == 0) calls = t.run_reduce(plus{}, [](member&) { return rank_t{1}; });
    ASSERT_EQ(calls, i % 2 == 0 ? t.size() : 0u);
  }
}

// ---- what may be called

std::atomic<unsigned> plain_calls{0};
void plain_function(member&) { ++plain_calls; }

struct move_only {
  std::unique_ptr<std::atomic<unsigned>> calls = std::make_unique<std::atomic<unsigned>>(0);
  void operator()(member&) { ++*calls; }
};

TEST(Callables, OfEveryKindAreCalledByEveryRank) {
  team t(3);
  t.run(plain_function);
  t.run(&plain_function);
  EXPECT_EQ(plain_calls, 6u);
  const std::function<void(member&)> wrapped = plain_function;
  t.run(wrapped);
  EXPECT_EQ(plain_calls, 9u);

  move_only moved;
  t.run(moved);
  EXPECT_EQ(*moved.calls, 3u);
  t.run(move_only{});

  // The result is too large to travel with the job.
  std::array<std::uint64_t, 100> large{};
  large[99] = 17;
  std::atomic<unsigned> sum{0};
  t.run([large, &sum](member&) { sum += static_cast<unsigned>(large[99]); });
  EXPECT_EQ(sum, 51u);
  EXPECT_EQ(t.run_reduce(plus{}, [large](member&) { return large[99]; }), 51u);

  std::atomic<int> through{0};
  t.run([&through, own = 1](member&) mutable { through += own; });
  EXPECT_EQ(through, 3);
  EXPECT_EQ(t.run_reduce(
                maximum{}, +[](member& me) { return me.rank(); }),
            2u);
}

rank_t rank_of(member& me) { return me.rank(); }

TEST(Callables, FreeFunctionsReduceToo) {
  team t({.threads = 2, .ranks = 4});
  EXPECT_EQ(t.run_reduce(plus{}, rank_of), 6u);
}

// An operation with a state that requires more alignment than a job has.
struct alignas(16) aligned_plus {
  double scale = 1.0;
  double operator()(double a, double b) const { return scale * (a + b); }
};

TEST(Callables, OperationsMayBeAlignedAsTheyLike) {
  team t(3);
  EXPECT_EQ(t.run_reduce(aligned_plus{}, [](member& me) { return me.rank() + 1.0; }), 6.0);
  struct alignas(16) wide {
    double values[4];
  };
  const auto plus = [](const wide& a, const wide& b) {
    wide sum = a;
    for (int i = 0; i < 4; ++i) sum.values[i] += b.values[i];
    return sum;
  };
  const wide sum = t.run_reduce(plus, [](member&) { return wide{{1, 2, 3, 4}}; });
  EXPECT_EQ(sum.values[3], 12.0);
  t.run([&](member& me) {
    EXPECT_EQ(me.reduce(plus, wide{{1, 2, 3, 4}}).values[2], 9.0);
    EXPECT_EQ(me.reduce(tutti::plus{}, 1.5L), 4.5L);
  });
}

}  // namespace
// GCC 12 takes it for trivially copyable, but it has no copy.
struct counts_calls {
  void operator()(member&) const { ++calls; }
  void operator()(std::size_t) const { ++calls; }
  mutable std::atomic<unsigned> calls{0};
};

TEST(Callables, AreReadInPlaceIfTheyHaveNoCopy) {
  team t(2);
  const counts_calls f;
  t.run(f);
  EXPECT_EQ(f.calls, 2u);
  t.parallel_for(0, 100, f);
  EXPECT_EQ(f.calls, 102u);
}

}  // namespace tutti::test
