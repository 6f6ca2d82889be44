// SPDX-License-Identifier: Apache-2.0
// The model checker has programs for the algorithm and the wait policy that a test has added by a
// header and an entry (CMakeLists.txt), and they hold.
#include <gtest/gtest.h>

#include <string_view>

#include "tests/model/explore.hpp"
#include "tests/model/subjects.hpp"

namespace tutti::model {
namespace {

TEST(Recipes, TheModelCheckerRunsThem) {
  for (const std::string_view name : {"echo", "wait: doze"}) {
    unsigned programs = 0;
    for (const subject& each : algorithm_subjects()) {
      if (each.name != name) continue;
      for (const program& one : each.programs) {
        EXPECT_EQ(explore(one, {.executions = 50}).is, verdict::no_error) << name << one.name;
        ++programs;
      }
    }
    EXPECT_GE(programs, 3u) << name;
  }
}

}  // namespace
}  // namespace tutti::model
