// SPDX-License-Identifier: Apache-2.0
// The guarantee of the pool barrier: the first to leave may destroy it, and the destructor waits
// for those still inside.

#include "tutti/barrier/pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

namespace {

using namespace std::chrono_literals;

// A slow participant stays here although its wait is over.
thread_local bool is_slow = false;
std::atomic<bool> slow_may_leave{false};
std::atomic<int> slow_inside{0};

template <class Memory>
struct slow_wait {
  struct wait_state {};
  explicit slow_wait(tutti::rank_t) noexcept {}
  template <class Word, class Ready, class Deadline = tutti::no_deadline>
  bool until(wait_state&, const Word& word, std::memory_order order, Ready ready,
             Deadline deadline = {}) noexcept {
    while (!ready(word.load(order))) {
      if (deadline.template passed<Memory>()) return false;
      Memory::yield();
    }
    if (!is_slow) return true;
    ++slow_inside;
    while (!slow_may_leave) Memory::yield();
    return true;
  }
  template <class Word>
  void notify(const Word&) noexcept {}
  template <class Word>
  void notify_ordered(const Word&) noexcept {}
};
using slow_pool = tutti::pool_barrier<tutti::native, slow_wait<tutti::native>>;

// `also` happens before the destruction, while one participant of episode 0 is still inside.
template <class Also>
void destroy_while_one_is_inside(Also also) {
  slow_may_leave = false;
  slow_inside = 0;
  auto barrier = std::make_unique<slow_pool>(2);
  std::thread slow([sync = barrier.get()] {
    is_slow = true;
    sync->arrive_and_wait(0);
  });
  barrier->arrive_and_wait(0);
  while (slow_inside == 0) std::this_thread::yield();
  also(*barrier);
  std::atomic<bool> destroyed{false};
  std::thread destroyer([&] {
    barrier.reset();
    destroyed = true;
  });
  std::this_thread::sleep_for(30ms);
  EXPECT_FALSE(destroyed) << "under a participant that is still inside";
  slow_may_leave = true;
  slow.join();
  destroyer.join();
}

TEST(Pool, DestructorWaitsForTheLastToLeave) {
  destroy_while_one_is_inside([](slow_pool&) {});
}

// A participant that gave up in the next episode has left as well, but it does not count in place
// of the slow one.
TEST(Pool, DestructorWaitsAlsoAfterSomeoneGaveUp) {
  destroy_while_one_is_inside(
      [](slow_pool& barrier) { EXPECT_FALSE(barrier.arrive_and_wait(0, tutti::deadline(0))); });
}

}  // namespace
