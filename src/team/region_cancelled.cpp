// SPDX-License-Identifier: Apache-2.0
// The exception of cancelled regions, which teams of all platforms throw.
#include "tutti/team/member.hpp"

namespace tutti {

const char* region_cancelled::what() const noexcept {
  return "tutti: another rank of this parallel region has failed";
}

}  // namespace tutti
