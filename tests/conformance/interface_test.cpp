// SPDX-License-Identifier: Apache-2.0
// tutti::barrier has the interface of std::barrier: the same tests are compiled for both.

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/barrier/barrier.hpp"

namespace {

template <template <class...> class Barrier>
struct family {
  template <class... Completion>
  using barrier = Barrier<Completion...>;
  template <class F>
  static auto make(std::ptrdiff_t n, F completion) {
    return Barrier(n, std::move(completion));
  }
};
using standard = family<std::barrier>;
using tuttis = family<tutti::barrier>;

template <class Family>
class Interface : public testing::Test {};
struct family_name {
  template <class Family>
  static std::string GetName(int) {
    return std::is_same_v<Family, standard> ? "std" : "tutti";
  }
};
using families = testing::Types<standard, tuttis>;
TYPED_TEST_SUITE(Interface, families, family_name);

void run(std::ptrdiff_t threads, const std::function<void(std::ptrdiff_t)>& work) {
  std::vector<std::thread> all;
  for (std::ptrdiff_t i = 0; i < threads; ++i) all.emplace_back(work, i);
  for (auto& thread : all) thread.join();
}

constexpr std::ptrdiff_t sizes[] = {1, 2, 3, 5, 8, 17};

TYPED_TEST(Interface, HasTheStandardTraits) {
  using barrier = typename TypeParam::template barrier<>;
  using token = typename barrier::arrival_token;
  static_assert(!std::is_copy_constructible_v<barrier> && !std::is_copy_assignable_v<barrier>);
  static_assert(std::is_move_constructible_v<token> && std::is_move_assignable_v<token>);
  static_assert(!std::is_copy_constructible_v<token>);
  static_assert(std::is_constructible_v<barrier, std::ptrdiff_t>);
  static_assert(!std::is_convertible_v<std::ptrdiff_t, barrier>, "explicit");
  static_assert(
      std::is_same_v<decltype(barrier::max()), std::ptrdiff_t>&& noexcept(barrier::max()));
  static_assert(std::is_same_v<decltype(std::declval<barrier&>().arrive()), token>);
  EXPECT_GE(barrier::max(), 1024);
}

// Expects that what each of n threads writes before meet() in a phase is seen by all after it.
template <class Meet>
void expect_to_meet(std::ptrdiff_t n, Meet meet) {
  std::vector<int> data(static_cast<std::size_t>(n) * 20);
  run(n, [&](std::ptrdiff_t me) {
    for (std::ptrdiff_t phase = 0; phase < 20; ++phase) {
      data[static_cast<std::size_t>(phase * n + me)] = 1;
      meet();
      for (std::ptrdiff_t other = 0; other < n; ++other)
        ASSERT_EQ(data[static_cast<std::size_t>(phase * n + other)], 1);
    }
  });
}

TYPED_TEST(Interface, ArriveAndWaitMeets) {
  for (const std::ptrdiff_t n : sizes) {
    typename TypeParam::template barrier<> sync(n);
    expect_to_meet(n, [&] { sync.arrive_and_wait(); });
  }
}

TYPED_TEST(Interface, ArriveThenWait) {
  for (const std::ptrdiff_t n : sizes) {
    typename TypeParam::template barrier<> sync(n);
    expect_to_meet(n, [&] {
      auto token = sync.arrive();
      std::this_thread::yield();
      sync.wait(std::move(token));
    });
  }
}

TYPED_TEST(Interface, OneThreadMayArriveForMany) {
  for (const std::ptrdiff_t n : sizes) {
    typename TypeParam::template barrier<> sync(n);
    for (int phase = 0; phase < 10; ++phase) sync.wait(sync.arrive(n));
    for (int phase = 0; phase < 10; ++phase) {
      for (std::ptrdiff_t i = 1; i < n; ++i) (void)sync.arrive();
      sync.wait(sync.arrive());
    }
    for (int phase = 0; phase < 10 && n > 1; ++phase) {
      (void)sync.arrive(n - 1);
      sync.arrive_and_wait();
    }
  }
}

TYPED_TEST(Interface, WaitsThroughAConstReference) {
  typename TypeParam::template barrier<> sync(2);
  const auto& same = sync;
  same.wait(sync.arrive(2));
}

TYPED_TEST(Interface, MayBeForNobody) {
  const typename TypeParam::template barrier<> sync(0);
  auto complete = TypeParam::make(0, []() noexcept { ADD_FAILURE() << "nobody has arrived"; });
  (void)complete;
}

// Threads that signal and never wait, and one that waits for them: the pattern of producers.
TYPED_TEST(Interface, TheOthersNeedNotWait) {
  for (const std::ptrdiff_t n : sizes) {
    typename TypeParam::template barrier<> sync(n + 1);
    std::vector<int> data(static_cast<std::size_t>(n));
    std::thread reader([&] {
      sync.arrive_and_wait();
      for (const int value : data) ASSERT_EQ(value, 1);
    });
    run(n, [&](std::ptrdiff_t me) {
      data[static_cast<std::size_t>(me)] = 1;
      (void)sync.arrive();
    });
    reader.join();
  }
}

TYPED_TEST(Interface, TokensMayMoveToAnotherThread) {
  typename TypeParam::template barrier<> sync(2);
  auto token = sync.arrive();
  std::thread waiter([&, token = std::move(token)]() mutable { sync.wait(std::move(token)); });
  (void)sync.arrive();
  waiter.join();
}

TYPED_TEST(Interface, OneByOneTheyDrop) {
  for (const std::ptrdiff_t n : sizes) {
    typename TypeParam::template barrier<> sync(n);
    std::vector<int> data(static_cast<std::size_t>(n * n));
    run(n, [&](std::ptrdiff_t me) {
      for (std::ptrdiff_t phase = 0; phase < me; ++phase) {
        data[static_cast<std::size_t>(phase * n + me)] = 1;
        sync.arrive_and_wait();
        for (std::ptrdiff_t other = phase; other < n; ++other)
          ASSERT_EQ(data[static_cast<std::size_t>(phase * n + other)], 1)
              << "of " << other << " in phase " << phase;
      }
      data[static_cast<std::size_t>(me * n + me)] = 1;
      sync.arrive_and_drop();
    });
  }
}

TYPED_TEST(Interface, AllDropAtOnce) {
  for (const std::ptrdiff_t n : sizes) {
    typename TypeParam::template barrier<> sync(n);
    run(n, [&](std::ptrdiff_t) {
      sync.arrive_and_wait();
      sync.arrive_and_drop();
    });
  }
}

TYPED_TEST(Interface, HalfDropAndTheRestGoOn) {
  for (const std::ptrdiff_t n : sizes) {
    typename TypeParam::template barrier<> sync(n);
    std::atomic<std::ptrdiff_t> phases{0};
    run(n, [&](std::ptrdiff_t me) {
      sync.arrive_and_wait();
      if (me % 2 == 1) return sync.arrive_and_drop();
      for (int phase = 0; phase < 50; ++phase) {
        if (phase % 3 == 0)
          sync.wait(sync.arrive());
        else
          sync.arrive_and_wait();
        ++phases;
      }
    });
    EXPECT_EQ(phases, (n + 1) / 2 * 50);
  }
}

TYPED_TEST(Interface, DroppersOfOnePhaseAndTheNext) {
  constexpr std::ptrdiff_t n = 6;
  typename TypeParam::template barrier<> sync(n);
  run(n, [&](std::ptrdiff_t me) {
    sync.arrive_and_wait();
    if (me < 2) return sync.arrive_and_drop();
    sync.arrive_and_wait();
    if (me < 4) return sync.arrive_and_drop();
    for (int phase = 0; phase < 20; ++phase) sync.arrive_and_wait();
    sync.arrive_and_drop();
  });
}

TYPED_TEST(Interface, ADropCompletesThePhase) {
  typename TypeParam::template barrier<> sync(2);
  auto token = sync.arrive();
  sync.arrive_and_drop();
  sync.wait(std::move(token));
  // From here on this thread is the only participant.
  for (int phase = 0; phase < 10; ++phase) sync.arrive_and_wait();
}

TYPED_TEST(Interface, CompletionRunsOnceAPhaseBeforeAnyoneLeaves) {
  for (const std::ptrdiff_t n : sizes) {
    // The data are plain, so the barrier must order them.
    int completed = 0, sum = 0;
    std::vector<int> data(static_cast<std::size_t>(n));
    auto sync = TypeParam::make(n, [&]() noexcept {
      ++completed;
      sum = 0;
      for (const int value : data) sum += value;
    });
    run(n, [&](std::ptrdiff_t me) {
      for (int phase = 1; phase <= 100; phase += 2) {
        data[static_cast<std::size_t>(me)] = phase;
        sync.arrive_and_wait();
        ASSERT_EQ(completed, phase);
        ASSERT_EQ(sum, phase * n) << "everybody's data is in";
        // No thread writes again before all have read.
        sync.arrive_and_wait();
      }
    });
    EXPECT_EQ(completed, 100);
  }
}

TYPED_TEST(Interface, CompletionRunsForPhasesThatDropsComplete) {
  int completed = 0;
  auto sync = TypeParam::make(3, [&completed]() noexcept { ++completed; });
  (void)sync.arrive(2);
  sync.arrive_and_drop();
  EXPECT_EQ(completed, 1);
  (void)sync.arrive();
  sync.arrive_and_drop();
  EXPECT_EQ(completed, 2);
  sync.arrive_and_drop();
  EXPECT_EQ(completed, 3);
}

void count_call() noexcept {}

TYPED_TEST(Interface, TakesFunctionPointersAndMoveOnlyCompletions) {
  auto pointer = TypeParam::make(1, &count_call);
  pointer.arrive_and_wait();
  auto owned = TypeParam::make(1, [kept = std::make_unique<int>(1)]() noexcept { ++*kept; });
  owned.arrive_and_wait();
}

// libstdc++ refuses it; LWG 3898 allows it.
TEST(Completion, NeedNotBeNoexcept) {
  int completed = 0;
  tutti::barrier sync(1, [&completed] { ++completed; });
  sync.arrive_and_wait();
  EXPECT_EQ(completed, 1);
}

TEST(CompletionDeathTest, ThatThrowsEndsTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        tutti::barrier sync(1, [] { throw std::runtime_error("of the user"); });
        try {
          sync.arrive_and_wait();
        } catch (const std::runtime_error&) {
        }
      },
      "of the user");
}

// std::barrier's constructor is constexpr too, but libstdc++'s allocates.
constinit tutti::barrier<> of_the_program(3);

TEST(Constinit, BarriersForFewParticipantsCanBe) {
  int count = 0;
  run(3, [&](std::ptrdiff_t me) {
    for (int phase = 0; phase < 30; ++phase) {
      if (phase % 3 == me) ++count;
      of_the_program.arrive_and_wait();
    }
  });
  EXPECT_EQ(count, 30);
}

TEST(Deduction, IsTheStandardOne) {
  std::barrier standard_sync(1);
  tutti::barrier tuttis_sync(1);
  static_assert(std::is_same_v<decltype(standard_sync), std::barrier<>>);
  static_assert(std::is_same_v<decltype(tuttis_sync), tutti::barrier<>>);
  auto completion = []() noexcept {};
  tutti::barrier with(1, completion);
  static_assert(std::is_same_v<decltype(with), tutti::barrier<decltype(completion)>>);
  with.arrive_and_wait();
}

}  // namespace
