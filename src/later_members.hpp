// SPDX-License-Identifier: Apache-2.0
// Options of the C interface that a later version has made. They begin with their size.
#pragma once

#include <cstddef>

namespace tutti::c_abi {

// Whether the options set a member that this version does not know, and therefore cannot obey. The
// size must be at least that of Options.
template <class Options>
bool sets_later_members(const Options& given) noexcept {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&given);
  for (std::size_t i = sizeof given; i < given.size; ++i)
    if (bytes[i] != 0) return true;
  return false;
}

}  // namespace tutti::c_abi
