// SPDX-License-Identifier: Apache-2.0
// Tests to which idle CPU a thread moves that shares its own, and that it moves there and keeps its
// mask.

#include "tutti/platform/free_core.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/scratch.hpp"
#include "tutti/platform/usable_cpus.hpp"

namespace platform = tutti::platform;
using platform::idle_times;

namespace {

constexpr std::uint64_t ms = 1'000'000;

cpu_set_t set_of(std::initializer_list<unsigned> cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const unsigned cpu : cpus) CPU_SET(cpu, &set);
  return set;
}

TEST(IdleCpu, IsOneThatNobodyUsedAndThatTheThreadMayUse) {
  static idle_times before, after;
  before = after = {};
  for (const unsigned cpu : {0u, 1u, 2u, 3u}) before.of[cpu] = 1'000 * cpu;
  after = before;
  const cpu_set_t all = set_of({0, 1, 2, 3});
  EXPECT_EQ(platform::idle_cpu(before, after, 100 * ms, all, 0), -1) << "all are busy";
  after.of[2] += 10;
  EXPECT_EQ(platform::idle_cpu(before, after, 100 * ms, all, 0), 2);
  EXPECT_EQ(platform::idle_cpu(before, after, 100 * ms, all, 2), -1) << "where it is already";
  EXPECT_EQ(platform::idle_cpu(before, after, 100 * ms, set_of({0, 1, 3}), 0), -1) << "forbidden";
  EXPECT_EQ(platform::idle_cpu(before, after, 200 * ms, all, 0), -1) << "idle for half the time";
  after.of[3] += 9;
  EXPECT_EQ(platform::idle_cpu(before, after, 100 * ms, all, 0), 2) << "the idlest";
  EXPECT_EQ(platform::idle_cpu(before, after, 100 * ms, all, 2), 3);
  after.of[3] += 1;
  EXPECT_EQ(platform::idle_cpu(before, after, 100 * ms, all, 1), 2) << "equal: the next";
  EXPECT_EQ(platform::idle_cpu(before, after, 100 * ms, all, 2), 3) << "equal: the next";
  before.of[1] = 0xffff'fffe;
  // 20 more: it wraps.
  after.of[1] = 18;
  EXPECT_EQ(platform::idle_cpu(before, after, 200 * ms, all, 0), 1);
}

TEST(IdleTimes, AreReadAsTheKernelWritesThem) {
  const tutti::test::scratch here;
  static idle_times times;
  const auto read = [&](const std::string& text) {
    times = {};
    return times.read(here.write("stat", text).c_str());
  };
  EXPECT_TRUE(
      read("cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 2 3 40 5 6 7 8 0 0\ncpu7 1 2 3 70 0 6 7 8 0 0\n"
           "intr 5\ncpu1 1 2 3 4 5 6 7\n"));
  EXPECT_EQ(times.of[0], 45u);
  EXPECT_EQ(times.of[7], 70u);
  EXPECT_EQ(times.of[1], 0u) << "after the CPUs";
  for (const char* text : {"", "cpu\n", "cpu0\n", "cpu0 1 2\n", "cpux 1 2 3 4 5\n", "intr 1\n",
                           "cpu99999999 1 2 3 4 5\n", "cpu-1 1 2 3 4 5\n", "cpu0 a b c d e\n"})
    EXPECT_FALSE(read(text)) << text;
  EXPECT_FALSE(times.read(here.path("none").c_str())) << "no file";
  EXPECT_TRUE(times.read()) << "that of this machine";
}

// Tells whether a child of fork() that allocates memory and uses files ends by itself.
bool child_ends() {
  const pid_t child = fork();
  if (child == 0) {
    for (std::size_t bytes = 16; bytes < 100'000; bytes *= 2)
      for (int i = 0; i < 100; ++i) std::free(std::malloc(bytes));
    for (int i = 0; i < 100; ++i)
      if (std::FILE* const file = std::fopen("/proc/stat", "re")) std::fclose(file);
    _exit(0);
  }
  for (int waited = 0; waited < 2'000; ++waited) {
    if (waitpid(child, nullptr, WNOHANG) == child) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return false;
}

// A child has only the thread that forked: a lock that another thread holds at that moment stays
// locked. The locks of AddressSanitizer's allocator do, those of the C library do not.
TEST(IdleTimes, AreReadWithoutALockThatTheChildOfAForkWouldInherit) {
  std::atomic<bool> is_over{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i)
    readers.emplace_back([&is_over] {
      const auto times = std::make_unique<idle_times>();
      // relaxed: the flag publishes nothing.
      while (!is_over.load(tutti::relaxed)) times->read();
    });
  for (int i = 0; i < 100; ++i)
    if (!child_ends()) {
      ADD_FAILURE() << "the child of fork " << i << " hangs";
      break;
    }
  // relaxed: as above.
  is_over.store(true, tutti::relaxed);
  for (std::thread& each : readers) each.join();
}

// Two threads on one CPU report it for as long as necessary. If there is an idle CPU, one of them
// must move, and both keep their masks.
TEST(FreeCoreSeeker, MovesAThreadThatSharesToAnIdleCoreAndBindsNothing) {
  if (platform::process_cpus().size() < 2) GTEST_SKIP() << "one CPU only";
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  const cpu_set_t first = set_of({platform::process_cpus().front()});
  ASSERT_EQ(sched_setaffinity(0, sizeof first, &first), 0);
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  const auto home = static_cast<unsigned>(sched_getcpu());
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  static platform::free_core_seeker seeker;
  static idle_times before, after;
  before.read();
  const std::uint64_t began = platform::now_ns();
  bool has_moved = false;
  while (!has_moved && std::chrono::steady_clock::now() < end) {
    seeker.share_core();
    has_moved = static_cast<unsigned>(sched_getcpu()) != home;
  }
  after.read();
  const bool was_idle =
      platform::idle_cpu(before, after, platform::now_ns() - began, all, home) >= 0;
  cpu_set_t now;
  ASSERT_EQ(sched_getaffinity(0, sizeof now, &now), 0);
  EXPECT_TRUE(CPU_EQUAL(&now, &all));
  if (!has_moved && !was_idle) GTEST_SKIP() << "no CPU of this machine is idle";
  EXPECT_TRUE(has_moved);
}

TEST(FreeCoreSeeker, LeavesABoundThreadAlone) {
  std::thread([] {
    const cpu_set_t one = set_of({platform::process_cpus().back()});
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    static platform::free_core_seeker seeker;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    while (std::chrono::steady_clock::now() < end) seeker.share_core();
    cpu_set_t now;
    ASSERT_EQ(sched_getaffinity(0, sizeof now, &now), 0);
    EXPECT_TRUE(CPU_EQUAL(&now, &one));
  }).join();
}

// Runs `body` in a thread that begins on the first CPU and may use all.
template <class Body>
void on_first_cpu(Body body) {
  std::thread([&] {
    cpu_set_t all;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    const unsigned home = platform::process_cpus().front();
    const cpu_set_t first = set_of({home});
    ASSERT_EQ(sched_setaffinity(0, sizeof first, &first), 0);
    body(home, all);
  }).join();
}

bool may_use(unsigned cpu) {
  cpu_set_t now;
  return sched_getaffinity(0, sizeof now, &now) == 0 && CPU_ISSET(cpu, &now);
}

// Whether the process has threads that the test does not start: ThreadSanitizer has one that runs
// now and then.
#ifdef TUTTI_TEST_TSAN
constexpr bool has_another_thread = true;
#else
constexpr bool has_another_thread = false;
#endif

constexpr std::uint32_t (*three_tasks)() noexcept = +[]() noexcept -> std::uint32_t { return 3; };

TEST(CoreLeaver, LeavesItsCoreUnlessAllCpusAreBusy) {
  if (has_another_thread) GTEST_SKIP() << "the core leaver sees another thread run";
  if (platform::process_cpus().size() < 2) GTEST_SKIP() << "one CPU only";
  on_first_cpu([](unsigned home, const cpu_set_t& all) {
    platform::core_leaver stays(all, 2, nullptr, three_tasks);
    stays.leave();
    EXPECT_TRUE(may_use(home)) << "three tasks are ready to run, and there are two CPUs";
    EXPECT_EQ(static_cast<unsigned>(sched_getcpu()), home);
    platform::core_leaver leaves(all, 3, nullptr, three_tasks);
    leaves.leave();
    EXPECT_FALSE(may_use(home));
    EXPECT_NE(static_cast<unsigned>(sched_getcpu()), home);
  });
  on_first_cpu([](unsigned home, const cpu_set_t& all) {
    platform::core_leaver does_not_ask(all, 0, nullptr, three_tasks);
    does_not_ask.leave();
    EXPECT_FALSE(may_use(home));
  });
}

TEST(CoreLeaver, GoesOnlyWhereNoThreadOfTheProcessRuns) {
  if (has_another_thread) GTEST_SKIP() << "the core leaver sees another thread run";
  const auto cpus = platform::process_cpus();
  if (cpus.size() < 2) GTEST_SKIP() << "one CPU only";
  std::atomic<unsigned> running = 0;
  std::atomic<bool> may_run = true;
  std::vector<std::thread> others;
  for (const unsigned cpu : cpus) {
    if (cpu == cpus.front()) continue;
    others.emplace_back([&, cpu] {
      const cpu_set_t one = set_of({cpu});
      sched_setaffinity(0, sizeof one, &one);
      running.fetch_add(1);
      while (may_run.load()) {
      }
    });
  }
  while (running.load() != others.size()) std::this_thread::yield();
  on_first_cpu([&](unsigned home, const cpu_set_t& all) {
    cpu_set_t taken;
    CPU_ZERO(&taken);
    ASSERT_TRUE(platform::add_cpus_of_running_threads(taken));
    for (const unsigned cpu : cpus) EXPECT_EQ(CPU_ISSET(cpu, &taken) != 0, cpu != home) << cpu;
    platform::core_leaver leaver(all, 0, nullptr, three_tasks);
    leaver.leave();
    EXPECT_TRUE(may_use(home));
    may_run = false;
    for (std::thread& other : others) other.join();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    leaver.leave();
    EXPECT_FALSE(may_use(home));
  });
}

TEST(CoreLeaver, LeavesACoreWhereItIsKeptFromRunningAndBindsNothing) {
  if (platform::process_cpus().size() < 2) GTEST_SKIP() << "one CPU only";
  on_first_cpu([](unsigned home, const cpu_set_t& all) {
    platform::core_leaver knows_no_processes(all, 0, nullptr, three_tasks);
    knows_no_processes.was_kept_from_running(1, 5 * ms);
    EXPECT_EQ(static_cast<unsigned>(sched_getcpu()), home);
    platform::core_leaver leaves(all, 2, nullptr, three_tasks);
    leaves.was_kept_from_running(1, 5 * ms);
    cpu_set_t now;
    ASSERT_EQ(sched_getaffinity(0, sizeof now, &now), 0);
    EXPECT_TRUE(CPU_EQUAL(&now, &all));
  });
}

TEST(CoreLeaver, LeavesAThreadAloneThatTheProgramBinds) {
  if (platform::process_cpus().size() < 2) GTEST_SKIP() << "one CPU only";
  on_first_cpu([](unsigned home, const cpu_set_t& all) {
    ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
    platform::core_leaver leaver(all, 0, nullptr, three_tasks);
    const cpu_set_t one = set_of({home});
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    leaver.leave();
    cpu_set_t now;
    ASSERT_EQ(sched_getaffinity(0, sizeof now, &now), 0);
    EXPECT_TRUE(CPU_EQUAL(&now, &one));
  });
}

// Threads that wait for each other every microsecond lose more by sharing a core.
std::uint32_t waits_so_far = 0;
std::uint32_t count_waits() noexcept { return waits_so_far; }

TEST(CoreLeaver, LeavesItsGroupIfItsThreadsWaitForEachOtherAllTheTime) {
  if (platform::process_cpus().size() < 2) GTEST_SKIP() << "one CPU only";
  on_first_cpu([](unsigned home, const cpu_set_t& all) {
    platform::core_leaver leaver(all, 2, count_waits, three_tasks);
    waits_so_far = 1'000;
    leaver.leave();
    EXPECT_TRUE(may_use(home)) << "it does not know yet how often they wait";
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    waits_so_far += 10;
    leaver.leave();
    EXPECT_TRUE(may_use(home)) << "they wait every 200 us";
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    waits_so_far += 1'000'000;
    leaver.leave();
    EXPECT_FALSE(may_use(home));
  });
}

}  // namespace
