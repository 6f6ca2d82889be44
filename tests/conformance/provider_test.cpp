// SPDX-License-Identifier: Apache-2.0
// A provider that the program adds is used wherever a barrier has a name.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/dummy_provider.hpp"
#include "tutti.h"
#include "tutti/barrier/barrier.hpp"
#include "tutti/reduce/reduction.hpp"
#include "tutti/team/team.hpp"

namespace tutti {
namespace {

using test::dummy_provider;

void as_each(rank_t n, const std::function<void(rank_t)>& f) {
  std::vector<std::thread> threads;
  for (rank_t rank = 0; rank < n; ++rank) threads.emplace_back(f, rank);
  for (std::thread& each : threads) each.join();
}

TEST(Provider, HasAName) {
  EXPECT_FALSE(is_barrier_name("dummy"));
  {
    dummy_provider dummy;
    EXPECT_TRUE(is_barrier_name("dummy"));
    EXPECT_EQ(barrier_provider_names(), std::vector<std::string>{"dummy"});
  }
  EXPECT_FALSE(is_barrier_name("dummy"));
  EXPECT_TRUE(barrier_provider_names().empty());
  for (const char* name : {"default", "default_rankless", "ticket"})
    EXPECT_TRUE(is_barrier_name(name)) << name;
}

TEST(Provider, MakesABarrier) {
  dummy_provider dummy;
  barrier sync(3, barrier_options{.algorithm = "dummy"});
  as_each(3, [&](rank_t rank) { sync.arrive_and_wait(rank); });
  EXPECT_EQ(dummy.arrivals(), 3u);
}

TEST(Provider, MakesAReduction) {
  dummy_provider dummy;
  {
    reduction<int> total(3, {}, "dummy");
    as_each(3, [&](rank_t rank) {
      EXPECT_EQ(total.all(rank, static_cast<int>(rank) + 1), 6);
      EXPECT_EQ(total.all_for(rank, 2, std::chrono::minutes(1)), 6);
    });
    EXPECT_EQ(dummy.arrivals(), 6u);
  }
  EXPECT_THROW(reduction<int>(3, {}, "dummy", patience::active()), std::invalid_argument);
}

TEST(Provider, MakesABarrierInC) {
  dummy_provider dummy;
  tutti_barrier* sync = nullptr;
  ASSERT_EQ(tutti_barrier_create(&sync, 2, "dummy", nullptr), TUTTI_OK);
  as_each(2, [&](rank_t rank) { EXPECT_EQ(tutti_barrier_wait(sync, rank), TUTTI_OK); });
  EXPECT_EQ(dummy.arrivals(), 2u);
  tutti_barrier* second = nullptr;
  EXPECT_EQ(tutti_barrier_create(&second, 2, "dummy", nullptr), TUTTI_ENOTSUP);
  tutti_barrier_destroy(sync);
  EXPECT_EQ(tutti_barrier_create(&sync, 2, "dummy", "park"), TUTTI_ENOTSUP);
  EXPECT_EQ(tutti_barrier_create(&sync, 2, "dumy", nullptr), TUTTI_ENAME);
}

TEST(Provider, MakesTheBarrierOfATeam) {
  dummy_provider dummy;
  for (const rank_t ranks : {3u, 7u}) {
    dummy.arrivals();
    team workers(team_options{.threads = 3, .ranks = ranks, .barrier = "dummy"});
    workers.run([](member&) {});
    EXPECT_EQ(dummy.arrivals(), 0u);
    workers.run([](member& me) {
      me.barrier();
      EXPECT_EQ(me.reduce(plus{}, std::array<rank_t, 2>{me.rank(), 1})[1], me.size());
    });
    EXPECT_GT(dummy.arrivals(), 0u);
    EXPECT_EQ(workers.run_reduce(plus{}, [](member&) { return rank_t{1}; }), ranks);
    // The first ranks meet without it, because it is for all.
    dummy.arrivals();
    workers.run(2, [](member& me) { EXPECT_EQ(me.reduce(plus{}, 1), 2); });
    // It is made again after a region that failed.
    EXPECT_THROW(workers.run([](member& me) {
      if (me.rank() == 1) throw std::runtime_error("a rank that fails");
      me.barrier();
      me.barrier();
    }),
                 std::runtime_error);
    workers.run([](member& me) { me.barrier(); });
    EXPECT_TRUE(workers.run_for(std::chrono::minutes(1), [](member& me) { me.barrier(); }));
  }
  EXPECT_THROW(team(team_options{.threads = 2, .barrier = "dummy", .wait = "park"}),
               std::invalid_argument);
}

TEST(Provider, MakesTheBarrierOfATeamInC) {
  dummy_provider dummy;
  tutti_team_options how = {};
  how.size = sizeof how;
  how.threads = 2;
  how.barrier = "dummy";
  tutti_team* workers = nullptr;
  ASSERT_EQ(tutti_team_create(&workers, &how), TUTTI_OK);
  const auto meet = [](tutti_member* me, void*) { return tutti_member_barrier(me); };
  EXPECT_EQ(tutti_team_run(workers, meet, nullptr), TUTTI_OK);
  EXPECT_EQ(dummy.arrivals(), 2u);
  tutti_team_destroy(workers);
}

}  // namespace
}  // namespace tutti
