// SPDX-License-Identifier: Apache-2.0
// Children that use or drop what they inherit of a barrier, also in handlers of forks that the
// program has registered before tutti could, and children for which no handler runs.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "tests/shared/children.hpp"
#include "tutti/platform/thread_sanitizer.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using kind = shared_result::kind;

// What the child of the next fork does first.
std::function<void()> first_in_child;

// It runs before the first call of tutti.
[[gnu::constructor(101)]] void register_handler() {
  pthread_atfork(nullptr, nullptr, [] {
    if (first_in_child) first_in_child();
  });
}

class first_thing {
 public:
  explicit first_thing(std::function<void()> does) { first_in_child = std::move(does); }
  ~first_thing() { first_in_child = nullptr; }
  first_thing(const first_thing&) = delete;
  first_thing& operator=(const first_thing&) = delete;
};

TEST(SharedFork, AHandlerThatDropsABarrierDoesNotLeaveForTheParent) {
  const test::place at(2);
  auto sync = std::make_unique<shared_barrier>(at.join(0));
  test::children all;
  {
    const first_thing drops([&] { sync.reset(); });
    EXPECT_EQ(all.wait_for(all.start([] { return 0; })), 0);
  }
  EXPECT_EQ(sync->arrive_and_wait_for(20ms).how, kind::late);
}

TEST(SharedFork, AHandlerMayJoinByTheObjectThatItInherits) {
  const test::place at(2);
  shared_barrier sync = at.join(0);
  test::children all;
  const first_thing joins([&] {
    alarm(20);
    sync.join(1);
  });
  const pid_t child = all.start([&] { return sync.arrive_and_wait_for(30s) ? 0 : 1; });
  EXPECT_TRUE(sync.arrive_and_wait_for(30s));
  EXPECT_EQ(all.wait_for(child), 0);
}

TEST(SharedFork, AHandlerMayAttachByName) {
  const test::unique_name name("handler");
  shared_barrier sync = shared_barrier::create(name, 2);
  test::children all;
  const first_thing attaches([&] {
    alarm(20);
    sync = shared_barrier::attach(name, 2);
  });
  EXPECT_EQ(all.wait_for(all.start([&] { return sync.join() == 0 ? 0 : 1; })), 0);
}

TEST(SharedFork, AChildWithoutHandlersDoesNotLeaveForTheParent) {
  if (platform::under_thread_sanitizer()) GTEST_SKIP() << "it follows processes by its handlers";
  const test::place at(2);
  auto sync = std::make_unique<shared_barrier>(at.join(0));
  for (const bool drops_by_arrival : {false, true}) {
    const auto child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    ASSERT_GE(child, 0);
    if (child == 0) {
      bool is_refused = true;
      if (drops_by_arrival) {
        is_refused = false;
        try {
          sync->arrive_and_drop();
        } catch (const std::logic_error&) {
          is_refused = true;
        }
      }
      sync.reset();
      _exit(is_refused ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(sync->arrive_and_wait_for(20ms).how, kind::late);
}

// Another thread changes the table of the process's files meanwhile.
TEST(SharedFork, AtAnyMomentLeavesTheChildAbleToAttach) {
  const test::unique_name name("any_moment");
  // Nobody has the file mapped for long.
  static_cast<void>(shared_barrier::create(name, 2));
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    while (!is_over) static_cast<void>(shared_barrier::attach(name, 2));
  });
  test::children all;
  for (int i = 0; i < 200; ++i)
    all.start([&] {
      alarm(20);
      static_cast<void>(shared_barrier::attach(name, 2));
      return 0;
    });
  EXPECT_EQ(all.failures(), 0);
  is_over = true;
  other.join();
}

}  // namespace
}  // namespace tutti
