// SPDX-License-Identifier: Apache-2.0
// Gives the C interface C++ functions that throw: the result is an error, never an exception
// through C.
#include <gtest/gtest.h>

#include <stdexcept>

#include "tutti.h"

namespace {

constexpr std::uint32_t ranks = 3, thrower = 1;

int throws(tutti_member* me, void*) {
  if (tutti_member_rank(me) == thrower) throw std::runtime_error("of the user");
  return tutti_member_barrier(me);
}
int throws_summing(tutti_member* me, void* arg, double*) { return throws(me, arg); }
int throws_in_loop(tutti_member* me, std::size_t, std::size_t, void* arg) {
  return throws(me, arg);
}

class Throw : public testing::TestWithParam<std::uint32_t> {
 protected:
  Throw() {
    tutti_team_options options{};
    options.size = sizeof options;
    options.threads = GetParam();
    options.ranks = ranks;
    EXPECT_EQ(tutti_team_create(&team_, &options), TUTTI_OK);
  }
  ~Throw() override { tutti_team_destroy(team_); }

  tutti_team* team_ = nullptr;
};

TEST_P(Throw, IsTheErrorOfTheRank) {
  double sum = 7;
  const auto check = [&](int error) {
    EXPECT_EQ(error, TUTTI_ETHROW);
    EXPECT_EQ(tutti_team_failed_rank(team_), thrower);
  };
  check(tutti_team_run(team_, throws, nullptr));
  check(tutti_team_run_for(team_, throws, nullptr, UINT64_MAX));
  check(tutti_team_run_reduce(team_, throws_summing, nullptr, TUTTI_PLUS, &sum, 1));
  check(tutti_team_parallel_for(team_, 0, ranks, TUTTI_STATIC_BLOCKS, 0, throws_in_loop, nullptr));
  EXPECT_EQ(sum, 7);
}

INSTANTIATE_TEST_SUITE_P(KernelThreadsAndFibers, Throw, testing::Values(3U, 2U));

}  // namespace
