// SPDX-License-Identifier: Apache-2.0
// Programs of elementwise instructions drawn at random from the instruction table, for tests and
// benchmarks of chains that nobody chose.
#pragma once

#include <cstdint>
#include <string>

namespace tutti::vcode {

// Returns a program that makes vectors of `length` elements, applies `steps` elementwise
// instructions, each to a recent result, and reduces the last result. The same seed gives the same
// program.
std::string random_chain(std::uint32_t seed, std::int32_t length, int steps);

}  // namespace tutti::vcode
