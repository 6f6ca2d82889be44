// SPDX-License-Identifier: Apache-2.0
// Virtual ranks: several on one thread. Every wait of tutti lets the others run. Forbidden actions
// are detected, and each rank has its own copy of what C++ and C keep per thread.

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#include "tests/support/reductions.hpp"
#include "tests/team/teams.hpp"
#include "tutti/barrier/barrier.hpp"
#include "tutti/platform/futex.hpp"
#include "tutti/platform/thread_sanitizer.hpp"
#include "tutti/reduce/reduction.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

// All ranks on one thread; several threads; more threads than cores.
const shape virtual_shapes[] = {{1, 2}, {1, 3}, {2, 5}, {2, 8}, {3, 17}};

// Publishes plain data through arrive(rank).
template <class Arrive>
void expect_to_meet(const shape& s, Arrive arrive, const std::string& what) {
  team t(s.options());
  std::vector<unsigned> boards[2] = {std::vector<unsigned>(t.size()),
                                     std::vector<unsigned>(t.size())};
  std::atomic<unsigned> mistakes{0};
  t.run([&](member& me) {
    for (unsigned episode = 1; episode <= 20; ++episode) {
      boards[episode % 2][me.rank()] = episode;
      arrive(me.rank());
      for (const unsigned said : boards[episode % 2]) mistakes += said != episode;
    }
  });
  EXPECT_EQ(mistakes, 0u) << what << ", " << s;
}

TEST(VirtualRanks, MeetAtEveryBarrierOfTheRegistry) {
  for (const auto& algorithm : algorithms)
    for (const auto& wait : wait_policies) {
      if (!wait.available()) continue;
      for (const shape& s : virtual_shapes) {
        if (s.threads > 2 && (wait.name == "spin" || wait.name == "monitor")) continue;
        const auto barrier = make_barrier(algorithm.name, s.size(), wait.name);
        expect_to_meet(
            s, [&](rank_t rank) { barrier->arrive_and_wait(rank); },
            std::string(algorithm.name) + ", " + std::string(wait.name));
      }
    }
}

TEST(VirtualRanks, MeetAtTuttisBarrier) {
  for (const shape& s : virtual_shapes) {
    barrier<> b(static_cast<std::ptrdiff_t>(s.size()));
    expect_to_meet(
        s, [&](rank_t) { b.arrive_and_wait(); }, "without ranks");
    expect_to_meet(
        s, [&](rank_t rank) { b.arrive_and_wait(rank); }, "with ranks");
    expect_to_meet(
        s, [&](rank_t) { b.wait(b.arrive()); }, "split");
    expect_to_meet(
        s, [&](rank_t rank) { EXPECT_TRUE(b.arrive_and_wait_for(rank, 60s)); }, "with a deadline");
  }
}

template <class Wait>
void expect_reductions_to_meet() {
  for (const shape& s : virtual_shapes) {
    std::vector<std::string_view> names = reduction_names(s.size());
    // Tutti's choice.
    names.emplace_back();
    for (const std::string_view algorithm : names) {
      reduction<rank_t, plus, native, Wait> sum(s.size(), {}, algorithm);
      expect_to_meet(
          s, [&](rank_t rank) { EXPECT_EQ(sum.all(rank, rank), s.size() * (s.size() - 1) / 2); },
          "reduction " + std::string(algorithm));
    }
  }
}

TEST(VirtualRanks, MeetInReductionsWithEveryWayToWait) {
  [&]<class... Wait>(std::tuple<Wait...>*) {
    (expect_reductions_to_meet<typename Wait::template type<native>>(), ...);
  }(static_cast<registry::waits*>(nullptr));
}

TEST(VirtualRanks, SomeMayWaitForOthersWhileAllWillMeet) {
  for (const shape& s : virtual_shapes) {
    team t(s.options());
    barrier<> halves(static_cast<std::ptrdiff_t>(2));
    t.run([&](member& me) {
      if (me.rank() == 0 || me.rank() == me.size() - 1)
        for (int i = 0; i < 10; ++i) halves.arrive_and_wait();
      me.barrier();
    });
    expect_works(t);
  }
}

// How often this thread has blocked.
long times_blocked() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

// Eight ranks of one thread wait for a thread that comes after 100 ms, at one barrier or half of
// them at another. Returns how often their thread has blocked meanwhile.
long times_blocked_at(rank_t barriers) {
  constexpr rank_t ranks = 8;
  const rank_t here = ranks / barriers;
  std::vector<decltype(make_barrier("ticket", here, "park"))> all;
  for (rank_t i = 0; i < barriers; ++i) all.push_back(make_barrier("ticket", here + 1, "park"));
  team t(shape{1, ranks}.options());
  t.run([](member&) {});
  std::thread late([&] {
    std::this_thread::sleep_for(100ms);
    for (const auto& each : all) each->arrive_and_wait(here);
  });
  const long before = times_blocked();
  t.run([&](member& me) { all[me.rank() % barriers]->arrive_and_wait(me.rank() / barriers); });
  const long blocked = times_blocked() - before;
  late.join();
  return blocked;
}

TEST(VirtualRanks, SleepUntilTheyAreWoken) {
  EXPECT_LE(times_blocked_at(1), 20);
  std::atomic<std::uint32_t> words[2] = {};
  const platform::futex_word changed[] = {
      platform::futex_word::of(&words[0], 1, platform::futex_scope::process),
      platform::futex_word::of(&words[1], 1, platform::futex_scope::process)};
  if (!platform::futex_wait_any(changed, 2, platform::forever_ns))
    GTEST_SKIP() << "this kernel cannot sleep on several words";
  EXPECT_LE(times_blocked_at(2), 20);
}

TEST(VirtualRanks, HaveTheirOwnErrno) {
  team t({.threads = 2, .ranks = 9});
  std::atomic<unsigned> strays{0};
  // The wait policy makes no system calls, which may set errno.
  const auto barrier = make_barrier("central", 9, "spin");
  for (int region = 0; region < 3; ++region)
    t.run([&](member& me) {
      errno = static_cast<int>(me.rank()) + 1;
      for (int i = 0; i < 5; ++i) {
        barrier->arrive_and_wait(me.rank());
        strays += errno != static_cast<int>(me.rank()) + 1;
      }
    });
  EXPECT_EQ(strays, 0u);
}

// A rank keeps the team that it is in, also while another rank of its thread is in a region of
// another team.
TEST(VirtualRanks, KnowWhichRegionTheyAreIn) {
  team outer({.threads = 1, .ranks = 4}), inner(2);
  std::vector<rank_t> calls(4);
  for (int region = 0; region < 3; ++region)
    outer.run([&](member& me) {
      if (me.rank() == 0)
        inner.run([](member& mine) {
          // This is long enough that the caller's wait lets the other ranks of its thread run.
          if (mine.rank() == 1) std::this_thread::sleep_for(5ms);
        });
      else
        outer.run([&](member& mine) { calls[me.rank()] += mine.size(); });
    });
  EXPECT_EQ(calls, (std::vector<rank_t>{0, 3, 3, 3}));
}

// ---- the contract

std::mutex reported_lock;
std::vector<std::string> reported;
void note_misuse(const std::string& what, const source_place&) {
  const std::lock_guard hold(reported_lock);
  reported.push_back(what);
}

class Contract : public testing::Test {
 protected:
  void SetUp() override {
    reported.clear();
    on_misuse = note_misuse;
  }
  void TearDown() override { on_misuse = abort_on_misuse; }
};

// Longer than the check tolerates.
constexpr auto long_sleep = 300ms;

TEST_F(Contract, ARankThatSleepsIsReported) {
  if (tutti::platform::under_thread_sanitizer()) GTEST_SKIP() << "it blocks threads itself";
  team t({.threads = 2, .ranks = 6, .fibers = {.checks = true}});
  t.run([](member& me) {
    if (me.rank() == 3) std::this_thread::sleep_for(long_sleep);
    me.barrier();
  });
  ASSERT_EQ(reported.size(), 1u);
  EXPECT_NE(reported[0].find("virtual rank 3 blocked its thread"), std::string::npos)
      << reported[0];
}

TEST_F(Contract, ARankThatSleepsLastIsReported) {
  if (tutti::platform::under_thread_sanitizer()) GTEST_SKIP() << "it blocks threads itself";
  team t({.threads = 1, .ranks = 2, .fibers = {.checks = true}});
  t.run([](member& me) {
    if (me.rank() == 1) std::this_thread::sleep_for(long_sleep);
  });
  ASSERT_EQ(reported.size(), 1u);
  EXPECT_NE(reported[0].find("virtual rank 1"), std::string::npos) << reported[0];
}

// Keeps threads of this process on one CPU, and that CPU busy.
class busy_cpu {
 public:
  busy_cpu() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    // A thread inherits the CPUs of the one that starts it.
    for (std::thread& each : others_)
      each = std::thread([this] {
        // relaxed: publishes nothing.
        while (!is_over_.load(std::memory_order_relaxed)) {
        }
      });
  }
  ~busy_cpu() {
    // relaxed: publishes nothing.
    is_over_.store(true, std::memory_order_relaxed);
    for (std::thread& each : others_) each.join();
    sched_setaffinity(0, sizeof before_, &before_);
  }

 private:
  cpu_set_t before_;
  std::atomic<bool> is_over_{false};
  std::array<std::thread, 3> others_;
};

TEST_F(Contract, ARankThatOthersKeepFromItsCoreIsNotReported) {
  const busy_cpu busy;
  team t({.threads = 1, .ranks = 2, .fibers = {.checks = true}});
  t.run([](member& me) {
    for (int i = 0; i < 10; ++i) {
      // It blocks so briefly as a page fault does, and then loses the core to the busy threads.
      std::this_thread::sleep_for(1us);
      const auto start = std::chrono::steady_clock::now();
      while (std::chrono::steady_clock::now() - start < 20ms) {
      }
      me.barrier();
    }
  });
  EXPECT_TRUE(reported.empty()) << reported.size() << " times, first: " << reported[0];
}

std::chrono::nanoseconds thread_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// The allocator has locks, too.
TEST_F(Contract, ARankThatWaitsForALockOnABusyCpuIsNotReported) {
  constexpr int turns = 10;
  const busy_cpu busy;
  std::mutex lock;
  std::atomic<int> held{0}, taken{0};
  std::thread holder([&] {
    for (int i = 1; i <= turns; ++i) {
      {
        const std::lock_guard hold(lock);
        held = i;
        // Longer than a slice.
        const auto start = thread_time();
        while (thread_time() - start < 10ms) {
        }
      }
      while (taken < i) std::this_thread::yield();
    }
  });
  team t({.threads = 1, .ranks = 2, .fibers = {.checks = true}});
  std::size_t longer = 0;
  t.run([&](member& me) {
    for (int i = 1; i <= turns; ++i) {
      if (me.rank() == 0) {
        while (held < i) std::this_thread::yield();
        const auto start = std::chrono::steady_clock::now();
        { const std::lock_guard hold(lock); }
        if (std::chrono::steady_clock::now() - start > 150ms) ++longer;
        taken = i;
      }
      me.barrier();
    }
  });
  holder.join();
  EXPECT_LE(reported.size(), longer) << "first: " << reported[0];
}

TEST_F(Contract, ATeamThatARankEndsIsNotReported) {
  const busy_cpu busy;
  team t({.threads = 1, .ranks = 2, .fibers = {.checks = true}});
  t.run([](member& me) {
    for (int i = 0; i < 5; ++i) {
      team inner(3);
      inner.run([](member&) {});
      me.barrier();
    }
  });
  EXPECT_TRUE(reported.empty()) << reported.size() << " times, first: " << reported[0];
}

// Memory whose first page fault waits for the lock of the address space: it is used anew each time,
// and the kernel does not join it to its neighbour, which is separated by pages without access.
class new_memory {
 public:
  new_memory() : base_(mmap(nullptr, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (base_ == MAP_FAILED || mprotect(base_, bytes, PROT_READ | PROT_WRITE) != 0)
      throw std::bad_alloc();
  }
  ~new_memory() { munmap(base_, 2 * bytes); }
  new_memory(const new_memory&) = delete;
  new_memory& operator=(const new_memory&) = delete;
  void touch() const noexcept { std::memset(base_, 1, bytes); }

 private:
  static constexpr std::size_t bytes = 32 * 1024;
  void* base_;
};

// A page fault waits for the lock of the address space, which others hold while they map memory and
// may hold when they lose their core. The ranks themselves map nothing: a system call that waits
// for the lock is one that blocks the thread. Where other programs keep the machine busy, too, the
// kernel may exceed the 200 ms that the check tolerates.
TEST_F(Contract, ARankWhosePageFaultsWaitOnABusyCpuIsNotReported) {
  constexpr rank_t ranks = 2;
  constexpr std::size_t turns = 200, bytes = 4u << 20;
  const std::vector<new_memory> memory(ranks * turns);
  const busy_cpu busy;
  std::atomic<bool> is_over{false};
  std::array<std::thread, 2> mappers;
  for (std::thread& each : mappers)
    each = std::thread([&] {
      // relaxed: publishes nothing.
      while (!is_over.load(std::memory_order_relaxed)) {
        void* const made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (made != MAP_FAILED) munmap(made, bytes);
      }
    });
  team t({.threads = 1, .ranks = ranks, .fibers = {.checks = true}});
  std::size_t longer = 0;
  t.run([&](member& me) {
    for (std::size_t i = 0; i < turns; ++i) {
      const auto start = std::chrono::steady_clock::now();
      memory[me.rank() * turns + i].touch();
      if (std::chrono::steady_clock::now() - start > 150ms) ++longer;
      me.barrier();
    }
  });
  // relaxed: publishes nothing.
  is_over.store(true, std::memory_order_relaxed);
  for (std::thread& each : mappers) each.join();
  EXPECT_LE(reported.size(), longer) << "first: " << reported[0];
}

TEST_F(Contract, RanksThatOnlyMeetAreNotReported) {
  team t({.threads = 2, .ranks = 6, .fibers = {.checks = true}});
  barrier<> b(6);
  const auto parking = make_barrier("tournament", 6, "park");
  t.run([&](member& me) {
    for (int i = 0; i < 50; ++i) {
      me.barrier();
      me.reduce(plus{}, 1.0);
      b.arrive_and_wait();
      parking->arrive_and_wait(me.rank());
    }
  });
  EXPECT_TRUE(reported.empty()) << reported.size() << " times, first: " << reported[0];
}

TEST_F(Contract, IsNotCheckedWhereChecksAreOff) {
  team t({.threads = 1, .ranks = 2, .fibers = {.checks = false}});
  t.run([](member&) { std::this_thread::sleep_for(long_sleep); });
  EXPECT_TRUE(reported.empty());
}

// Uses up a stack, one page at a time.
[[gnu::noinline]] unsigned dig(unsigned depth) {
  volatile char page[1024];
  page[depth % sizeof page] = static_cast<char>(depth);
  return depth == 0 ? 0 : dig(depth - 1) + static_cast<unsigned char>(page[depth % sizeof page]);
}

TEST(Stacks, HoldWhatTheyWereAskedFor) {
  team t({.threads = 2, .ranks = 4, .fibers = {.stack_bytes = 4 << 20}});
  EXPECT_NO_FATAL_FAILURE(t.run([](member& me) {
    dig(2000);
    me.barrier();
  }));
}

TEST(Stacks, AreRefusedIfNoMemoryCouldHoldThem) {
  for (const std::size_t bytes : {std::size_t{1} << 62, SIZE_MAX - 4096, SIZE_MAX})
    EXPECT_THROW(team({.threads = 2, .ranks = 4, .fibers = {.stack_bytes = bytes}}),
                 std::bad_alloc);
}

TEST(StacksDeathTest, OverflowIsAFaultAndNotASurprise) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        team t({.threads = 2, .ranks = 4, .fibers = {.stack_bytes = 64 * 1024}});
        t.run([](member& me) {
          if (me.rank() == 2) dig(2000);
          me.barrier();
        });
      },
      "");
}

}  // namespace
}  // namespace tutti::test
