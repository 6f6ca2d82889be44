// SPDX-License-Identifier: Apache-2.0
// Reads and writes whole files.
#include "workloads/phylo/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
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

void write_file(const std::filesystem::path& file, std::string_view text) {
  // The temporary file is in the same folder, because only a rename within one file system is
  // atomic.
  std::filesystem::path temporary = file;
  temporary += fmt::format(".{:08x}.partial", std::random_device{}());
  errno = 0;
  std::ofstream out(temporary, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  std::error_code error;
  if (!out) {
    error = std::error_code(errno != 0 ? errno : EIO, std::generic_category());
  } else {
    std::filesystem::rename(temporary, file, error);
  }
  if (!error) return;
  std::error_code ignored;
  std::filesystem::remove(temporary, ignored);
  throw std::runtime_error(
      fmt::format("{}: cannot be written: {}", file.string(), error.message()));
}

std::string shown(char c) {
  const auto code = static_cast<unsigned char>(c);
  if (code > 32 && code < 127) return fmt::format("'{}'", c);
  return fmt::format("character 0x{:02x}", code);
}

}  // namespace tutti::phylo
