// SPDX-License-Identifier: Apache-2.0
// The engines on a platform that is not the native one: each gives, under every schedule, the
// result of one native thread.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "tests/platform/fibered.hpp"
#include "vcode/on_platform.hpp"

namespace tutti::vcode {
namespace {

using test::fibered;
using test::fibered_world;
using integers = std::vector<std::int32_t>;

constexpr std::int32_t length = 20'000;

TEST(VcodePlatform, EveryEngineGivesTheResultOfOneThread) {
  const program code =
      compile("FUNC MAIN START_TIMER COPY 1 0 * INT STOP_TIMER POP 1 0 RET", "squares");
  integers numbers(length);
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto wanted = run(code, {numbers}).stack;
  for (const engine each : {engine::lazy, engine::workers, engine::spmd})
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      fibered_world world({.cpus = 4, .seed = seed});
      std::vector<vector_value> got;
      world.run([&] {
        basic_team<fibered> team(3);
        run_options how;
        how.engine = each;
        how.share_from = how.defer_from = 64;
        got = run_on(team, code, {numbers}, how).stack;
      });
      EXPECT_TRUE(got == wanted) << static_cast<int>(each) << " seed " << seed;
      EXPECT_GT(world.steps(), 10u);
    }
}

TEST(VcodePlatform, TimersShowThePlatformsClock) {
  const program code = compile("FUNC MAIN START_TIMER STOP_TIMER RET", "timer");
  fibered_world world({.cpus = 4, .seed = 1});
  double seconds = 0;
  world.run([&] {
    basic_team<fibered> team(1);
    seconds = std::get<std::vector<double>>(run_on(team, code).stack.at(0)).at(0);
  });
  // Reading the clock takes 25 ns there.
  EXPECT_NEAR(seconds, 25e-9, 1e-9);
}

}  // namespace
}  // namespace tutti::vcode
