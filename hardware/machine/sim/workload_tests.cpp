// SPDX-License-Identifier: Apache-2.0
// Tests that the workloads give the host's results with every kind of barrier, and that a wrong
// result would be seen. TUTTI_MACHINE_IMAGES is the folder of the images.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "hardware/machine/sim/workloads.hpp"

namespace {

using namespace tutti::machine;
using tutti::rtl::algorithm;
using tutti::rtl::contender;
using tutti::rtl::vector_program;

const std::string folder = TUTTI_MACHINE_IMAGES;

constexpr auto number = [](auto who) { return static_cast<std::uint32_t>(who); };
const std::uint32_t some[] = {number(algorithm::tournament), number(contender::barwait),
                              number(contender::structure), number(contender::mask),
                              number(contender::counting)};
constexpr std::uint32_t none = number(contender::none);

workload_run with(std::uint32_t who, unsigned cores = 4, unsigned sockets = 1) {
  return {.contender = who, .cores = cores, .sockets = sockets, .unit_distance = 10};
}

TEST(Workloads, StreamClusterGivesTheHostsResult) {
  for (const std::uint32_t who : some)
    EXPECT_GT(measure_streamcluster(folder, with(who), 4).median, 1000);
}

TEST(Workloads, RegionsGiveTheHostsSum) {
  std::vector<std::uint32_t> who(std::begin(some), std::end(some));
  for (const auto each :
       {algorithm::central, algorithm::flags, algorithm::flags_padded, algorithm::recursive,
        algorithm::recursive_padded, algorithm::atomic, algorithm::mutex})
    who.push_back(number(each));
  who.push_back(number(contender::fork_join));
  const double work = measure_regions(folder, with(none), 64, 4).median;
  for (const std::uint32_t each : who) {
    EXPECT_GT(measure_regions(folder, with(each), 0, 4).median, 20);
    EXPECT_GT(measure_regions(folder, with(each), 64, 4).median, work);
  }
}

TEST(Workloads, TheSortIsTheLibrarysOverOneAndTwoSockets) {
  for (const unsigned sockets : {1u, 2u})
    for (const std::uint32_t who : some)
      EXPECT_GT(measure_vectors(folder, with(who, 4, sockets), vector_program::sort, 200, 1)
                    .cycles.median,
                1000);
}

// One element is a value of each core, 65 elements are two parts, and with 4,096 the blocks are
// full.
TEST(Workloads, TheSortTakesAnyLength) {
  for (const std::uint32_t elements : {1u, 2u, 63u, 65u, 4096u})
    EXPECT_GT(
        measure_vectors(folder, with(number(contender::mask), 3), vector_program::sort, elements, 1)
            .barriers,
        0u)
        << elements;
  EXPECT_THROW(
      measure_vectors(folder, with(number(contender::mask), 3), vector_program::sort, 4097, 1),
      std::runtime_error)
      << "there is no room for them";
}

TEST(Workloads, TheSortSorts) {
  std::vector<std::int32_t> keys;
  for (std::uint32_t i = 0; i < 300; ++i)
    keys.push_back(tutti::rtl::vector_input(vector_program::sort, i));
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(run_by_library(vector_program::sort, 300), keys);
}

TEST(Workloads, EveryInstructionHasABarrier) {
  for (const auto program :
       {vector_program::nothing, vector_program::invert, vector_program::sort}) {
    const vector_figures here =
        measure_vectors(folder, with(number(contender::mask)), program, 128, 1);
    // Each of the sort's four passes has three instructions of two barriers.
    EXPECT_EQ(here.barriers, here.instructions + (program == vector_program::sort ? 12 : 0));
  }
}

TEST(Workloads, AFailureEndsTheProgramOnAllCores) {
  using tutti::rtl::vector_failure;
  const auto failures = [](vector_failure how) {
    return run_failure(folder, with(number(contender::mask)), how, 256);
  };
  // index_twice and index_outside.
  EXPECT_EQ(failures(vector_failure::same_place), std::vector<std::uint32_t>(4, 3));
  EXPECT_EQ(failures(vector_failure::no_place), std::vector<std::uint32_t>(4, 2));
}

TEST(Workloads, WithoutABarrierTheSortIsWrong) {
  EXPECT_THROW(measure_vectors(folder, with(none), vector_program::sort, 1024, 1),
               std::runtime_error);
}

TEST(Workloads, AnInstructionThatDoesNothingTakesTheBarrier) {
  const auto each = [](std::uint32_t who) {
    const auto found = measure_vectors(folder, with(who), vector_program::nothing, 2, 1);
    return found.cycles.median / found.instructions;
  };
  const double interpreter = each(none), mask = each(number(contender::mask)),
               central = each(number(algorithm::central));
  EXPECT_LT(interpreter, 200);
  EXPECT_GT(mask, interpreter + 15);
  EXPECT_GT(central, mask + 100);
}

}  // namespace
