// SPDX-License-Identifier: Apache-2.0
// Long, oversubscribed runs with random delays, for every provider, to find what a quick run may
// miss.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/conformance/data_check.hpp"
#include "tests/conformance/providers.hpp"

namespace {

using namespace std::chrono_literals;
using tutti::rank_t;
using tutti::test::hold;
using tutti::test::provider;

class Stress : public testing::TestWithParam<provider> {};

// Threads that only keep the cores from the others.
class neighbours {
 public:
  explicit neighbours(unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      threads_.emplace_back([this] {
        // relaxed: only the flag matters.
        while (!stop_.load(tutti::relaxed)) {
        }
      });
  }
  ~neighbours() {
    stop_.store(true, tutti::relaxed);
    for (auto& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

constexpr std::uint64_t unlimited = ~std::uint64_t{0} >> 1;

TEST_P(Stress, OversubscribedWithRandomDelays) {
  for (const rank_t n : {2u, 3u, 5u, 8u, 17u, 64u})
    for (const bool traced : {false, true})
      EXPECT_EQ(hold({.participants = n,
                      .most_episodes = traced ? 20'000 : unlimited,
                      .time = 1'000ms,
                      .random_delays = true,
                      .traced = traced,
                      .patience = 600s},
                     GetParam().make(n)),
                "")
          << "n = " << n;
}

TEST_P(Stress, BesideBusyNeighbours) {
  for (const unsigned busy : {1u, std::thread::hardware_concurrency()}) {
    const neighbours around(busy);
    for (const rank_t n : {2u, 5u})
      EXPECT_EQ(
          hold({.participants = n, .most_episodes = unlimited, .time = 500ms, .patience = 600s},
               GetParam().make(n)),
          "")
          << "n = " << n;
  }
}

TEST_P(Stress, BackToBack) {
  EXPECT_EQ(hold({.participants = 2, .most_episodes = unlimited, .time = 3'000ms, .patience = 600s},
                 GetParam().make(2)),
            "");
}

INSTANTIATE_TEST_SUITE_P(Registry, Stress, testing::ValuesIn(tutti::test::providers()),
                         tutti::test::name_of_parameter);

}  // namespace
