// SPDX-License-Identifier: Apache-2.0
// How often calls that do not wait look at the clock and make progress, in rows of calls of given
// lengths.
#include "preload/mpi/progress_pace.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace tutti::preload {
namespace {

// A program that makes calls of 100 ns, and the time of its last progress.
struct program {
  progress_pace pace;
  std::uint64_t now_ns = 1'000'000'000, progressed_ns = 0;
  int looks = 0, progressed = 0;

  void work(std::uint64_t ns) { now_ns += ns; }
  void call(int times = 1) {
    for (int i = 0; i < times; ++i) {
      work(100);
      if (!pace.looks()) continue;
      ++looks;
      if (!pace.is_due(now_ns - progressed_ns, progress_pace::every_ns)) continue;
      progressed_ns = now_ns;
      ++progressed;
    }
  }
};

TEST(progress_pace, every_call_after_work_makes_progress) {
  program p;
  for (int i = 0; i < 100; ++i) {
    p.work(1'000'000);
    p.call();
  }
  EXPECT_EQ(p.progressed, 100);
}

TEST(progress_pace, few_calls_of_a_long_row_look_at_the_clock) {
  program p;
  p.call(100'000);
  EXPECT_LT(p.looks, 100'000 / 25);
  // 10 ms have passed.
  EXPECT_GE(p.progressed, 90);
  EXPECT_LE(p.progressed, 101);
}

TEST(progress_pace, a_row_of_calls_after_work_makes_progress_in_every_second_turn) {
  for (int row = 1; row <= 100; ++row) {
    program p;
    // A long row of calls before.
    p.call(1'000);
    p.progressed = 0;
    constexpr int turns = 64;
    for (int i = 0; i < turns; ++i) {
      p.work(1'000'000);
      p.call(row);
    }
    EXPECT_GE(p.progressed, (turns - progress_pace::most_calls / row) / 2 - 1) << row;
  }
}

}  // namespace
}  // namespace tutti::preload
