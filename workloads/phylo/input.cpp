// SPDX-License-Identifier: Apache-2.0
// Reads whole files, and words errors.
#include "workloads/phylo/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

namespace tutti::phylo {

std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

void refuse_input(std::string_view file, text_place where, std::string_view what) {
  const std::string column = where.column == 0 ? "" : fmt::format("{}:", where.column);
  throw input_error(one_line(fmt::format("{}:{}:{} {}", file, where.line, column, what)));
}

std::string read_file(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) {
    throw std::runtime_error(fmt::format("{}: is a directory", file.string()));
  }
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    throw std::runtime_error(
        fmt::format("{}: cannot be opened: {}", file.string(),
                    std::error_code(errno, std::generic_category()).message()));
  }
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (in.bad()) throw std::runtime_error(fmt::format("{}: cannot be read", file.string()));
  return text;
}

std::string shown(char c) {
  const auto code = static_cast<unsigned char>(c);
  if (code > 32 && code < 127) return fmt::format("'{}'", c);
  return fmt::format("character 0x{:02x}", code);
}

}  // namespace tutti::phylo
