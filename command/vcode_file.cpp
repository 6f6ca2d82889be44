// SPDX-License-Identifier: Apache-2.0
#include "command/vcode_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

#include "cli/errors.hpp"
#include "cli/options.hpp"

namespace tutti::command {

vcode::program read_vcode(const std::string& file) {
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  std::error_code ignored;
  const int reason = in && std::filesystem::is_directory(file, ignored) ? EISDIR : errno;
  if (!in || reason == EISDIR) {
    throw std::invalid_argument(
        fmt::format("{}: cannot be opened: {}", file, std::generic_category().message(reason)));
  }
  const std::string text(std::istreambuf_iterator<char>(in), {});
  if (in.bad()) throw std::invalid_argument(fmt::format("{}: cannot be read", file));
  vcode::program made = vcode::compile(text, file);
  for (const auto& each : made.warnings()) cli::complain("tutti", "warning: " + each, cli::success);
  vcode::require_no_inputs(made);
  return made;
}

}  // namespace tutti::command
