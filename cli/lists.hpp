// SPDX-License-Identifier: Apache-2.0
// Values of options: lists separated by commas, numbers, sizes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::cli {

// Empty items are an error (std::invalid_argument) that names the option.
std::vector<std::string> split(std::string_view option, std::string_view text);

// The same without repetitions.
std::vector<std::string> names(std::string_view option, std::string_view text);

// Counts from 1 to `most`, in the order given, without repetition.
std::vector<std::uint32_t> parse_counts(std::string_view option, std::string_view text,
                                        std::uint32_t most);

// The whole of a text as a number, decimal and finite; false if it is none.
bool read_number(std::string_view text, double& number);
bool read_number(std::string_view text, std::uint32_t& number);
bool read_number(std::string_view text, std::uint64_t& number);

// A number in [least, most]; for options that need a better sentence than the parser's.
double parse_number(std::string_view option, std::string_view text, double least, double most);
std::uint64_t parse_integer(std::string_view option, std::string_view text, std::uint64_t least,
                            std::uint64_t most);

// A number of bytes in [least, most], such as 4096, 512K, 4G or 4GiB: powers of 1024.
std::uint64_t parse_bytes(std::string_view option, std::string_view text, std::uint64_t least,
                          std::uint64_t most);

// ": did you mean 'barrier'?" if one of these is nearly the word, and nothing otherwise.
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace tutti::cli
