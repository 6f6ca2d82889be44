// SPDX-License-Identifier: Apache-2.0
// Tests the numbers of the openings of a fork-join; tests/model/regions.cpp checks it with threads.
#include "tutti/team/fork_join.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tutti/barrier/timed.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/reduce/raw_value.hpp"

namespace {

struct job {
  int number = 0;
};
using fork = tutti::fork_join<job, tutti::raw_value<56>>;

class Openings : public testing::TestWithParam<bool> {};

// A word holds 30 bits of the number of the last opening.
TEST_P(Openings, MayBeMoreThanAWordCounts) {
  constexpr int regions = 8;
  fork both(2, GetParam());
  both.begin((1u << 30) - 4);
  std::thread worker([&] {
    job now;
    for (int last = 0; last < regions;) {
      if (!both.await(1, now)) continue;
      EXPECT_EQ(now.number, ++last);
      both.arrive(1);
    }
  });
  for (int number = 1; number <= regions; ++number) {
    both.open(job{number});
    const auto until = tutti::deadline_after<tutti::native>(std::chrono::seconds(30));
    ASSERT_TRUE(both.close(until)) << "region " << number << " does not end";
    EXPECT_TRUE(both.has_finished(1)) << "region " << number;
    if (number % 2 == 0) both.offer();
  }
  worker.join();
}
INSTANTIATE_TEST_SUITE_P(All, Openings, testing::Bool(),
                         [](const auto& of) { return of.param ? "crowded" : "a_core_each"; });

}  // namespace
