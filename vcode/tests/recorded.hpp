// SPDX-License-Identifier: Apache-2.0
// The recorded programs: where they are, how they are run, what counts as equal.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "vcode.hpp"

namespace tutti::vcode::test {

struct recorded_program {
  std::string name;  // "conformance/DIST_INT_one"
  std::string text;
  std::string output;
  std::string error;  // only of programs that succeed, as errors have our own words
  int status = 0;
  bool has_output = false;
  bool checks_error = false;
  bool has_timers = false;  // recorded with a clock that runs: nothing is to be compared
};

// Of one folder, in the order of their names.
std::vector<recorded_program> recorded_programs(const std::string& folder);
recorded_program recorded(const std::string& name);

// The options under which it was recorded, and the engine and the threads of `how`.
void expect_recorded(const recorded_program& p, run_options how);

// Programs that take long enough to be run once by the quick tests, and everywhere by the long ones.
bool is_long(const recorded_program& p);

}  // namespace tutti::vcode::test
