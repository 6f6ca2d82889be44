// SPDX-License-Identifier: Apache-2.0
// Reads a FLOAT from text.
#pragma once

#include <optional>
#include <string_view>

namespace tutti::vcode {

// Returns the double nearest to the number that `text` is as a whole, or nothing if it is none. It
// reads what std::strtod reads in the locale "C", except blanks and the digits of a NaN: unlike
// std::strtod, it does not depend on the locale of the program that uses this library. A number out
// of range becomes an infinity or a zero.
std::optional<double> read_real(std::string_view text);

}  // namespace tutti::vcode
