// SPDX-License-Identifier: Apache-2.0
// Barriers, reductions, teams, communicators, detectors and events on a platform that is not the
// native one (fibered.hpp): many seeded schedules, a simulated clock and a chosen number of CPUs.
// Nothing of them may reach around the platform: the program counts the calls that reach the host.

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <array>
#include <chrono>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "tests/platform/fibered.hpp"
#include "tutti/barrier/barrier.hpp"
#include "tutti/comm/communicator.hpp"
#include "tutti/event/condition_variable.hpp"
#include "tutti/event/event.hpp"
#include "tutti/event/workers.hpp"
#include "tutti/reduce/reduction.hpp"
#include "tutti/registry.hpp"
#include "tutti/team/on_platform.hpp"

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
          for (const auto algorithm :
               {reduction_algorithm::tuttis_choice, reduction_algorithm::exchange,
                reduction_algorithm::tree, reduction_algorithm::counted})
            for (const rank_t n : {1u, 2u, 5u, 11u}) {
              const auto value = [](rank_t rank) { return 1.0 / (1.0 + rank); };
              const double sum = schedule::fold(0, n, value, plus{});
              reduction<double, plus, fibered> total(n, {}, algorithm);
              on_threads(n, [&](rank_t rank) {
                for (int i = 0; i < 5; ++i) EXPECT_EQ(total.all(rank, value(rank)), sum);
              });
            }
          reduction<int, plus, fibered> lacking(2);
          EXPECT_EQ(lacking.all_for(0, 1, 1ms), std::nullopt);
          EXPECT_EQ(lacking.missing_ranks(0), std::vector<rank_t>{1});
        },
        cpus);
}

// ---- teams

TEST_P(Platform, RunsRegions) {
  for (const rank_t threads : {1u, 2u, 5u, 20u})
    for (const std::uint32_t cpus : {2u, 64u})
      run(
          [threads] {
            team all(threads);
            EXPECT_EQ(all.size(), threads);
            for (int region = 0; region < 5; ++region) {
              std::vector<int> seen(threads);
              all.run([&](member& me) {
                ++seen[me.rank()];
                me.barrier();
                for (rank_t r = 0; r < me.size(); ++r) EXPECT_EQ(seen[r], 1);
                EXPECT_EQ(me.reduce(plus{}, 1), static_cast<int>(threads));
                EXPECT_EQ(me.inclusive_scan(plus{}, 1), static_cast<int>(me.rank()) + 1);
                std::array<double, 20> large{};
                large.fill(1);
                EXPECT_EQ(me.reduce(plus{}, large)[19], threads);
                std::vector<int> values(70, 1);
                me.reduce(plus{}, std::span<int>(values));
                EXPECT_EQ(values[69], static_cast<int>(threads));
              });
            }
            EXPECT_EQ(all.run_reduce(plus{}, [](member& me) { return me.rank() + 1; }),
                      threads * (threads + 1) / 2);
            for (rank_t k = 1; k <= threads; k += 3) {
              std::vector<rank_t> sizes(threads);
              all.run(k, [&](member& me) {
                me.barrier();
                sizes[me.rank()] = me.size();
              });
              for (rank_t r = 0; r < threads; ++r) EXPECT_EQ(sizes[r], r < k ? k : 0);
            }
          },
          cpus);
}

TEST_P(Platform, RunsLoops) {
  run(
      [] {
        team all(4);
        for (const loop kind : {loop::static_blocks, loop::static_chunks, loop::dynamic_chunks,
                                loop::guided_chunks, loop::adaptive})
          for (const std::size_t count : {1u, 7u, 400u}) {
            std::vector<int> seen(count);
            std::vector<bool> helped(4);
            all.parallel_parts(0, count,
                               [&](member& me, std::size_t from, std::size_t to) {
                                 helped[me.thread()] = true;
                                 for (std::size_t i = from; i < to; ++i) {
                                   ++seen[i];
                                   fibered_world::current()->yield(50'000);
                                 }
                               },
                               {.kind = kind});
            EXPECT_EQ(seen, std::vector<int>(count, 1));
            // Work of 20 ms is shared.
            const auto helpers = std::count(helped.begin(), helped.end(), true);
            EXPECT_TRUE(count < 400 || helpers > 1);
          }
        EXPECT_EQ(all.parallel_reduce(0, 1000, plus{}, [](std::size_t i) { return i; }), 499'500u);
        EXPECT_EQ(all.parallel_reduce_any(0, 1000, plus{}, [](std::size_t i) { return i; }),
                  499'500u);
        EXPECT_THROW(all.parallel_for(0, 100,
                                      [](std::size_t i) {
                                        fibered_world::current()->yield(50'000);
                                        if (i == 50) throw std::runtime_error("50");
                                      }),
                     std::runtime_error);
      },
      4);
}

TEST_P(Platform, EndsRegionsThatFailOrAreLate) {
  for (const std::uint32_t cpus : {2u, 64u})
    run(
        [] {
          team all(5);
          const auto fail = [&] {
            all.run([](member& me) {
              if (me.rank() == 3) throw std::runtime_error("rank 3");
              me.barrier();
            });
          };
          for (int i = 0; i < 3; ++i) EXPECT_THROW(fail(), std::runtime_error);
          int ran = 0;
          const timed_result late = all.run_for(500ms, [&ran](member& me) {
            if (me.rank() == 4)
              while (fibered::now_ns() < 3'000'000'000) fibered_world::current()->yield(1'000'000);
            ++ran;
          });
          EXPECT_FALSE(late.in_time);
          EXPECT_EQ(late.missing_ranks, std::vector<rank_t>{4});
          EXPECT_THROW(all.run([](member&) {}), std::logic_error);
          EXPECT_TRUE(all.wait_for(1h).in_time);
          EXPECT_EQ(ran, 5);
          EXPECT_EQ(all.run_reduce(plus{}, [](member&) { return 1; }), 5);
        },
        cpus);
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

// Thread 0 tells the others by each kind of event.
template <class Wait>
void check_events(const std::string& name) {
  constexpr rank_t n = 4;
  constexpr int rounds = 5;
  basic_eventcount<fibered, Wait> turned;
  fibered::atomic<int> turn{0};
  basic_event<fibered, Wait> ready;
  const event_place begin = ready.now();
  basic_condition_variable<fibered, Wait> changed;
  fibered::mutex mutex;
  int items = 0;
  basic_event_workers<fibered, Wait> workers(n - 1, 1, 2);
  std::vector<std::uintptr_t> sums(n - 1);
  std::vector<action_id> names;
  for (auto& sum : sums)
    names.push_back(
        workers.add([](void* to, rank_t,
                       std::uintptr_t payload) { *static_cast<std::uintptr_t*>(to) += payload; },
                    &sum));
  on_threads(n, [&](rank_t rank) {
    if (rank == 0) {
      for (int i = 1; i <= rounds; ++i) {
        turn.store(i, release);
        turned.notify_all();
        ready.broadcast();
        ready.signal(n - 1);
        for (rank_t w = 0; w < n - 1; ++w) {
          mutex.lock();
          ++items;
          mutex.unlock();
          changed.notify_one();
        }
      }
      // Each worker has room for two.
      for (std::uintptr_t i = 1; i <= rounds; ++i)
        for (rank_t w = 0; w < n - 1; ++w) workers.post(0, w, names[w], i);
      return;
    }
    event_place seen = begin;
    std::uint32_t told = 0;
    for (int i = 1; i <= rounds; ++i) {
      turned.wait([&]() noexcept { return turn.load(acquire) >= i; });
      if (told < static_cast<std::uint32_t>(i)) told += ready.wait_past(seen);
      ready.wait();
      mutex.lock();
      changed.wait(mutex, [&] { return items > 0; });
      --items;
      mutex.unlock();
    }
    EXPECT_EQ(told, static_cast<std::uint32_t>(rounds)) << name;
    while (sums[rank - 1] < rounds * (rounds + 1) / 2) (void)workers.wait(rank - 1);
    EXPECT_EQ(workers.wait_for(rank - 1, 1ms), 0u) << name;
    EXPECT_FALSE(ready.wait_past_for(seen, 1ms)) << name;
  });
  EXPECT_FALSE(ready.try_take()) << name;
  EXPECT_EQ(items, 0) << name;
}

template <class... Wait>
void check_events_with(std::tuple<Wait...>*) {
  (check_events<typename Wait::template type<event_memory<fibered>>>(std::string(Wait::info.name)),
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
