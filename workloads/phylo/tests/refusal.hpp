// SPDX-License-Identifier: Apache-2.0
// Texts that a parser refuses, each with what it says.
#pragma once

#include <gtest/gtest.h>

#include "workloads/phylo/input.hpp"

namespace tutti::phylo {

struct bad {
  const char* text;
  const char* error;
};

// Expects that parse(text) throws an input_error with this text.
template <class Parse>
void expect_refused(const bad& input, Parse parse) {
  try {
    parse(input.text);
    FAIL() << "accepted: " << input.text;
  } catch (const input_error& e) {
    EXPECT_STREQ(e.what(), input.error) << input.text;
  }
}

}  // namespace tutti::phylo
