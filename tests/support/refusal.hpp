// SPDX-License-Identifier: Apache-2.0
// What a call says that is refused.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace tutti::test {

// The text of the exception that the call throws, or "accepted".
template <class Exception, class Call>
std::string refusal_of(Call call) {
  try {
    call();
  } catch (const Exception& error) {
    return error.what();
  }
  return "accepted";
}

// Expects that the call throws an exception whose text has this part.
template <class Exception = std::invalid_argument, class Call>
void expect_refused(Call call, const std::string& part) {
  const std::string said = refusal_of<Exception>(call);
  EXPECT_NE(said.find(part), std::string::npos) << said << ", not: " << part;
}

}  // namespace tutti::test
