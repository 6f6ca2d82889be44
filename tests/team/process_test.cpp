// SPDX-License-Identifier: Apache-2.0
// Teams in processes that fork, in programs that call exit() in a region, and in regions whose
// ranks end their threads.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include "tutti/barrier/barrier.hpp"
#include "tutti/platform/thread_sanitizer.hpp"
#include "tutti/team/team.hpp"

namespace {

using tutti::member;
using tutti::rank_t;
using tutti::team;
using tutti::team_options;

rank_t count_ranks(team& t) {
  return t.run_reduce(tutti::plus{}, [](member& me) {
    me.barrier();
    return rank_t{1};
  });
}

// A child inherits the locks of AddressSanitizer's allocator as they are, and GCC 12's version does
// not release them there. Threads that start hold them, so instrumented tests fork only when all
// workers run. Other tests fork as soon as the team is made.
void before_fork([[maybe_unused]] team& t) {
#ifdef TUTTI_TEST_SANITIZED
  count_ranks(t);
#endif
}

// Calls f() in a child and returns the child's exit status, or 1000 if it does not end in a minute:
// beside other work 40 threads on two cores can take many seconds.
template <class F>
int status_of_child(F f) {
  const pid_t child = fork();
  if (child == 0) {
    int status = 99;
    try {
      status = f();
    } catch (...) {
    }
    _exit(status);
  }
  for (int waited = 0; waited < 12'000; ++waited) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child)
      return WIFEXITED(status) ? WEXITSTATUS(status) : 500 + WTERMSIG(status);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return 1000;
}

class Fork : public testing::TestWithParam<team_options> {
 protected:
  void SetUp() override {
    if (tutti::platform::under_thread_sanitizer())
      GTEST_SKIP() << "ThreadSanitizer ends a child of several threads that starts a thread";
  }
};

TEST_P(Fork, TheParentsTeamWorksInTheChild) {
  team t(GetParam());
  const rank_t ranks = t.size();
  EXPECT_EQ(count_ranks(t), ranks);
  EXPECT_EQ(status_of_child([&] {
              for (int i = 0; i < 20; ++i)
                if (count_ranks(t) != ranks) return 1;
              std::atomic<int> sum{0};
              t.parallel_for(0, 1000, [&](std::size_t) { ++sum; });
              return sum == 1000 ? 0 : 2;
            }),
            0);
  EXPECT_EQ(count_ranks(t), ranks) << "the parent's own workers are unharmed";
}

TEST_P(Fork, TheChildMayMakeItsOwnTeam) {
  team t(GetParam());
  before_fork(t);
  EXPECT_EQ(status_of_child([&] {
              team own(GetParam());
              return count_ranks(own) == own.size() ? 0 : 1;
            }),
            0);
  EXPECT_EQ(count_ranks(t), t.size());
}

TEST_P(Fork, TheChildMayDestroyTheTeamUnused) {
  auto* const t = new team(GetParam());
  count_ranks(*t);
  EXPECT_EQ(status_of_child([&] {
              delete t;
              return 0;
            }),
            0);
  delete t;
}

int count_threads() {
  const std::filesystem::directory_iterator all("/proc/self/task"), end;
  return static_cast<int>(std::distance(all, end));
}

TEST_F(Fork, AChildThatOnlyRunsLoopsHasWorkersToo) {
  team t(2);
  before_fork(t);
  EXPECT_EQ(status_of_child([&] {
              std::atomic<unsigned> calls{0};
              const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
              // A loop is shared if it lasts long enough.
              while (count_threads() == 1 && std::chrono::steady_clock::now() < until)
                t.parallel_for(0, 100, [&](std::size_t) {
                  ++calls;
                  std::this_thread::sleep_for(std::chrono::microseconds(10));
                });
              return count_threads() == 2 && calls % 100 == 0 ? 0 : 1;
            }),
            0);
}

TEST_P(Fork, AChildOfAChildWorksToo) {
  team t(GetParam());
  before_fork(t);
  EXPECT_EQ(status_of_child([&] {
              if (count_ranks(t) != t.size()) return 1;
              return status_of_child([&] { return count_ranks(t) == t.size() ? 0 : 2; });
            }),
            0);
}

INSTANTIATE_TEST_SUITE_P(Teams, Fork,
                         testing::Values(team_options{.threads = 3}, team_options{.threads = 40},
                                         team_options{.threads = 2, .ranks = 6},
                                         team_options{.threads = 3, .barrier = "mcs"}),
                         [](const auto& tried) {
                           const team_options& o = tried.param;
                           if (!o.barrier.empty()) return std::string("NamedBarrier");
                           return o.ranks > 0 ? std::string("VirtualRanks")
                                              : "Threads" + std::to_string(o.threads);
                         });

TEST_F(Fork, InARegionTheChildIsToldThatTheOtherRanksAreNotThere) {
  for (const rank_t threads : {3u, 40u}) {
    team t(threads);
    int status = -1;
    bool is_child = false;
    std::string what;
    try {
      t.run([&](member& me) {
        me.barrier();
        if (me.rank() != 0) return;
        const pid_t child = fork();
        if (child == 0)
          is_child = true;
        else
          waitpid(child, &status, 0);
      });
    } catch (const std::logic_error& e) {
      what = e.what();
    }
    if (is_child) {
      const bool is_told = what.find("made by fork() inside a region") != std::string::npos;
      _exit(is_told && count_ranks(t) == t.size() ? 0 : 3);
    }
    EXPECT_TRUE(what.empty()) << what;
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    EXPECT_EQ(count_ranks(t), threads);
  }
}

// ---- exit()

class Exit : public testing::TestWithParam<rank_t> {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};
using ExitDeathTest = Exit;

// A static team that is destroyed by exit() in one of its regions, while others wait in it.
void exit_in_a_region(const team_options& options, rank_t who) {
  static team t(options);
  t.run([&](member& me) {
    me.barrier();
    if (me.rank() == who) std::exit(7);
    me.barrier();
  });
}

TEST_P(ExitDeathTest, InARegionEndsTheProgramWithItsStatus) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_EXIT(exit_in_a_region({.threads = 3}, GetParam()), testing::ExitedWithCode(7), "");
    EXPECT_EXIT(exit_in_a_region({.threads = 20}, GetParam()), testing::ExitedWithCode(7), "");
    EXPECT_EXIT(exit_in_a_region({.threads = 3, .barrier = "mcs"}, GetParam()),
                testing::ExitedWithCode(7), "");
  }
}

TEST_P(ExitDeathTest, InALoopEndsTheProgramWithItsStatus) {
  EXPECT_EXIT(
      {
        static team t(3);
        // exit() frees what GetParam() refers to while the other ranks are in the loop.
        t.parallel_for(0, 1000, [last = std::size_t{500} * GetParam() / 2](std::size_t i) {
          std::this_thread::sleep_for(std::chrono::microseconds(20));
          if (i == last) std::exit(7);
        });
      },
      testing::ExitedWithCode(7), "");
}

TEST_F(ExitDeathTest, OutsideOfARegionEndsTheProgramWithItsStatus) {
  EXPECT_EXIT(
      {
        static team t(3);
        count_ranks(t);
        std::exit(7);
      },
      testing::ExitedWithCode(7), "");
}

INSTANTIATE_TEST_SUITE_P(Ranks, ExitDeathTest, testing::Values(0u, 1u, 2u));

// ---- threads that end

using ThreadEndDeathTest = Exit;

TEST_F(ThreadEndDeathTest, PthreadExitInARankIsReported) {
  for (const rank_t who : {0u, 1u})
    EXPECT_DEATH(
        {
          team t(2);
          t.run([&](member& me) {
            if (me.rank() == who) pthread_exit(nullptr);
            me.barrier();
          });
        },
        "rank " + std::to_string(who) + " ends its thread inside a region");
}

TEST_F(ThreadEndDeathTest, PthreadExitInAVirtualRankIsReported) {
  if (tutti::platform::under_thread_sanitizer())
    GTEST_SKIP() << "ThreadSanitizer ends a program that calls pthread_exit() on a fiber";
  EXPECT_DEATH(
      {
        team t({.threads = 2, .ranks = 6});
        t.run([&](member& me) {
          if (me.rank() == 4) pthread_exit(nullptr);
          me.barrier();
        });
      },
      "rank 4 ends its thread inside a region");
}

TEST_F(ThreadEndDeathTest, ACancellationOfTheThreadThatOpensTheRegionIsReported) {
  EXPECT_DEATH(
      {
        std::thread user([] {
          team t(2);
          t.run([&](member& me) {
            if (me.rank() == 0) {
              pthread_cancel(pthread_self());
              pthread_testcancel();
            }
            me.barrier();
          });
        });
        user.join();
      },
      "rank 0 ends its thread inside a region");
}

TEST(ThreadEnd, AWorkerCannotBeCancelled) {
  team t(3);
  t.run([&](member& me) {
    if (me.rank() == 0) return;
    pthread_cancel(pthread_self());
    pthread_testcancel();
    me.rank();
  });
  EXPECT_EQ(count_ranks(t), 3u);
}

// ---- virtual ranks

TEST(VirtualRanks, MeetInABarrierThatNamesAnAlgorithmAndNoRank) {
  team t({.threads = 2, .ranks = 6});
  for (const char* const name : {"mcs", "dissemination", "ticket"}) {
    tutti::barrier<> by_name(6, tutti::barrier_options{.algorithm = name});
    tutti::barrier<> other(6, tutti::barrier_options{.algorithm = name});
    std::vector<int> phase(6);
    t.run([&](member& me) {
      for (int i = 1; i <= 30; ++i) {
        phase[me.rank()] = i;
        by_name.arrive_and_wait();
        for (const int each : phase) EXPECT_EQ(each, i);
        other.arrive_and_wait();
      }
    });
  }
}

TEST(VirtualRanks, TellWhatRanOut) {
  if (tutti::platform::under_thread_sanitizer()) GTEST_SKIP() << "it runs out of fibers first";
  try {
    team t({.threads = 1, .ranks = 65535, .fibers = {.stack_bytes = 16 * 1024}});
    EXPECT_EQ(t.size(), 65535u);
    SUCCEED() << "this system has room for all of them";
  } catch (const std::bad_alloc& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("vm.max_map_count"), std::string::npos) << what;
    EXPECT_NE(what.find("virtual rank"), std::string::npos) << what;
  }
}

}  // namespace
