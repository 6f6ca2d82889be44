// SPDX-License-Identifier: Apache-2.0
// Tests the instructions on the whole system, with the kernel of software/ and the programs of
// software/tests.c on top of it. TUTTI_ISA_TESTS_IMAGE names the programs' image.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "system.hpp"

namespace {

using tutti::isa::check_episodes;
using tutti::isa::event;
using tutti::isa::interrupt;
using tutti::isa::parameter;
using tutti::isa::settings;
using tutti::isa::system;
using tutti::isa::tag;

enum program : std::uint32_t {
  episodes,
  absent,
  protection,
  vetting,
  wanderer,
  atomics,
  masked,
  beyond,
  comes_back,
  preempted,
  destroyed_early,
  destroyed_late
};

constexpr const char* image = TUTTI_ISA_TESTS_IMAGE;
constexpr std::uint32_t patience = 1;
constexpr std::uint32_t error_timeout = 0xffffffff, error_list = 0xfffffffe,
                        error_full = 0xfffffffd, error_owner = 0xfffffffc, error_call = 0xfffffffb;
constexpr std::uint32_t broken = 0x80000000;

settings with(program p, unsigned cores, std::uint32_t count = 0) {
  settings s;
  s.cores = cores;
  s[parameter::program] = p;
  s[parameter::episodes] = count;
  s[parameter::timeout] = 200000;
  s[parameter::seed] = cores;
  return s;
}

// Episodes with a unit at this distance from the cores. Before each, a thread pauses at random.
settings episodes_at(unsigned distance, unsigned cores, std::uint32_t count, std::uint32_t pause) {
  settings s = with(episodes, cores, count);
  s.unit_distance = distance;
  s[parameter::a] = pause;
  return s;
}

// Checks the program's own verdict and the harness's, and that no core halted.
void expect_correct(const system& m, unsigned cores, unsigned threads, std::uint32_t count) {
  for (unsigned c = 0; c < cores; ++c) EXPECT_FALSE(m.halted(c)) << "core " << c;
  for (const auto& sentence : check_episodes(m.events(), cores, threads, count))
    ADD_FAILURE() << sentence;
  const auto verdicts = m.data(tag::value);
  EXPECT_EQ(verdicts.size(), std::size_t{cores} * threads);
  for (const std::uint32_t errors : verdicts) EXPECT_EQ(errors, 0u);
}

class sizes : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(all, sizes, testing::Values(1, 2, 3, 7, 16));

TEST_P(sizes, nobody_departs_before_the_last_arrival) {
  for (const unsigned distance : {0u, 9u}) {
    // Arrivals come early, late, and at once again, so generations overlap.
    system m(image, episodes_at(distance, GetParam(), 40, 40));
    ASSERT_TRUE(m.run(400000));
    expect_correct(m, GetParam(), 1, 40);
  }
}

TEST_P(sizes, interrupts_during_waits_neither_lose_nor_double_an_arrival) {
  for (const unsigned distance : {0u, 5u}) {
    const settings s = episodes_at(distance, GetParam(), 40, 60);
    system m(image, s);
    std::mt19937 random(GetParam());
    std::vector<interrupt> at;
    for (std::uint64_t cycle = 2000; cycle < 150000; cycle += 1 + random() % 1200)
      at.push_back({cycle, static_cast<unsigned>(random() % s.cores)});
    m.interrupts(at);
    ASSERT_TRUE(m.run(800000));
    expect_correct(m, s.cores, 1, 40);
    if (s.cores > 1) {
      EXPECT_GT(m.count(tag::restart), 3u) << "no wait was interrupted";
    }
  }
}

TEST_P(sizes, two_groups_share_each_core) {
  settings s = episodes_at(3, GetParam(), 12, 20);
  s[parameter::threads] = 2;
  s[parameter::quantum] = 1500;
  system m(image, s);
  ASSERT_TRUE(m.run(3000000));
  expect_correct(m, s.cores, 2, 12);
  EXPECT_GT(m.count(tag::thread_switch), 4u);
  if (s.cores > 1) {
    EXPECT_GT(m.count(tag::restart), 0u) << "no wait was in the middle at a switch";
  }
}

TEST(barwait, reports_who_is_missing_after_the_timeout) {
  for (const auto& [cores, before] : std::vector<std::pair<unsigned, std::uint32_t>>{
           {2, 0}, {3, 0}, {7, 0}, {16, 0}, {3, 1}, {7, 1}, {16, 1}, {16, 4}}) {
    settings s = with(absent, cores, before);
    s[parameter::timeout] = 3000;
    system m(image, s);
    ASSERT_TRUE(m.run(100000));
    const std::uint32_t missing = 1u << (cores - 1);
    ASSERT_GE(m.count(tag::timeout), 1u);
    // The first core to time out may find others still on their way; the core that breaks the
    // barrier reports the absent one.
    EXPECT_EQ(m.data(tag::timeout).back(), missing);
    EXPECT_EQ(m.count(tag::broken), 1u) << "the barrier breaks once";
    // All waiting cores are told, and so is the late one.
    EXPECT_EQ(m.data(tag::value), std::vector<std::uint32_t>(cores, broken | missing));
  }
}

TEST(barwait, a_broken_barriers_place_waits_until_all_have_heard) {
  for (const unsigned cores : {2u, 5u, 16u}) {
    settings s = with(comes_back, cores);
    s[parameter::timeout] = 20000;
    system m(image, s);
    ASSERT_TRUE(m.run(400000));
    const std::uint32_t told = broken | 1u << (cores - 1);
    EXPECT_EQ(m.count(tag::broken), 1u);
    // The late core is told of the first barrier, and arrives with the others at the second.
    EXPECT_EQ(m.data(tag::value, 0), (std::vector<std::uint32_t>{told, 1, 0, 0}));
    for (unsigned c = 1; c < cores; ++c)
      EXPECT_EQ(m.data(tag::value, static_cast<int>(c)), (std::vector<std::uint32_t>{told, 0, 0}));
  }
}

TEST(barwait, a_break_leaves_the_departure_that_a_preempted_thread_is_owed) {
  settings s = with(preempted, 2);
  s[parameter::threads] = 2;
  s[parameter::quantum] = 20000;
  s[parameter::timeout] = 9000;
  // Core 0 comes when core 1 runs its other thread.
  s[parameter::a] = 1000;
  // Core 1 waits for less than its timeout before that.
  s[parameter::b] = 600;
  system m(image, s);
  ASSERT_TRUE(m.run(200000));
  const std::uint32_t told = broken | 1u << 1;
  EXPECT_EQ(m.count(tag::restart), 1u) << "core 1 was not preempted in its wait";
  EXPECT_EQ(m.count(tag::broken), 1u);
  EXPECT_EQ(m.data(tag::timeout), std::vector<std::uint32_t>{1u << 1});
  for (const int core : {0, 1}) {
    auto values = m.data(tag::value, core);
    // This also removes those of thread 1.
    std::erase(values, 0u);
    EXPECT_EQ(values, std::vector<std::uint32_t>{told}) << core;
    EXPECT_EQ(m.data(tag::value, core).size(), 4u);
  }
}

TEST(barwait, a_destroyed_barrier_lets_those_depart_whose_episode_is_complete) {
  // The interrupt comes into core 1's wait at another time before core 0 arrives in each run.
  std::size_t restarts = 0;
  for (std::uint64_t before = 0; before < 200; before += 30) {
    settings s = with(destroyed_early, 2);
    s[parameter::a] = 100;
    system probe(image, s);
    while (probe.arrivals() < 2 && probe.cycle() < 50000) probe.step(1);
    system m(image, s);
    m.interrupts({{probe.cycle() - before, 1}});
    ASSERT_TRUE(m.run(100000));
    restarts += m.count(tag::restart);
    EXPECT_EQ(m.data(tag::value), std::vector<std::uint32_t>(2, 0)) << before;
  }
  EXPECT_GT(restarts, 0u) << "no wait was interrupted";
}

TEST(barwait, a_barrier_is_destroyed_once_while_a_preempted_thread_is_owed_its_departure) {
  settings s = with(destroyed_early, 2);
  s[parameter::threads] = 2;
  s[parameter::quantum] = 20000;
  // Core 0 comes when core 1 runs its other thread.
  s[parameter::a] = 1000;
  system m(image, s);
  ASSERT_TRUE(m.run(200000));
  EXPECT_EQ(m.count(tag::restart), 1u) << "core 1 was not preempted in its wait";
  EXPECT_EQ(m.data(tag::value), std::vector<std::uint32_t>(4, 0));
}

TEST(barwait, a_timeout_at_a_barrier_that_was_just_destroyed_is_an_error_of_its_owner) {
  for (std::uint32_t timeout = 1600; timeout < 2100; timeout += 60) {
    settings s = with(destroyed_late, 2);
    s[parameter::timeout] = timeout;
    s[parameter::a] = 100;
    system m(image, s);
    ASSERT_TRUE(m.run(100000)) << timeout;
    const auto results = m.data(tag::value, 1);
    ASSERT_EQ(results.size(), 1u) << timeout;
    // Either the break or the destruction came first.
    if (m.count(tag::broken) == 0) {
      EXPECT_EQ(results[0], error_owner) << timeout;
    } else {
      EXPECT_EQ(results[0], broken | 1u) << timeout;
    }
  }
}

TEST(barwait, traps_when_the_timeout_says_and_not_before) {
  // Cycles from the end of the timeout to the handler's report.
  std::set<std::uint64_t> handler;
  for (const std::uint32_t timeout : {1000u, 5000u}) {
    settings s = with(absent, 2);
    s[parameter::timeout] = timeout;
    system m(image, s);
    // The timeout begins with the first arrival; the late core's is the other one.
    while (m.arrivals() == 0 && m.cycle() < 50000) m.step(1);
    const std::uint64_t arrived = m.cycle();
    ASSERT_TRUE(m.run(100000));
    EXPECT_EQ(m.arrivals(), 2u);
    std::uint64_t trapped = 0;
    for (const event& e : m.events())
      if (e.tag == tag::timeout) trapped = e.cycle;
    ASSERT_GE(trapped, arrived + timeout);
    handler.insert(trapped - arrived - timeout);
  }
  // They are some hundred, and the same for each timeout: it counts every cycle.
  EXPECT_EQ(handler.size(), 1u);
  EXPECT_LT(*handler.begin(), 1000u);
}

TEST(barwait, a_patient_kernel_lets_the_late_one_come) {
  settings s = with(episodes, 4, 5);
  s[parameter::timeout] = 1000;
  s[parameter::policy] = patience;
  // Core 0 takes several timeouts.
  s[parameter::b] = 300;
  system m(image, s);
  ASSERT_TRUE(m.run(400000));
  expect_correct(m, 4, 1, 5);
  EXPECT_GT(m.count(tag::timeout), 10u);
  for (const std::uint32_t missing : m.data(tag::timeout)) EXPECT_TRUE(missing & 1u) << missing;
  EXPECT_EQ(m.count(tag::broken), 0u);
}

TEST(barwait, moves_to_another_core_in_the_middle_of_a_wait) {
  for (const unsigned cores : {3u, 8u, 16u})
    for (const std::uint64_t later : {40u, 41u, 55u}) {
      settings s = with(wanderer, cores, 20);
      s.unit_distance = cores == 3 ? 0 : 6;
      // Core 0 is late, so the others wait most of the time.
      s[parameter::b] = 40;
      s[parameter::move_to] = cores - 1;
      system m(image, s);
      while (m.data(tag::arrive, 1).size() < 7 && m.cycle() < 50000) m.step(1);
      m.interrupts({{m.cycle() + later, 1}});
      // The core whose thread moved away never exits by itself.
      for (int i = 0; i < 100 && m.count(tag::value) < cores - 1u; ++i) m.step(1000);
      EXPECT_EQ(m.data(tag::moved), std::vector<std::uint32_t>{cores - 1}) << later;
      for (const auto& sentence : check_episodes(m.events(), cores - 1, 1, 20))
        ADD_FAILURE() << later << ": " << sentence;
      EXPECT_EQ(m.data(tag::value), std::vector<std::uint32_t>(cores - 1, 0u));
    }
}

TEST(barwait, starts_anew_after_a_reset_in_the_middle) {
  for (const std::uint64_t when : {7000u, 9001u, 12345u}) {
    system m(image, episodes_at(4, 5, 12, 60));
    m.step(when);
    EXPECT_GT(m.count(tag::arrive), 0u);
    EXPECT_GT(m.arrivals(), 0u);
    m.interrupts({{m.cycle() + 1, 0}});
    m.reset();
    EXPECT_EQ(m.arrivals(), 0u);
    ASSERT_TRUE(m.run(400000));
    expect_correct(m, 5, 1, 12);
    EXPECT_EQ(m.count(tag::restart), 0u) << "an interrupt from before the reset";
  }
}

TEST(privilege, another_groups_barrier_is_out_of_reach) {
  settings s = with(protection, 2);
  s[parameter::threads] = 2;
  s[parameter::quantum] = 2000;
  system m(image, s);
  ASSERT_TRUE(m.run(200000));
  // Core 0: the other thread of the same core is refused because of its group, not because of its
  // place in the list. barwait(b), barwait(200), destroy; its result; the owner's errors.
  auto zero = m.data(tag::value, 0);
  std::sort(zero.begin(), zero.end());
  EXPECT_EQ(zero, (std::vector<std::uint32_t>{0, 0, error_owner, error_owner, error_owner}));
  EXPECT_EQ(m.data(tag::denied, 0).size(), 2u);
  // Core 1: two barwaits refused, no privilege, nothing read from the kernel's memory, no
  // destruction, its own result; then thread 0's.
  const auto one = m.data(tag::value, 1);
  ASSERT_EQ(one.size(), 7u);
  EXPECT_EQ(std::count(one.begin(), one.end(), error_owner), 3);
  EXPECT_EQ(std::count(one.begin(), one.end(), 0u), 4);
  // Two barwaits, seven privileged instructions, two that do not exist, an atomic on the kernel's
  // lock.
  EXPECT_EQ(m.data(tag::denied, 1).size(), 12u);
  // The kernel's data, its code, its shared state twice, two devices.
  EXPECT_EQ(m.data(tag::fault, 1).size(), 6u);
  EXPECT_EQ(m.data(tag::fault, 0).size(), 0u);
}

TEST(privilege, the_kernel_vets_lists_and_timeouts) {
  for (const unsigned cores : {4u, 16u}) {
    system m(image, with(vetting, cores));
    ASSERT_TRUE(m.run(200000));
    auto values = m.data(tag::value, 0);
    // create_barrier refuses a list of 17 names because it is too long.
    const std::vector<std::uint32_t> expected{
        error_timeout, error_timeout, error_list, error_list, error_list,  error_list, error_list,
        error_call,    error_full,    8,          0,          error_owner, 3,          0};
    EXPECT_EQ(values, expected);
  }
}

TEST(privilege, nothing_is_behind_the_end_of_the_memory) {
  for (const bool posted : {false, true}) {
    settings s = with(beyond, 3);
    s.posted = posted;
    system m(image, s);
    ASSERT_TRUE(m.run(100000));
    EXPECT_EQ(m.data(tag::value), std::vector<std::uint32_t>(3, 0u));
    for (int core = 0; core < 3; ++core) {
      EXPECT_EQ(m.data(tag::fault, core).size(), 3u);
      EXPECT_EQ(m.data(tag::denied, core).size(), 1u);
    }
  }
}

TEST(privilege, masking_interrupts_halts_the_core_and_never_lets_it_pass) {
  settings s = with(masked, 3);
  s[parameter::timeout] = 2000;
  system m(image, s);
  ASSERT_TRUE(m.run(50000));
  EXPECT_FALSE(m.halted(0));
  EXPECT_TRUE(m.halted(1) && m.halted(2));
  EXPECT_EQ(m.count(tag::arrive), 2u);
  EXPECT_EQ(m.count(tag::depart), 0u);
}

TEST(atomics, count_right_and_the_rest_stays_illegal) {
  for (const bool posted : {false, true}) {
    settings s = with(atomics, 4);
    s.posted = posted;
    system m(image, s);
    ASSERT_TRUE(m.run(200000));
    EXPECT_EQ(m.data(tag::value), std::vector<std::uint32_t>(4, 0u));
    for (int core = 0; core < 4; ++core) EXPECT_EQ(m.data(tag::denied, core).size(), 4u);
  }
}

// A core alone, whose data are nearly all in the bank beside it.
TEST(memory, the_latency_does_not_count_for_the_bank_beside_the_core) {
  const auto cycles = [](bool near, unsigned latency) {
    settings s = with(atomics, 1);
    s.near = near;
    s.posted = false;
    s.mem_latency = latency;
    system m(image, s);
    EXPECT_TRUE(m.run(200000));
    return m.cycle();
  };
  const std::uint64_t slower = cycles(false, 20) - cycles(false, 2);
  EXPECT_GE(slower, 100u * 18);
  EXPECT_LT(cycles(true, 20) - cycles(true, 2), slower / 10);
}

TEST(harness, refuses_bad_settings) {
  settings s;
  s.cores = 17;
  EXPECT_THROW(system(image, s), std::invalid_argument);
  s = {};
  s.mem_latency = 1;
  EXPECT_THROW(system(image, s), std::invalid_argument);
  s = {};
  s.unit_distance = 64;
  EXPECT_THROW(system(image, s), std::invalid_argument);
  EXPECT_THROW(system("/no/such/image", settings{}), std::runtime_error);
}

// Tests the checker itself: it must detect what the tests above rely on.
TEST(harness, sees_early_missing_and_doubled_departures) {
  const std::vector<event> good{{1, 0, tag::arrive, 1},
                                {2, 1, tag::arrive, 1},
                                {3, 0, tag::depart, 1},
                                {4, 1, tag::depart, 1}};
  EXPECT_TRUE(check_episodes(good, 2, 1, 1).empty());
  auto early = good;
  std::swap(early[1], early[2]);
  EXPECT_FALSE(check_episodes(early, 2, 1, 1).empty());
  auto missing = good;
  missing.pop_back();
  EXPECT_FALSE(check_episodes(missing, 2, 1, 1).empty());
  auto doubled = good;
  doubled.push_back(good.back());
  EXPECT_FALSE(check_episodes(doubled, 2, 1, 1).empty());
}

}  // namespace
