// SPDX-License-Identifier: Apache-2.0
// Progress on standard error.
#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace tutti::cli {

using namespace std::chrono_literals;

progress_line::progress_line() : terminal_(isatty(STDERR_FILENO) == 1) {}

progress_line::~progress_line() {
  if (shown_ && terminal_) fmt::print(stderr, "\r\033[K");
}

void progress_line::update(const std::string& what, double fraction) {
  const auto now = clock::now();
  if (now - begin_ < 2s) return;
  const auto pause = terminal_ ? clock::duration(200ms) : clock::duration(10s);
  if (shown_ && now - last_ < pause) return;
  last_ = now;
  shown_ = true;
  const std::string text = fmt::format("tutti: {:3.0f} %  {}", 100 * fraction, what);
  if (terminal_) {
    fmt::print(stderr, "\r\033[K{}", text);
    std::fflush(stderr);
  } else {
    fmt::print(stderr, "{}\n", text);
  }
}

}  // namespace tutti::cli
