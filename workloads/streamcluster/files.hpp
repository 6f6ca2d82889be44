// SPDX-License-Identifier: Apache-2.0
// The readers behind open_points(), and their common parts.
#pragma once

#include <fmt/format.h>

#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

#include "workloads/streamcluster/sources.hpp"

namespace tutti::streamcluster {

std::unique_ptr<source> open_text(const std::string& file, std::size_t dimensions);
std::unique_ptr<source> open_npy(const std::string& file, std::size_t dimensions);
std::unique_ptr<source> open_raw(const std::string& file, std::size_t dimensions);

// Opens a file for reading in binary. Throws std::runtime_error in the words of the system.
std::ifstream open_for_reading(const std::string& file);

// Throws std::runtime_error with "file: sentence" or "file:line: sentence".
template <class... Arguments>
[[noreturn]] void fail_in(const std::string& file, fmt::format_string<Arguments...> text,
                          Arguments&&... arguments) {
  throw std::runtime_error(file + ": " + fmt::format(text, std::forward<Arguments>(arguments)...));
}

}  // namespace tutti::streamcluster
