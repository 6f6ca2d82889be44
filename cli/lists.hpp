// SPDX-License-Identifier: Apache-2.0
// Values of options that are lists separated by commas.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::cli {

// Empty items are an error (std::invalid_argument) that names the option.
std::vector<std::string> split(std::string_view option, std::string_view text);

// Counts from 1 to `most`, in the order given, without repetition.
std::vector<std::uint32_t> parse_counts(std::string_view option, std::string_view text,
                                        std::uint32_t most);

// A number in [least, most]; for options that need a better sentence than the parser's.
double parse_number(std::string_view option, std::string_view text, double least, double most);
std::uint64_t parse_integer(std::string_view option, std::string_view text, std::uint64_t least,
                            std::uint64_t most);

}  // namespace tutti::cli
