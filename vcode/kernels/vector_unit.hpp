// SPDX-License-Identifier: Apache-2.0
// The vector units for which the kernels are compiled, and the choice among them. Highway's own
// choice is not used: it needs Highway's library, whose initialisation takes three milliseconds.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace tutti::vcode {

// The places in a kernel's table, widest unit first.
inline constexpr std::size_t unit_count = 4;

// Returns the place of the unit that kernels use: the widest that the processor has, unless
// force_vector_unit() chose another.
std::size_t chosen_unit();

// Returns the name of that unit: "AVX3", "AVX2", "SSE4", or "baseline" for what every processor of
// this kind has.
const char* vector_unit();
// Returns the names of the units that this processor has, widest first.
std::vector<std::string> vector_units();
// Lets programs that are prepared from now on use this unit. Throws std::invalid_argument if the
// processor does not have it. Do not call it while programs run.
void force_vector_unit(const std::string& name);

}  // namespace tutti::vcode

// Include hwy/highway.h first to use these. TUTTI_VCODE_EXPORT makes the table of a function
// that is compiled for each unit; TUTTI_VCODE_CHOSEN is the function for the chosen unit.
#define TUTTI_VCODE_EXPORT(function)                                                \
  static constexpr std::array<decltype(&HWY_STATIC_DISPATCH(function)), unit_count> \
      function##_of_unit = {TUTTI_VCODE_AVX3(function), TUTTI_VCODE_AVX2(function), \
                            TUTTI_VCODE_SSE4(function), &HWY_STATIC_DISPATCH(function)}
#define TUTTI_VCODE_CHOSEN(function) (*function##_of_unit[chosen_unit()])
#ifdef HWY_CHOOSE_AVX3
#define TUTTI_VCODE_AVX3(function) HWY_CHOOSE_AVX3(function)
#define TUTTI_VCODE_AVX2(function) HWY_CHOOSE_AVX2(function)
#define TUTTI_VCODE_SSE4(function) HWY_CHOOSE_SSE4(function)
#else
#define TUTTI_VCODE_AVX3(function) nullptr
#define TUTTI_VCODE_AVX2(function) nullptr
#define TUTTI_VCODE_SSE4(function) nullptr
#endif
