// SPDX-License-Identifier: Apache-2.0
// A thread that another one has cancelled (pthread_cancel) passes every wait of tutti, and ends at
// the next cancellation point of its own program: no wait is one.

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <utility>

#include "tutti/barrier/barrier.hpp"
#include "tutti/platform/cpu_quota.hpp"
#include "tutti/platform/free_core.hpp"
#include "tutti/platform/processes.hpp"
#include "tutti/platform/run_delay.hpp"
#include "tutti/team/team.hpp"
#include "tutti/wait/patience.hpp"

namespace platform = tutti::platform;

namespace {

// A thread that is cancelled before it calls work().
template <class Work>
class cancelled_thread {
 public:
  explicit cancelled_thread(Work work) : work_(std::move(work)) {
    EXPECT_EQ(pthread_create(&thread_, nullptr, &run, this), 0);
  }
  cancelled_thread(const cancelled_thread&) = delete;
  cancelled_thread& operator=(const cancelled_thread&) = delete;

  // Tells whether work() returned and pthread_testcancel() did not.
  bool passed() {
    void* result = nullptr;
    EXPECT_EQ(pthread_join(thread_, &result), 0);
    return result == PTHREAD_CANCELED && has_worked_;
  }

 private:
  static void* run(void* raw) {
    auto* const me = static_cast<cancelled_thread*>(raw);
    pthread_cancel(pthread_self());
    me->work_();
    me->has_worked_ = true;
    pthread_testcancel();
    return nullptr;
  }

  Work work_;
  bool has_worked_ = false;
  pthread_t thread_{};
};

TEST(Cancellation, WaitsForWhatTheSystemTells) {
  cancelled_thread waits_for([] {
    const auto idle = std::make_unique<platform::idle_times>();
    idle->read();
    EXPECT_GE(platform::runnable_tasks(), 0u);
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    platform::add_cpus_of_running_threads(cpus);
    platform::run_delay::now_ns();
    platform::read_cpu_quota();
    platform::recent_cpu_quota();
    platform::recent_throttled_ns();
    platform::read_cpu_throttling("/proc/stat");
    const int process = platform::open_process(getpid());
    EXPECT_FALSE(process >= 0 && platform::has_ended(process));
    if (process >= 0) platform::close_process(process);
  });
  EXPECT_TRUE(waits_for.passed());
}

TEST(CancellationDeathTest, TheFirstWaitMayReportAWrongPatience) {
  // The child is a new process, so that its first call reads the environment.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("TUTTI_PATIENCE", "none of them", 1);
  EXPECT_EXIT(
      {
        cancelled_thread first([] { tutti::patience::of_environment(); });
        std::_Exit(first.passed() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "TUTTI_PATIENCE: patience 'none of them'.*uses balanced");
  unsetenv("TUTTI_PATIENCE");
}

TEST(CancellationDeathTest, TheFirstTeamReadsTheTopology) {
  // The child's team is the first of its process, as above.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        cancelled_thread first(
            [] { tutti::team({.threads = 2, .place = platform::placement::compact}); });
        std::_Exit(first.passed() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

// Threads that share a core ask the system where another one is idle, each 50 ms.
TEST(Cancellation, PassesBarriers) {
  constexpr unsigned threads = 4;
  constexpr std::uint64_t for_ns = 300'000'000;
  tutti::barrier barrier(threads);
  std::atomic<bool> is_over{false};
  const std::uint64_t began = platform::now_ns();
  const auto meet = [&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(platform::process_cpus().front(), &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    for (bool over = false; !over;) {
      // relaxed: the barrier orders the flag.
      if (platform::now_ns() - began > for_ns) is_over.store(true, tutti::relaxed);
      barrier.arrive_and_wait();
      // relaxed: as above.
      over = is_over.load(tutti::relaxed);
      barrier.arrive_and_wait();
    }
  };
  cancelled_thread a(meet), b(meet), c(meet), d(meet);
  EXPECT_TRUE(a.passed());
  EXPECT_TRUE(b.passed());
  EXPECT_TRUE(c.passed());
  EXPECT_TRUE(d.passed());
}

TEST(Cancellation, PassesTheEndOfATeam) {
  auto team = std::make_unique<tutti::team>(2);
  cancelled_thread owner([&] {
    std::atomic<unsigned> ranks{0};
    // relaxed: the end of the region orders the count.
    team->run([&](tutti::member&) { ranks.fetch_add(1, tutti::relaxed); });
    // relaxed: as above.
    EXPECT_EQ(ranks.load(tutti::relaxed), 2u);
    team.reset();
  });
  EXPECT_TRUE(owner.passed());
}

}  // namespace
