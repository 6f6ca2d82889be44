// SPDX-License-Identifier: Apache-2.0
// Tests the seal of the snapshot detector, one call after the other; tests/model/messages.cpp
// checks the detector with threads.
#include "tutti/termination/snapshot.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

#include "tutti/platform/native.hpp"

namespace {

// What happens before the next compare-and-swap, which may call it again.
std::function<void()> before_exchange;

struct interrupted : tutti::native {
  template <class T>
  struct atomic : tutti::native::atomic<T> {
    using tutti::native::atomic<T>::atomic;
    template <class... Orders>
    bool compare_exchange_weak(T& expected, T desired, Orders... orders) noexcept {
      if (before_exchange) before_exchange();
      return this->compare_exchange_strong(expected, desired, orders...);
    }
  };
};

struct Snapshot : testing::Test {
  // Ranks 1 and 2 wait with deadlines, and rank 0 seals them in turn. Between the two seals the
  // deadline of rank 2 passes, and then `more` happens.
  template <class More>
  void seal_too_late(More more) {
    unsigned exchanges = 0;
    before_exchange = [&] {
      if (++exchanges != 2) return;
      EXPECT_TRUE(detector.withdraw(2, true, 0));
      more();
    };
    EXPECT_FALSE(detector.enter(1, {.vote = true, .has_deadline = true}).is_over);
    EXPECT_FALSE(detector.enter(2, {.vote = true, .has_deadline = true}).is_over);
    EXPECT_FALSE(detector.enter(0, {.vote = true}).is_over);
    EXPECT_GT(exchanges, 2u) << "rank 0 has not sealed rank 1 first";
    before_exchange = nullptr;
  }
  tutti::snapshot_detector<interrupted> detector{3};
};

// Rank 2 sends a message to rank 1, which answers and keeps the message, and rank 2 comes again.
// Rank 0 takes the seal back: rank 1 has been woken, and nobody may be released before it comes
// again.
TEST_F(Snapshot, DoesNotForgetWhoHasBeenWokenBehindASeal) {
  seal_too_late([&] {
    detector.refute(1, true);
    EXPECT_FALSE(detector.enter(2, {.vote = true, .sent = 1, .released = 1}).is_over);
  });
  EXPECT_FALSE(detector.has_work(0) && detector.work(0).is_over) << "rank 1 holds a message";
  EXPECT_FALSE(detector.enter(1, {.vote = true, .sent = 1, .released = 1}).is_over);
  EXPECT_TRUE(detector.work(0).is_over);
}

// Without a message the seal is taken back too, and rank 1 may withdraw.
TEST_F(Snapshot, LetsThoseWithdrawWhoseSealIsTakenBack) {
  seal_too_late([] {});
  EXPECT_TRUE(detector.withdraw(1, true, 0));
}

}  // namespace
