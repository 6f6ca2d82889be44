// SPDX-License-Identifier: Apache-2.0
// Barriers, reductions, teams, communicators, detectors and events on a platform that is not the
// native one (fibered.hpp): many seeded schedules, a simulated clock and a chosen number of CPUs.
// Nothing of them may reach around the platform: the program counts the calls that reach the host.

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "tests/conformance/on_platform.hpp"
#include "tests/platform/fibered.hpp"
#include "tutti/barrier/barrier.hpp"
#include "tutti/comm/communicator.hpp"
#include "tutti/registry.hpp"

namespace tutti::test {
namespace {

// ---- calls of the host while a world runs

std::vector<std::string> host_calls;

void note_host_call(const char* name) {
  if (fibered_world::current() != nullptr) host_calls.emplace_back(name);
}

template <class Function>
Function* next_of(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace tutti::test

// These replace the functions of the C library in this program, and call them.
extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  tutti::test::note_host_call("clock_gettime");
  static const auto real = tutti::test::next_of<int(clockid_t, timespec*)>("clock_gettime");
  return real(clock, time);
}
int sched_yield() noexcept {
  tutti::test::note_host_call("sched_yield");
  static const auto real = tutti::test::next_of<int()>("sched_yield");
  return real();
}
int sched_getcpu() noexcept {
  tutti::test::note_host_call("sched_getcpu");
  static const auto real = tutti::test::next_of<int()>("sched_getcpu");
  return real();
}
int pthread_create(pthread_t* made, const pthread_attr_t* how, void* (*body)(void*),
                   void* argument) noexcept {
  tutti::test::note_host_call("pthread_create");
  static const auto real =
      tutti::test::next_of<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>(
          "pthread_create");
  return real(made, how, body, argument);
}
int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  tutti::test::note_host_call("pthread_mutex_lock");
  static const auto real = tutti::test::next_of<int(pthread_mutex_t*)>("pthread_mutex_lock");
  return real(mutex);
}

}  // extern "C"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;
using team = basic_team<fibered>;
using member = basic_member<fibered>;
using communicator = basic_communicator<fibered>;

constexpr std::uint64_t seeds = 12;

class Platform : public testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override { host_calls.clear(); }
  void TearDown() override {
    for (const std::string& name : host_calls) ADD_FAILURE() << "the host was asked: " << name;
  }
  // Runs the body as thread 0 of a world.
  template <class Body>
  fibered_world& run(Body body, std::uint32_t cpus = 4) {
    world_.emplace(fibered_options{.cpus = cpus, .seed = GetParam()});
    world_->run(body);
    return *world_;
  }

 private:
  std::optional<fibered_world> world_;
};
INSTANTIATE_TEST_SUITE_P(Seeds, Platform, testing::Range<std::uint64_t>(1, seeds + 1));

// Calls body(rank) in n threads and returns when all have ended.
template <class Body>
void on_threads(rank_t n, Body body) {
  std::vector<std::size_t> numbers;
  for (rank_t rank = 1; rank < n; ++rank)
    numbers.push_back(fibered_world::current()->start([&body, rank] { body(rank); }));
  body(0);
  for (const std::size_t number : numbers) fibered_world::current()->join(number);
}

// How the shared cases run here.
struct stage_of_fibers {
  using memory = fibered;
  template <class Body>
  void on_threads(rank_t n, Body body) {
    test::on_threads(n, body);
  }
  static void spend(std::uint64_t ns) { fibered_world::current()->yield(ns); }
  static void expect(bool holds, const auto&... what) {
    EXPECT_TRUE(holds) << (testing::Message() << ... << what);
  }
};
stage_of_fibers stage;
const cases_on_platform cases(stage);

// ---- barriers

// Nobody may leave an episode before all have arrived in it.
template <class Barrier>
void check_episodes(Barrier& barrier, rank_t n, std::uint32_t episodes, const std::string& name) {
  std::vector<std::uint32_t> arrived(n);
  on_threads(n, [&](rank_t rank) {
    for (std::uint32_t episode = 1; episode <= episodes; ++episode) {
      arrived[rank] = episode;
      barrier.arrive_and_wait(rank);
      for (rank_t other = 0; other < n; ++other)
        EXPECT_GE(arrived[other], episode) << name << ": rank " << rank << " left before " << other;
    }
  });
}

template <class Wait, class... Algorithm>
void check_algorithms(std::tuple<Algorithm...>*) {
  using wait = typename Wait::template type<fibered>;
  (
      [] {
        for (const rank_t n : {1u, 2u, 5u}) {
          const auto barrier = Algorithm::template make<fibered, wait>(n);
          check_episodes(*barrier, n, 6,
                         std::string(Algorithm::info.name) + "_" + std::string(Wait::info.name));
        }
      }(),
      ...);
}
template <class... Wait>
void check_waits(std::tuple<Wait...>*) {
  (check_algorithms<Wait>(static_cast<registry::algorithms*>(nullptr)), ...);
}

TEST_P(Platform, RunsEveryBarrierWithEveryWait) {
  run([] { check_waits(static_cast<registry::waits*>(nullptr)); });
}

using default_barrier = tutti::barrier<no_completion, fibered>;

TEST_P(Platform, RunsTheDefaultBarrier) {
  for (const std::uint32_t cpus : {1u, 16u})
    run(
        [] {
          default_barrier barrier(7);
          check_episodes(barrier, 7, 10, "default");
          std::vector<int> count(1);
          default_barrier anonymous(3);
          on_threads(3, [&](rank_t) {
            for (int i = 0; i < 5; ++i) {
              ++count[0];
              anonymous.arrive_and_wait();
              EXPECT_GE(count[0], 3 * (i + 1));
            }
          });
        },
        cpus);
}

TEST_P(Platform, ChoosesByItsOwnNumberOfCpus) {
  const auto trace = [&](std::uint32_t cpus) {
    return run(
               [] {
                 default_barrier barrier(8);
                 check_episodes(barrier, 8, 3, "default");
               },
               cpus)
        .steps();
  };
  // One counter for eight participants on four CPUs, stripes on 64.
  EXPECT_NE(trace(4), trace(64));
}

TEST_P(Platform, DeadlinesPassOnItsClock) {
  const fibered_world& world = run([] {
    default_barrier barrier(2);
    const std::uint64_t before = fibered::now_ns();
    const timed_result late = barrier.arrive_and_wait_for(1, 10s);
    EXPECT_FALSE(late.in_time);
    EXPECT_EQ(late.missing_ranks, std::vector<rank_t>{0});
    EXPECT_GE(fibered::now_ns() - before, 10'000'000'000u);
    const auto at = std::chrono::steady_clock::time_point(
        std::chrono::nanoseconds(fibered::now_ns() + 1'000'000));
    EXPECT_FALSE(barrier.wait_until(late.phase, at).in_time);
    barrier.arrive_and_wait(0);
    EXPECT_TRUE(barrier.wait_for(late.phase, 1ms).in_time);
  });
  EXPECT_LT(world.steps(), 10'000'000u);
}

// ---- reductions

TEST_P(Platform, ReducesWithTheSameBits) {
  for (const std::uint32_t cpus : {1u, 64u})
    run(
        [] {
          for (const rank_t n : {1u, 2u, 5u, 11u})
            cases.reduce<adaptive_wait<fibered>>(n, 5, "adaptive");
          cases.reduce_with_a_deadline();
        },
        cpus);
}

// ---- teams

TEST_P(Platform, RunsRegions) {
  for (const rank_t threads : {1u, 2u, 5u, 20u})
    for (const std::uint32_t cpus : {2u, 64u}) run([threads] { cases.regions(threads); }, cpus);
}

TEST_P(Platform, RunsLoops) {
  run([] { cases.loops(4); }, 4);
}

TEST_P(Platform, EndsRegionsThatFailOrAreLate) {
  for (const std::uint32_t cpus : {2u, 64u}) run([] { cases.failed_and_late_regions(); }, cpus);
}

TEST_P(Platform, RefusesWhatItLacks) {
  run([] {
    EXPECT_THROW(team({.threads = 2, .ranks = 4}), std::invalid_argument);
    EXPECT_THROW(team({.threads = 2, .barrier = "mcs"}), std::invalid_argument);
    EXPECT_EQ(team().size(), fibered::cores());
  });
}

// ---- communicators

// Each participant passes on messages, each of which has some more steps to go, until no message is
// left.
void pass_messages(communicator& all, rank_t rank, std::vector<int>& received) {
  auto& me = all[rank];
  me.send_wait((rank + 1) % me.size(), 10, [](const tutti::received&) {});
  const auto take = [&](const tutti::received& message) {
    ++received[rank];
    return message.as<int>();
  };
  while (me.idle(true) == idle_result::message) {
    const auto message = me.recv();
    const int left = take(message) - 1;
    me.release(message);
    if (left < 0) continue;
    const rank_t to = (rank + static_cast<rank_t>(left)) % me.size();
    while (!me.try_send(to, &left, sizeof left)) {
    }
  }
}

TEST_P(Platform, DetectsTheEndOfMessages) {
  for (const char* const detector : {"", "counter", "snapshot", "star", "tree", "ring", "waves"})
    for (const char* const wait : {"adaptive", "park", "spin"})
      run(
          [=] {
            constexpr rank_t n = 4;
            communicator all(n, {.detector = detector, .wait = wait});
            for (int round = 0; round < 2; ++round) {
              std::vector<int> received(n);
              on_threads(n, [&](rank_t rank) { pass_messages(all, rank, received); });
              int sum = 0;
              for (const int each : received) sum += each;
              EXPECT_EQ(sum, 11 * static_cast<int>(n)) << detector << " " << wait;
            }
          },
          16);
}

TEST_P(Platform, TellsWhoKeepsIdleFromEnding) {
  run([] {
    communicator all(2);
    const auto late = all[0].idle_for(true, 5s);
    EXPECT_FALSE(late.in_time);
    ASSERT_EQ(late.missing.size(), 1u);
    EXPECT_EQ(late.missing[0].rank, 1u);
  });
}

// ---- events

template <class... Wait>
void check_events_with(std::tuple<Wait...>*) {
  (cases.notify<typename Wait::template type<event_memory<fibered>>>(4, 5, Wait::info.name.data()),
   ...);
}

TEST_P(Platform, NotifiesByEveryKindOfEvent) {
  for (const std::uint32_t cpus : {1u, 16u})
    run([] { check_events_with(static_cast<registry::waits*>(nullptr)); }, cpus);
}

// ---- the world itself

TEST(World, RepeatsARunWithTheSameSeed) {
  const auto trace = [](std::uint64_t seed) {
    fibered_world world({.cpus = 4, .seed = seed});
    world.run([] {
      team all(4);
      for (int i = 0; i < 5; ++i) all.run([](member& me) { me.reduce(plus{}, 1.0); });
    });
    return world.trace();
  };
  EXPECT_EQ(trace(1), trace(1));
  EXPECT_NE(trace(1), trace(2));
}

TEST(World, CountsCallsOfTheHost) {
  host_calls.clear();
  fibered_world world({});
  world.run([] { native::yield(); });
  EXPECT_EQ(host_calls, std::vector<std::string>{"sched_yield"});
}

TEST(WorldDeathTest, ReportsThatAllThreadsSleep) {
  EXPECT_DEATH(
      {
        fibered_world world({});
        world.run([] {
          ticket_barrier<fibered, park_wait<fibered>> barrier(2);
          barrier.arrive_and_wait(0);
        });
      },
      "all threads sleep");
}

}  // namespace
}  // namespace tutti::test
