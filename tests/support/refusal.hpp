// SPDX-License-Identifier: Apache-2.0
// What a call says that is refused.
#pragma once

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

}  // namespace tutti::test
