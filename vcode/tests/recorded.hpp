// SPDX-License-Identifier: Apache-2.0
// The recorded programs: where they are, how they are run, and which outputs count as equal.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "vcode/vcode.hpp"

namespace tutti::vcode::test {

struct recorded_program {
  // For example "conformance/DIST_INT_one".
  std::string name;
  std::string text;
  std::string output;
  // Compared only for programs that succeed, since tutti words its errors differently.
  std::string error;
  int status = 0;
  bool has_output = false;
  bool checks_error = false;
  // Recorded with a running clock, so the output is not compared.
  bool has_timers = false;
};

// Returns the programs of one folder, ordered by name.
std::vector<recorded_program> recorded_programs(const std::string& folder);
recorded_program recorded(const std::string& name);

// Runs the program with the options of its recording and with the engine and the threads of `how`.
void expect_recorded(const recorded_program& p, run_options how);

// True for programs that take so long that the quick tests run them once; the long tests run them
// in all settings.
bool is_long(const recorded_program& p);

}  // namespace tutti::vcode::test
