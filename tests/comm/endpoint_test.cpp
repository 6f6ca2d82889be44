// SPDX-License-Identifier: Apache-2.0
// Tests one thing at a time: messages to oneself, full rings, large messages, the vote, groups,
// statistics, options, fibers.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "tests/comm/detectors.hpp"
#include "tests/comm/run_threads.hpp"
#include "tutti/team/team.hpp"

namespace tutti {
namespace {

TEST(Endpoint, DeliversMessagesToOneselfInOrderAndApart) {
  communicator comm(1);
  endpoint& me = comm[0];
  int sent = 0, got = 0;
  for (int round = 0; round < 1000; ++round) {
    for (int i = 0; i < round % 40 && me.can_send(0); ++i) me.send(0, sent++);
    drain(me, [&](const received& m) {
      EXPECT_EQ(m.source, 0u);
      EXPECT_EQ(m.as<int>(), got++);
    });
  }
  EXPECT_EQ(got, sent);
  me.send(0, 1);
  EXPECT_EQ(me.idle(true), idle_result::message);
  me.release(me.recv());
  EXPECT_EQ(me.idle(true), idle_result::unanimous);
  EXPECT_EQ(me.statistics().self, static_cast<std::uint64_t>(sent) + 1);
  EXPECT_EQ(me.statistics().sent, 0u);
  EXPECT_EQ(me.statistics().received, 0u);
}

TEST(Endpoint, IsNotIdleWhileItHoldsAMessage) {
  communicator comm(1);
  endpoint& me = comm[0];
  me.send(0, 1);
  ASSERT_TRUE(me.can_recv());
  const received held = me.recv();
  const timed_idle late = me.idle_for(true, std::chrono::milliseconds(5));
  EXPECT_FALSE(late);
  ASSERT_EQ(late.missing.size(), 1u);
  EXPECT_EQ(late.missing[0].rank, 0u);
  EXPECT_EQ(late.missing[0].why, absence::holding);
  EXPECT_EQ(late.missing[0].messages, 1u);
  me.release(held);
  const timed_idle now = me.idle_for(true, std::chrono::seconds(60));
  EXPECT_TRUE(now);
  EXPECT_EQ(now.result, idle_result::unanimous);
}

TEST(Endpoint, StopsSendingWhenTheRingIsFullAndGoesOnAfterReleases) {
  communicator comm(2, {.ring_bytes = 256});
  endpoint &a = comm[0], &b = comm[1];
  int sent = 0, large = 0;
  while (a.can_send(1)) a.send(1, sent++);
  EXPECT_GT(sent, 8);
  EXPECT_LT(sent, 64);
  const std::array<std::byte, 64> largest{};
  while (a.try_send(1, largest.data(), largest.size())) ++large;
  EXPECT_LT(large, 3) << "can_send() is false only a little before the last byte is taken";
  if (!TUTTI_CHECKS) {
    EXPECT_THROW(a.send(1, largest.data(), largest.size()), std::invalid_argument);
  }
  std::vector<received> held;
  while (b.can_recv()) held.push_back(b.recv());
  EXPECT_EQ(static_cast<int>(held.size()), sent + large);
  EXPECT_FALSE(a.can_send(1)) << "received, but not released";
  for (int i = 0; i < sent; ++i) EXPECT_EQ(held[static_cast<std::size_t>(i)].as<int>(), i);
  for (const received& message : held) b.release(message);
  EXPECT_FALSE(b.can_recv());
  EXPECT_TRUE(a.can_send(1));
}

// Two participants fill each other's rings; neither may stop receiving because it cannot send.
TEST(Endpoint, DoesNotDeadlockWhenAllRingsAreFull) {
  for (const rank_t n : {2u, 5u}) {
    communicator comm(n, {.ring_bytes = 256});
    constexpr std::uint64_t each = 2'000;
    run_threads(n, [&](rank_t rank) {
      endpoint& me = comm[rank];
      std::uint64_t got = 0;
      const auto take = [&](const received&) { ++got; };
      for (std::uint64_t i = 0; i < each; ++i)
        for (rank_t to = 0; to < n; ++to) {
          while (!me.can_send(to)) drain(me, take);
          me.send(to, i);
        }
      finish(me, true, take);
      must(got == each * n, "messages are lost");
    });
  }
}

TEST(Endpoint, CarriesLargeMessages) {
  communicator comm(2, {.ring_bytes = 1024});
  constexpr int count = 300;
  const auto bytes_of = [](int k) { return static_cast<std::size_t>(k) * 577 % 70'000; };
  run_threads(2, [&](rank_t rank) {
    endpoint& me = comm[rank];
    int got = 0;
    const auto take = [&](const received& m) {
      must(m.size == bytes_of(got), "the size");
      for (const std::byte b : m.bytes()) must(b == static_cast<std::byte>(got), "the content");
      ++got;
    };
    for (int k = 0; k < count; ++k) {
      const std::vector<std::byte> data(bytes_of(k), static_cast<std::byte>(k));
      while (!me.try_send(1 - rank, data.data(), data.size())) drain(me, take);
    }
    finish(me, true, take);
    must(got == count, "messages are lost");
  });
}

TEST(Endpoint, RefusesAMessageThatNoSizeFieldHolds) {
  communicator comm(2);
  EXPECT_THROW(comm[0].try_send(1, nullptr, std::size_t{1} << 32), std::invalid_argument);
  EXPECT_THROW(comm[0].send(1, nullptr, std::size_t{1} << 32), std::invalid_argument);
}

TEST(Endpoint, WithdrawsTheVoteOfWhoeverIsWoken) {
  for (const std::string& detector : test::detector_names()) {
    communicator comm(2, {.detector = detector});
    run_threads(2, [&](rank_t rank) {
      endpoint& me = comm[rank];
      for (const bool vote : {true, false}) {
        // Rank 0 waits with this vote, is woken, and votes the opposite.
        const auto expected = vote ? idle_result::idle : idle_result::unanimous;
        if (rank == 0) {
          must(me.idle(vote) == idle_result::message, "not woken");
          drain(me);
          must(me.idle(!vote) == expected, "the first vote counted");
        } else {
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
          me.send(0, 1);
          must(me.idle(true) == expected, "the first vote counted");
        }
      }
    });
  }
}

TEST(Endpoint, FlushMakesASingleMessageVisible) {
  communicator comm(2);
  comm[0].send(1, 5);
  EXPECT_FALSE(comm[1].can_recv());
  comm[0].flush();
  ASSERT_TRUE(comm[1].can_recv());
  comm[1].release(comm[1].recv());
  comm[0].send(1, 6);
  EXPECT_FALSE(comm[0].can_recv());
  EXPECT_FALSE(comm[1].can_recv()) << "published by the first look in vain";
  EXPECT_FALSE(comm[0].can_recv());
  EXPECT_TRUE(comm[1].can_recv()) << "not published by the second";
  comm[1].release(comm[1].recv());
}

TEST(Endpoint, CombinesArraysAndStructures) {
  struct best {
    double value;
    rank_t where;
  };
  communicator comm(3);
  run_threads(3, [&](rank_t rank) {
    endpoint& me = comm[rank];
    const auto sums = me.idle(true, std::array<double, 8>{1.0 * rank, 1}, plus{});
    must(sums.value[0] == 3 && sums.value[1] == 3 && sums.value[7] == 0, "the array");
    const auto lower = [](const best& a, const best& b) { return b.value < a.value ? b : a; };
    const auto least = me.idle(true, best{rank == 1 ? -1.0 : 1.0, rank}, lower);
    must(least.value.where == 1, "the structure");
    must(me.idle(true, int(rank), maximum{}).value == 2 &&
             me.idle(true, int(rank), minimum{}).value == 0,
         "extremes");
  });
}

TEST(Group, IsIdleOnItsOwn) {
  communicator comm(4);
  communicator pair = comm.group({3, 1});
  EXPECT_EQ(pair.size(), 2u);
  EXPECT_EQ(&pair.of(1), &pair[1]);
  EXPECT_EQ(pair.of(3).rank(), 0u);
  run_threads(4, [&](rank_t rank) {
    if (rank == 1 || rank == 3) {
      endpoint& me = pair.of(rank);
      // Neither the two ranks that never come here nor messages outside the group keep it from
      // ending.
      comm[rank].send(0, 1);
      for (int episode = 0; episode < 1000; ++episode) {
        me.send(1 - me.rank(), episode);
        int got = 0;
        finish(me, true, [&](const received&) { ++got; });
        must(got == 1, "a message of the group");
      }
    }
    finish(comm[rank], true);
  });
}

TEST(Group, RefusesWhoIsNone) {
  communicator comm(4);
  EXPECT_THROW((void)comm.group({}), std::invalid_argument);
  EXPECT_THROW((void)comm.group({1, 4}), std::invalid_argument);
  EXPECT_THROW((void)comm.group({1, 2, 1}), std::invalid_argument);
  communicator pair = comm.group({3, 1});
  EXPECT_THROW((void)pair.of(0), std::out_of_range);
}

TEST(Communicator, RefusesWhatItCannotBe) {
  EXPECT_THROW(communicator(0), std::invalid_argument);
  EXPECT_THROW(communicator(4096), std::invalid_argument);
  EXPECT_THROW(communicator(2, {.detector = "telepathy"}), std::invalid_argument);
  EXPECT_THROW(communicator(2, {.wait = "nap"}), std::invalid_argument);
  for (const std::size_t bytes : {(std::size_t{1} << 30) + 1, std::size_t{1} << 62, SIZE_MAX})
    EXPECT_THROW(communicator(2, {.ring_bytes = bytes}), std::invalid_argument);
  communicator two(2);
  EXPECT_THROW((void)two[2], std::out_of_range);
}

TEST(Communicator, CountsTheTimeInIdleIfAsked) {
  communicator comm(2, {.time_idle = true});
  run_threads(2, [&](rank_t rank) {
    if (rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    finish(comm[rank], true);
  });
  EXPECT_GT(comm[0].statistics().idle_ns, 5'000'000u);
  EXPECT_EQ(communicator(1)[0].statistics().idle_ns, 0u);
}

// Virtual ranks: a fiber that waits, or cannot send, lets the other fibers of its thread run.
TEST(Communicator, ServesTheFibersOfATeam) {
  constexpr rank_t ranks = 24;
  for (const std::string& detector : test::detector_names()) {
    tutti::team team(team_options{.threads = 2, .ranks = ranks});
    communicator comm(ranks, {.detector = detector, .ring_bytes = 256});
    std::vector<std::uint64_t> got(ranks);
    team.run([&](member& m) {
      endpoint& me = comm[m.rank()];
      const auto take = [&](const received&) { ++got[m.rank()]; };
      for (int episode = 0; episode < 5; ++episode) {
        for (int i = 0; i < 100; ++i) {
          while (!me.can_send((m.rank() + 1) % ranks)) drain(me, take);
          me.send((m.rank() + 1) % ranks, i);
        }
        finish(me, true, take);
      }
    });
    for (const std::uint64_t count : got) EXPECT_EQ(count, 500u);
  }
}

}  // namespace
}  // namespace tutti
