// SPDX-License-Identifier: Apache-2.0
// The rank that decides how all ranks of a node wait: what it learns from waits of given lengths.
#include "preload/mpi/joint_patience.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace tutti::preload {
namespace {

// How long a wait takes when all ranks yield, and when all sleep.
struct machine {
  std::uint64_t yields_ns, sleeps_ns;
};

struct account {
  int asleep = 0, timed = 0;
  std::uint64_t sum_ns = 0;
};

account wait_on(machine m, joint_patience& rank, int waits, bool is_crowded = true) {
  account all;
  for (int i = 0; i < waits; ++i) {
    const bool sleeps = rank.chosen().is_passive();
    const std::uint64_t ns = sleeps ? m.sleeps_ns : m.yields_ns;
    all.asleep += sleeps ? 1 : 0;
    all.sum_ns += ns;
    if (!rank.looks()) continue;
    ++all.timed;
    rank.learn(ns, is_crowded);
  }
  return all;
}

// 16 ranks on two CPUs, in sessions of their own; the same beside a busy process.
constexpr machine free_cpus{50'000, 150'000}, busy_cpus{2'000'000, 200'000};

TEST(joint_patience, yields_where_yields_are_fast) {
  joint_patience rank;
  EXPECT_EQ(wait_on(free_cpus, rank, 100'000).asleep, 0);
}

TEST(joint_patience, sleeps_where_yields_achieve_nothing) {
  joint_patience rank;
  wait_on(busy_cpus, rank, 1'000);
  EXPECT_TRUE(rank.chosen().is_passive());
  // The trials of yields cost little.
  constexpr int waits = 100'000;
  EXPECT_LT(wait_on(busy_cpus, rank, waits).sum_ns, waits * busy_cpus.sleeps_ns * 11 / 10);
}

TEST(joint_patience, yields_again_soon_after_a_disturbance) {
  joint_patience rank;
  wait_on(free_cpus, rank, 1'000);
  wait_on({3'000'000, 400'000}, rank, 200);
  EXPECT_LT(wait_on(free_cpus, rank, 10'000).asleep, 600);
  EXPECT_FALSE(rank.chosen().is_passive());
}

TEST(joint_patience, yields_again_when_the_busy_process_has_gone) {
  joint_patience rank;
  wait_on(busy_cpus, rank, 1'000'000);
  const int longest = 4 * static_cast<int>(joint_patience::options.longest_rest +
                                           2 * joint_patience::options.looks_to_decide);
  wait_on(free_cpus, rank, longest);
  EXPECT_FALSE(rank.chosen().is_passive());
  EXPECT_EQ(wait_on(free_cpus, rank, 1'000).asleep, 0);
}

TEST(joint_patience, is_not_moved_by_a_few_long_waits) {
  joint_patience rank;
  for (int i = 0; i < 10'000; ++i) {
    if (rank.looks()) rank.learn(i % 3 == 0 ? 3'000'000 : 50'000, true);
    ASSERT_FALSE(rank.chosen().is_passive()) << i;
  }
}

TEST(joint_patience, sleeps_rarely_if_waits_are_long_either_way) {
  // Somebody is a millisecond late each time: a wake-up only adds to it.
  joint_patience rank;
  constexpr int waits = 100'000;
  EXPECT_LT(wait_on({1'000'000, 1'030'000}, rank, waits, false).asleep, waits / 20);
}

TEST(joint_patience, yields_for_longer_on_a_cpu_of_its_own) {
  joint_patience rank;
  wait_on(free_cpus, rank, 100, false);
  EXPECT_EQ(rank.chosen(), patience::of_ns(joint_patience::options.yielding_ns));
  wait_on(free_cpus, rank, 100, true);
  EXPECT_EQ(rank.chosen(), patience::of_ns(joint_patience::options.crowded_yielding_ns));
}

TEST(joint_patience, seldom_reads_the_clock_in_short_waits) {
  joint_patience rank;
  EXPECT_LE(wait_on({50, 10'000}, rank, 6'400).timed, 101);
}

}  // namespace
}  // namespace tutti::preload
