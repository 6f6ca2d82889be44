// SPDX-License-Identifier: Apache-2.0
// Ranks that fail while others wait for them, ranks that are late, and teams that work afterwards.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/team/teams.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

struct failure : std::runtime_error {
  explicit failure(rank_t of) : std::runtime_error("rank " + std::to_string(of)), rank(of) {}
  rank_t rank;
};

// What the others do meanwhile.
enum class waits_in { nothing, barrier, reduce, large_reduce, spans, gather, scan };
constexpr waits_in all_waits[] = {waits_in::nothing,      waits_in::barrier, waits_in::reduce,
                                  waits_in::large_reduce, waits_in::spans,   waits_in::gather,
                                  waits_in::scan};

void wait(member& me, waits_in how) {
  std::array<double, 30> large{1};
  switch (how) {
    case waits_in::nothing: return;
    case waits_in::barrier: return me.barrier();
    case waits_in::reduce: me.reduce(plus{}, 1.0); return;
    case waits_in::large_reduce: me.reduce(plus{}, large); return;
    case waits_in::spans: return me.reduce(plus{}, std::span(large));
    case waits_in::gather: return me.gather(me.rank(), [](auto) {});
    case waits_in::scan: me.exclusive_scan(plus{}, 1, 0); return;
  }
}

class Failure : public testing::TestWithParam<shape> {
 protected:
  // Ranks for which fails(rank) holds throw after they have synchronised `episodes` times; all
  // others wait. Returns how many of these were cancelled. A rank that leaves the last episode
  // early, and throws, cancels those that are still in it.
  template <class Fails>
  static unsigned fail(team& t, waits_in how, unsigned episodes, Fails fails) {
    std::atomic<unsigned> cancelled{0};
    std::vector<unsigned char> threw(t.size());
    try {
      t.run([&](member& me) {
        const bool is_to_fail = fails(me.rank());
        try {
          for (unsigned i = 0; i < episodes; ++i) me.reduce(plus{}, 1);
          if (!is_to_fail) wait(me, how);
        } catch (const region_cancelled&) {
          if (!is_to_fail && how != waits_in::nothing) ++cancelled;
          throw;
        }
        if (!is_to_fail) return;
        threw[me.rank()] = 1;
        throw failure(me.rank());
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const failure& e) {
      rank_t first = 0;
      while (episodes == 0 ? !fails(first) : threw[first] == 0) ++first;
      EXPECT_EQ(e.rank, first) << "the lowest rank's exception";
    }
    return cancelled;
  }
};

std::vector<shape> shapes_of_several() {
  std::vector<shape> several;
  for (const shape& s : few_shapes())
    if (s.size() > 1) several.push_back(s);
  for (const auto& algorithm : algorithms)
    several.push_back({2, 4, std::string(algorithm.name), "park"});
  return several;
}
INSTANTIATE_TEST_SUITE_P(Several, Failure, testing::ValuesIn(shapes_of_several()), name_of_shape);

TEST_P(Failure, OfOneRankCancelsTheOthersWaits) {
  team t(GetParam().options());
  for (const rank_t who : {rank_t{0}, t.size() / 2, t.size() - 1})
    for (const waits_in how : all_waits) {
      const unsigned expected = how == waits_in::nothing ? 0 : t.size() - 1;
      EXPECT_EQ(fail(t, how, who % 3, [=](rank_t r) { return r == who; }), expected);
      expect_works(t);
    }
}

TEST_P(Failure, OfSeveralRanksGivesTheLowest) {
  team t(GetParam().options());
  const auto all = [](rank_t) { return true; };
  const auto odd = [](rank_t r) { return r % 2 == 1; };
  EXPECT_EQ(fail(t, waits_in::barrier, 0, all), 0u);
  EXPECT_EQ(fail(t, waits_in::reduce, 1, odd), (t.size() + 1) / 2);
  expect_works(t);
}

// Ranks have then synchronised a different number of times, so the state by which they do so must
// begin anew.
TEST_P(Failure, LeavesNothingToTheNextRegion) {
  team t(GetParam().options());
  for (const rank_t who : {rank_t{0}, t.size() - 1}) {
    EXPECT_THROW(t.run([&](member& me) {
      if (me.rank() == who) throw failure(who);
      me.reduce(plus{}, 1);
    }),
                 failure);
    for (int region = 0; region < 3; ++region)
      t.run([&](member& me) {
        EXPECT_EQ(me.reduce(plus{}, rank_t{2}), 2 * me.size());
        std::vector<rank_t> seen(me.size());
        me.gather(me.rank(), [&](auto get) {
          for (rank_t r = 0; r < me.size(); ++r) seen[r] = get(r);
        });
        for (rank_t r = 0; r < me.size(); ++r) EXPECT_EQ(seen[r], r);
      });
  }
}

TEST_P(Failure, OfReducingRegionsAndLoops) {
  team t(GetParam().options());
  const rank_t last = t.size() - 1;
  EXPECT_THROW((void)t.run_reduce(plus{},
                                  [&](member& me) {
                                    if (me.rank() == last) throw failure(last);
                                    return 1.0;
                                  }),
               failure);
  EXPECT_THROW(
      (void)t.run_reduce(plus{}, [&](member&) -> std::array<double, 50> { throw failure(0); }),
      failure);
  for (const auto kind :
       {loop::static_blocks, loop::static_chunks, loop::dynamic_chunks, loop::guided_chunks})
    EXPECT_THROW(t.parallel_for(0, 100,
                                [](std::size_t i) {
                                  if (i == 77) throw failure(7);
                                },
                                {.kind = kind}),
                 failure);
  const auto at_77 = [](std::size_t i) {
    if (i == 77) throw failure(7);
    return 1.0;
  };
  EXPECT_THROW((void)t.parallel_reduce(0, 100, plus{}, at_77), failure);
  EXPECT_THROW((void)t.parallel_reduce_any(0, 100, plus{}, at_77), failure);
  expect_works(t);
}

// A rank may look at its error, and at others, while it waits for the rest.
TEST_P(Failure, IsNotSeenByOtherRanksHandlers) {
  team t(GetParam().options());
  std::vector<std::string> caught(t.size());
  std::atomic<unsigned> strays{0};
  t.run([&](member& me) {
    // A new rank begins without a current exception, whatever the one before it on this thread is
    // handling.
    if (std::current_exception() != nullptr || std::uncaught_exceptions() != 0) ++strays;
    try {
      throw failure(me.rank());
    } catch (const failure&) {
      me.barrier();
      try {
        me.barrier();
        throw;
      } catch (const failure& e) {
        me.barrier();
        caught[me.rank()] = e.what();
      }
    }
    if (std::current_exception() != nullptr) ++strays;
  });
  EXPECT_EQ(strays, 0u);
  for (rank_t r = 0; r < t.size(); ++r) EXPECT_EQ(caught[r], "rank " + std::to_string(r));
}

class waits_as_it_goes {
 public:
  explicit waits_as_it_goes(member& me, std::vector<int>& unwinding)
      : me_(me), unwinding_(unwinding) {}
  ~waits_as_it_goes() {
    me_.barrier();
    unwinding_[me_.rank()] = std::uncaught_exceptions();
  }

 private:
  member& me_;
  std::vector<int>& unwinding_;
};

TEST_P(Failure, MayUnwindThroughABarrier) {
  team t(GetParam().options());
  std::vector<int> unwinding(t.size(), -1);
  t.run([&](member& me) {
    try {
      const waits_as_it_goes guard(me, unwinding);
      if (me.rank() % 2 == 0) throw failure(me.rank());
    } catch (const failure&) {
    }
  });
  for (rank_t r = 0; r < t.size(); ++r) EXPECT_EQ(unwinding[r], r % 2 == 0 ? 1 : 0);
}

TEST(Failures, AThousandInARow) {
  for (const rank_t ranks : {2u, 6u}) {
    team t({.threads = 2, .ranks = ranks});
    for (unsigned i = 0; i < 1000; ++i) {
      const rank_t who = i % ranks;
      EXPECT_THROW(t.run([&](member& me) {
        if (me.rank() == who) throw failure(who);
        if (i % 3 == 0) me.barrier();
        if (i % 3 == 1) me.reduce(plus{}, 1.0);
      }),
                   failure);
      ASSERT_EQ(t.run_reduce(plus{}, [](member& me) { return me.reduce(plus{}, 1u); }),
                ranks * ranks);
    }
  }
}

TEST(Failures, CallersOwnCancellationIsItsOwn) {
  team t(3);
  EXPECT_THROW(t.run([](member& me) {
    if (me.rank() == 1) throw region_cancelled();
  }),
               region_cancelled);
  EXPECT_NE(std::string(region_cancelled().what()).find("another rank"), std::string::npos);
  expect_works(t);
}

TEST(Failures, InOneOfTwoNestedTeamsReachesTheOuterCaller) {
  team outer(2), inner({.threads = 2, .ranks = 4});
  EXPECT_THROW(outer.run([&](member& me) {
    if (me.rank() == 1)
      inner.run([](member& mine) {
        if (mine.rank() == 3) throw failure(3);
        mine.barrier();
      });
    me.barrier();
  }),
               failure);
  expect_works(outer);
  expect_works(inner);
}

TEST(Spans, OfDifferentLengthsAreRefused) {
  for (const rank_t ranks : {2u, 5u}) {
    team t({.threads = 2, .ranks = ranks});
    std::vector<std::vector<double>> values(ranks, std::vector<double>(10, 1.0));
    values.back().pop_back();
    expect_refused<std::invalid_argument>(
        [&] { t.run([&](member& me) { me.reduce(plus{}, std::span(values[me.rank()])); }); },
        "same length");
    for (const auto& v : values)
      for (const double x : v) ASSERT_EQ(x, 1.0) << "something was written";
    expect_works(t);
  }
}

// An operation must not throw; if it does, no rank uses the array of one that has left. Rank 0 is
// slow, so that the others fail first; what they free then is overwritten.
TEST(Spans, StayUntilNoOtherRankUsesThem) {
  for (const shape& s : {shape{4}, shape{2, 6}})
    for (const std::size_t length : {4u, 5000u}) {
      team t(that_may_block(s.options()));
      std::atomic<unsigned> strays{0};
      EXPECT_THROW(t.run([&](member& me) {
        const rank_t rank = me.rank();
        std::vector<double> mine(length, 1.0);
        const auto add = [&](double a, double b) {
          if (rank != 0) throw failure(rank);
          if (a < 0 || b < 0) ++strays;
          return a + b;
        };
        struct overwritten {
          ~overwritten() { std::ranges::fill(of, -1.0); }
          std::vector<double>& of;
        } const at_end{mine};
        const auto slowly = [&](double a, double b) {
          if (rank == 0 && a == 1.0 && b == 1.0) std::this_thread::sleep_for(10us);
          return add(a, b);
        };
        me.reduce(slowly, std::span(mine));
      }),
                   failure);
      EXPECT_EQ(strays, 0u) << s << ", " << length;
      expect_works(t);
    }
}

// ---- deadlines

struct gate {
  std::atomic<bool> is_open{false};
  void pass() const {
    while (!is_open) std::this_thread::sleep_for(1ms);
  }
};

TEST(Deadline, NamesTheRankThatIsMissing) {
  for (const shape& s : {shape{3}, shape{9}, shape{3, 7}}) {
    team t(that_may_block(s.options()));
    gate late;
    const rank_t who = t.size() - 1;
    const auto told = t.run_for(30ms, [&](member& me) {
      if (me.rank() == who) late.pass();
    });
    EXPECT_FALSE(told);
    EXPECT_EQ(told.missing, 1u);
    EXPECT_EQ(told.missing_ranks, std::vector<rank_t>{who});
    const std::string missing = "(missing: rank " + std::to_string(who) + ")";
    expect_refused<std::logic_error>([&] { t.run([](member&) {}); }, missing);
    expect_refused<std::logic_error>([&] { (void)t.run_for(1ms, [](member&) {}); }, missing);
    const auto again = t.wait_for(1ms);
    EXPECT_FALSE(again.in_time);
    EXPECT_EQ(again.missing_ranks, std::vector<rank_t>{who});
    late.is_open = true;
    const auto last = t.wait_for(60s);
    EXPECT_TRUE(last.in_time);
    EXPECT_TRUE(last.missing_ranks.empty());
    EXPECT_TRUE(t.wait_for(0s)) << "nothing is late any more";
    expect_works(t);
  }
}

TEST(Deadline, IsKept) {
  for (const shape& s : own_shapes()) {
    team t(s.options());
    std::atomic<rank_t> calls{0};
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(t.run_for(60s, [&](member&) { ++calls; }));
    EXPECT_EQ(calls, 3 * t.size());
    expect_works(t);
  }
}

TEST(Deadline, FailuresOfALateRegionReachWhoeverWaits) {
  team t(that_may_block({.threads = 2, .ranks = 4}));
  gate late;
  EXPECT_FALSE(t.run_for(10ms, [&](member& me) {
    if (me.rank() != 3) return;
    late.pass();
    throw failure(3);
  }));
  late.is_open = true;
  EXPECT_THROW((void)t.wait_for(60s), failure);
  expect_works(t);
  EXPECT_THROW((void)t.run_for(60s, [](member&) { throw failure(0); }), failure);
  expect_works(t);
}

// The team keeps the callable, and its destructor waits for the rank.
TEST(Deadline, ATeamMayEndWhileARegionIsLate) {
  gate late;
  std::atomic<unsigned> calls{0};
  std::thread opener;
  {
    const auto alive = std::make_shared<int>(17);
    const std::weak_ptr<int> watched = alive;
    team t(2);
    EXPECT_FALSE(t.run_for(10ms, [alive, &late, &calls](member& me) {
      if (me.rank() == 0) return;
      late.pass();
      if (*alive == 17) ++calls;
    }));
    EXPECT_GE(watched.use_count(), 2);
    opener = std::thread([&] {
      std::this_thread::sleep_for(20ms);
      late.is_open = true;
    });
  }
  EXPECT_EQ(calls, 1u);
  opener.join();
}

TEST(Deadline, IsRefusedWhereAWaitCannotBeResumed) {
  team t({.threads = 2, .barrier = "recursive"});
  expect_refused<std::invalid_argument>([&] { (void)t.run_for(1ms, [](member&) {}); },
                                        "named barrier cannot be waited for with a deadline");
  expect_works(t);
}

}  // namespace
}  // namespace tutti::test
