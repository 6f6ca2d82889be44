// SPDX-License-Identifier: Apache-2.0
// What every program does with wrong arguments.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/support/run_program.hpp"

namespace tutti::test {

// Expects one sentence that begins with the program's name, nothing else, and status 2.
inline void expect_wrong_usage(const program& refusing, const std::string& name,
                               const std::string& arguments) {
  const output error = refusing.standard_error(arguments);
  EXPECT_EQ(error.status, 2) << error.text;
  EXPECT_EQ(std::count(error.text.begin(), error.text.end(), '\n'), 1) << error.text;
  EXPECT_TRUE(error.text.starts_with(name + ": ")) << error.text;
  EXPECT_EQ(refusing.standard_output(arguments).text, "");
}

}  // namespace tutti::test
