// SPDX-License-Identifier: Apache-2.0
// A living team changes nothing for what its creator starts: threads, OpenMP, other processes,
// other teams.

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include "cli/shared_memory.hpp"
#include "tests/team/cpu_time.hpp"
#include "tests/team/teams.hpp"
#include "tutti/platform/usable_cpus.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace {

using namespace std::chrono_literals;
using tutti::member;
using tutti::rank_t;
using tutti::team;
using tutti::test::cpu_time;
namespace platform = tutti::platform;

cpu_set_t mask() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  return set;
}
int cpus_of_mask() {
  const cpu_set_t set = mask();
  return CPU_COUNT(&set);
}
void bind_to(unsigned cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
}

// The number that a child process finds; its exit status reports it.
int in_a_child(const std::function<int()>& find) {
  const pid_t child = fork();
  if (child == 0) _exit(find());
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Placement, LeavesWhatTheCreatorStartsTheMaskThatItHad) {
  const cpu_set_t before = mask();
  const int cpus = CPU_COUNT(&before);
  team t(3);
  const auto check = [&] {
    const cpu_set_t now = mask();
    EXPECT_TRUE(CPU_EQUAL(&now, &before));
    std::thread([&] { EXPECT_EQ(cpus_of_mask(), cpus); }).join();
    EXPECT_EQ(in_a_child([] { return std::min(cpus_of_mask(), 100); }), std::min(cpus, 100));
  };
  check();
  for (int i = 0; i < 100; ++i) t.run([](member& me) { me.barrier(); });
  check();
  t.run([&](member& me) {
    if (me.rank() != 0) return;
    EXPECT_EQ(cpus_of_mask(), cpus);
    std::thread([&] { EXPECT_EQ(cpus_of_mask(), cpus); }).join();
  });
}

// The team's own threads are spread so that no CPU has more of them than necessary.
TEST(Placement, SpreadsMoreWorkersThanCpusEvenly) {
  const auto& cpus = platform::process_cpus();
  const auto each = static_cast<rank_t>(cpus.size());
  if (each > 64) GTEST_SKIP() << "a thread for each of " << each << " CPUs three times over";
  team t(3 * each);
  std::vector<int> cpu_of(3 * each, -1);
  t.run([&](member& me) {
    if (me.rank() != 0 && cpus_of_mask() == 1) cpu_of[me.rank()] = sched_getcpu();
  });
  for (const unsigned cpu : cpus) {
    const auto workers = std::count(cpu_of.begin(), cpu_of.end(), static_cast<int>(cpu));
    EXPECT_GE(workers, 2) << "CPU " << cpu;
    EXPECT_LE(workers, 3) << "CPU " << cpu;
  }
}

// If another thread keeps a worker from its core in every wait, the worker moves to another core
// and does not change the opener's mask.
TEST(Placement, AWorkerLeavesTheCoreOfItsOpener) {
  const auto& cpus = platform::process_cpus();
  if (cpus.size() < 2) GTEST_SKIP() << "one CPU only";
  std::thread([&] {
    team t(2);
    const auto start = std::chrono::steady_clock::now();
    int worker = -1;
    const auto region = [&](member& me) {
      if (me.rank() == 1) worker = sched_getcpu();
    };
    t.run(region);
    // Where the worker is now.
    bind_to(static_cast<unsigned>(worker));
    int apart = 0;
    while (apart < 100 && std::chrono::steady_clock::now() - start < 5s) {
      t.run(region);
      apart = worker == sched_getcpu() ? 0 : apart + 1;
    }
    EXPECT_EQ(apart, 100) << "the two still share CPU " << worker;
    EXPECT_EQ(cpus_of_mask(), 1);
  }).join();
}

TEST(Placement, LeavesOpenMPItsCpus) {
#ifdef _OPENMP
  const int before = omp_get_num_procs();
  const team t(2);
  EXPECT_EQ(omp_get_num_procs(), before);
#else
  GTEST_SKIP() << "built without OpenMP";
#endif
}

// If a runtime that binds its threads has narrowed the creator's mask, the team does not take that
// mask as a choice.
TEST(Placement, WorkersOfABoundThreadMayUseTheCpusOfTheProcess) {
  const auto& cpus = platform::process_cpus();
  if (cpus.size() < 2) GTEST_SKIP() << "one CPU only";
  std::thread([&] {
    bind_to(cpus.front());
    team t(2);
    EXPECT_EQ(cpus_of_mask(), 1) << "the creator's own mask is its own";
    t.run([&](member& me) {
      if (me.rank() != 0) {
        EXPECT_GE(cpus_of_mask(), static_cast<int>(cpus.size()) - 1) << "but the creator's";
      }
    });
  }).join();
}

// A mask with room for all threads is a choice.
TEST(Placement, WorkersKeepAMaskThatHoldsTheTeam) {
  const auto& cpus = platform::process_cpus();
  if (cpus.size() < 3) GTEST_SKIP() << "needs three CPUs";
  // A worker leaves a CPU that it shares with the opener.
  std::thread([&] {
    cpu_set_t two;
    CPU_ZERO(&two);
    CPU_SET(cpus[0], &two);
    CPU_SET(cpus[1], &two);
    ASSERT_EQ(sched_setaffinity(0, sizeof two, &two), 0);
    team t(2);
    t.run([](member&) { EXPECT_LE(cpus_of_mask(), 2); });
  }).join();
}

TEST(Placement, ATeamThatIsIdleUsesNoProcessorTime) {
  team t(4);
  for (int i = 0; i < 100; ++i) t.run([](member&) {});
  std::this_thread::sleep_for(100ms);
  const auto before = cpu_time();
  std::this_thread::sleep_for(300ms);
  EXPECT_LT(cpu_time() - before, 5ms);
}

// ---- two processes on one node

double seconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct shared_words {
  std::atomic<int> ready{0};
  double processor_seconds[2] = {};
};

// The processor time that two processes get together while each computes with one thread, in CPUs.
double cpus_of_two_processes(bool with_teams) {
  const tutti::cli::shared_object<shared_words> in_both;
  shared_words& shared = *in_both;
  constexpr double length = 0.15;
  const auto live = [&](int index) {
    std::optional<team> t;
    if (with_teams) {
      t.emplace(2);
      t->run([](member& me) { me.barrier(); });
    }
    // seq_cst: the two begin together; nothing is published.
    shared.ready.fetch_add(1, std::memory_order_seq_cst);
    while (shared.ready.load(std::memory_order_seq_cst) < 2) sched_yield();
    const double start = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_THREAD_CPUTIME_ID);
    while (seconds(CLOCK_MONOTONIC) - start < length) continue;
    shared.processor_seconds[index] = seconds(CLOCK_THREAD_CPUTIME_ID) - used;
    return 0;
  };
  const pid_t first = fork();
  if (first == 0) _exit(live(0));
  EXPECT_EQ(in_a_child([&] { return live(1); }), 0);
  int status = -1;
  EXPECT_EQ(waitpid(first, &status, 0), first);
  return (shared.processor_seconds[0] + shared.processor_seconds[1]) / length;
}

TEST(Placement, TwoProcessesWithTeamsDoNotSitOnTheSameCore) {
  if (platform::usable_cpus() < 2) GTEST_SKIP() << "one CPU only";
  // Beside other load the two get less, with or without teams, and not always the same.
  double best = 0, with = 0, without = 0;
  for (int attempt = 0; attempt < 6 && best < 0.85; ++attempt) {
    without = cpus_of_two_processes(false);
    with = cpus_of_two_processes(true);
    best = std::max(best, with / without);
  }
  // If both are bound to the first core, they get one CPU instead of two: 0.5.
  EXPECT_GT(best, 0.75) << with << " CPUs with teams, " << without << " without";
}

}  // namespace
