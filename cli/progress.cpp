// SPDX-License-Identifier: Apache-2.0
// Progress on standard error.
#include "cli/progress.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

namespace tutti::cli {

using namespace std::chrono_literals;

namespace {

constexpr std::string_view erased = "\r\033[K";

// Erases the line before the signal does what it does to this process.
void erase_and_end(int signal_number) {
  if (write(STDERR_FILENO, erased.data(), erased.size()) < 0) _exit(128 + signal_number);
  raise(signal_number);
}

// Gives the signals that end this process the handler `to`, if theirs is `from`: one that somebody
// else handles, or that this process ignores, stays as it is.
void handle_signals(void (*from)(int), void (*to)(int)) {
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (sigaction(signal_number, nullptr, &action) != 0 || action.sa_handler != from) continue;
    action = {};
    action.sa_handler = to;
    // The signal that the handler raises ends the process when the handler returns.
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(signal_number, &action, nullptr);
  }
}

}  // namespace

progress_line::progress_line() : terminal_(isatty(STDERR_FILENO) == 1) {}

progress_line::~progress_line() {
  if (!shown_ || !terminal_) return;
  fmt::print(stderr, "{}", erased);
  handle_signals(erase_and_end, SIG_DFL);
}

void progress_line::update(const std::string& what, double fraction) {
  const auto now = clock::now();
  if (now - begin_ < 2s) return;
  const auto pause = terminal_ ? clock::duration(200ms) : clock::duration(10s);
  if (shown_ && now - last_ < pause) return;
  last_ = now;
  if (!shown_ && terminal_) handle_signals(SIG_DFL, erase_and_end);
  shown_ = true;
  const std::string text = fmt::format("tutti: {:3.0f} %  {}", 100 * fraction, what);
  if (terminal_) {
    fmt::print(stderr, "{}{}", erased, text);
    std::fflush(stderr);
  } else {
    fmt::print(stderr, "{}\n", text);
  }
}

}  // namespace tutti::cli
