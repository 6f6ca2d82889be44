// SPDX-License-Identifier: Apache-2.0
// Tests each wait policy that this machine has: it wakes, misses nothing, gives up at its deadline,
// and counts a waiter that sleeps, so that a notifier without sleepers makes no system call.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "tutti/registry.hpp"
#include "tutti/wait/unwoken.hpp"

namespace {

using namespace std::chrono_literals;
using tutti::acquire;
using tutti::deadline;
using tutti::native;
using tutti::release;
using tutti::seq_cst;

constexpr std::uint64_t second_ns = 1'000'000'000;

template <class Policy>
class WaitPolicy : public testing::Test {
 protected:
  using policy = typename Policy::template type<native>;
  using state_type = typename policy::wait_state;

  void SetUp() override {
    if (!Policy::info.available())
      GTEST_SKIP() << "wait policy '" << Policy::info.name
                   << "' needs an instruction that this CPU lacks";
  }

  static auto at_least(std::uint64_t target) {
    return [target](std::uint64_t now) noexcept { return now >= target; };
  }

  policy wait_{2};
};

template <class Tuple>
struct types_of;
template <class... T>
struct types_of<std::tuple<T...>> {
  using type = testing::Types<T...>;
};
struct policy_name {
  template <class Policy>
  static std::string GetName(int) {
    return std::string(Policy::info.name);
  }
};
TYPED_TEST_SUITE(WaitPolicy, types_of<tutti::registry::waits>::type, policy_name);

TYPED_TEST(WaitPolicy, ReturnsAtOnceWhenReady) {
  typename TestFixture::state_type state;
  const std::atomic<std::uint32_t> word{1};
  // The value is found even past the deadline.
  EXPECT_TRUE(this->wait_.until(state, word, acquire, this->at_least(1), deadline(0)));
  EXPECT_TRUE(this->wait_.until(state, word, acquire, this->at_least(1)));
}

TYPED_TEST(WaitPolicy, GivesUpAtTheDeadline) {
  typename TestFixture::state_type state;
  const std::atomic<std::uint32_t> word{0};
  EXPECT_FALSE(this->wait_.until(state, word, acquire, this->at_least(1), deadline(0)));
  for (const std::uint64_t ns : {std::uint64_t{100'000}, std::uint64_t{30'000'000}}) {
    const std::uint64_t start = native::now_ns();
    EXPECT_FALSE(this->wait_.until(state, word, acquire, this->at_least(1), deadline(start + ns)));
    const std::uint64_t waited = native::now_ns() - start;
    EXPECT_GE(waited, ns);
    EXPECT_LT(waited, 5 * second_ns) << "late, even for a busy machine";
  }
}

// By then the waiter has gone to sleep, or does whatever its policy does in a long wait.
TYPED_TEST(WaitPolicy, WakesAfterALongWait) {
  std::atomic<std::uint32_t> word{0};
  std::thread waiter([&] {
    typename TestFixture::state_type state;
    EXPECT_TRUE(this->wait_.until(state, word, acquire, this->at_least(1)));
  });
  std::this_thread::sleep_for(50ms);
  word.store(1, release);
  this->wait_.notify(word);
  waiter.join();
}

TYPED_TEST(WaitPolicy, WakesAfterAnUpdateOfA64BitWord) {
  // The update carries into the upper half.
  std::atomic<std::uint64_t> word{UINT32_MAX};
  std::thread waiter([&] {
    typename TestFixture::state_type state;
    EXPECT_TRUE(
        this->wait_.until(state, word, acquire, this->at_least(std::uint64_t{UINT32_MAX} + 1)));
  });
  std::this_thread::sleep_for(20ms);
  word.fetch_add(1, seq_cst);
  this->wait_.notify_ordered(word);
  waiter.join();
}

TYPED_TEST(WaitPolicy, WakesEveryWaiter) {
  std::atomic<std::uint32_t> word{0};
  std::vector<std::thread> waiters;
  for (int i = 0; i < 5; ++i)
    waiters.emplace_back([&] {
      typename TestFixture::state_type state;
      EXPECT_TRUE(this->wait_.until(state, word, acquire, this->at_least(1)));
    });
  std::this_thread::sleep_for(20ms);
  word.store(1, release);
  this->wait_.notify(word);
  for (auto& waiter : waiters) waiter.join();
}

TYPED_TEST(WaitPolicy, WaitsOnlyForWhatItWasAskedFor) {
  std::atomic<std::uint32_t> word{0};
  std::atomic<bool> returned{false};
  std::thread waiter([&] {
    typename TestFixture::state_type state;
    EXPECT_TRUE(this->wait_.until(state, word, acquire, this->at_least(3)));
    returned = true;
  });
  for (std::uint32_t value : {1u, 2u}) {
    word.store(value, release);
    this->wait_.notify(word);
    std::this_thread::sleep_for(5ms);
    EXPECT_FALSE(returned);
  }
  word.store(3, release);
  this->wait_.notify(word);
  waiter.join();
}

// A wake-up that can be missed is missed here sooner or later; the deadline of seconds would show
// it.
TYPED_TEST(WaitPolicy, MissesNoWakeUpInPingPong) {
  constexpr std::uint32_t most_turns = 20'000;
  std::atomic<std::uint32_t> ping{0}, pong{0};
  const std::uint64_t stop = native::now_ns() + second_ns / 3;
  std::atomic<std::uint32_t> last{most_turns};
  std::thread partner([&] {
    typename TestFixture::state_type state;
    for (std::uint32_t turn = 1; turn <= last.load(); ++turn) {
      ASSERT_TRUE(this->wait_.until(state, ping, acquire, this->at_least(turn),
                                    deadline(native::now_ns() + 30 * second_ns)));
      pong.fetch_add(1, seq_cst);
      this->wait_.notify_ordered(pong);
    }
  });
  typename TestFixture::state_type state;
  for (std::uint32_t turn = 1; turn <= last.load(); ++turn) {
    if (native::now_ns() > stop) last = turn;
    ping.store(turn, release);
    this->wait_.notify(ping);
    ASSERT_TRUE(this->wait_.until(state, pong, acquire, this->at_least(turn),
                                  deadline(native::now_ns() + 30 * second_ns)));
  }
  partner.join();
}

TEST(Sleepers, NobodyIsWokenWhenNobodySleeps) {
  tutti::sleepers<native> asleep;
  const std::atomic<std::uint32_t> word{0};
  EXPECT_FALSE(asleep.wake_after_store(word));
  EXPECT_FALSE(asleep.wake_after_update(word));
}

TEST(Sleepers, CountWhileTheySleepAndNotAfter) {
  tutti::sleepers<native> asleep;
  std::atomic<std::uint32_t> word{0};
  std::thread sleeper([&] {
    EXPECT_TRUE(asleep.sleep(
        word, acquire, [](std::uint32_t now) noexcept { return now == 1; }, tutti::no_deadline{}));
  });
  // The waiter is woken for nothing until it has announced itself; it must go back to sleep.
  const std::uint64_t give_up = native::now_ns() + 30 * second_ns;
  while (!asleep.wake_after_store(word) && native::now_ns() < give_up) std::this_thread::yield();
  word.store(1, release);
  EXPECT_TRUE(asleep.wake_after_store(word));
  sleeper.join();
  EXPECT_FALSE(asleep.wake_after_update(word)) << "the sleeper still counts";
}

TEST(Sleepers, StopCountingWhenTheyTimeOut) {
  tutti::sleepers<native> asleep;
  const std::atomic<std::uint32_t> word{0};
  EXPECT_FALSE(asleep.sleep(
      word, acquire, [](std::uint32_t now) noexcept { return now == 1; },
      deadline(native::now_ns() + 1'000'000)));
  EXPECT_FALSE(asleep.wake_after_store(word));
}

TEST(UnwokenSleepers, AreThoseAfterTheLastThatRunsAgain) {
  tutti::unwoken_sleepers<native> unwoken;
  EXPECT_EQ(unwoken.among(0), 0u);
  const std::uint32_t first = unwoken.begin(), second = unwoken.begin();
  unwoken.begin();
  EXPECT_EQ(unwoken.among(3), 3u);
  unwoken.end(second);
  EXPECT_EQ(unwoken.among(2), 1u) << "the first one has been woken, too";
  unwoken.end(first);
  EXPECT_EQ(unwoken.among(1), 1u);
  EXPECT_EQ(unwoken.among(0), 0u) << "those that have left by a deadline do not sleep";
  const std::uint32_t fourth = unwoken.begin();
  EXPECT_EQ(unwoken.among(2), 2u);
  unwoken.end(fourth);
  EXPECT_EQ(unwoken.among(1), 0u);
}

TEST(ThreadState, IsTheThreadsOwn) {
  struct remembered {
    int value = 0;
  };
  const char barrier = 0;
  tutti::state_of_this_thread<remembered>(&barrier).value = 1;
  EXPECT_EQ(tutti::state_of_this_thread<remembered>(&barrier).value, 1);
  std::thread([&] {
    EXPECT_EQ(tutti::state_of_this_thread<remembered>(&barrier).value, 0);
  }).join();
}

}  // namespace
