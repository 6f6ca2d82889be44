// SPDX-License-Identifier: Apache-2.0
// Tells on standard error what a long subcommand is doing.
#pragma once

#include <chrono>
#include <string>

namespace tutti::cli {

// Silent for the first two seconds; then one line that is rewritten on a terminal, or a new line
// every ten seconds.
class progress_line {
 public:
  progress_line();
  ~progress_line();
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  void update(const std::string& what, double fraction);

 private:
  using clock = std::chrono::steady_clock;
  const clock::time_point begin_ = clock::now();
  clock::time_point last_ = begin_;
  const bool terminal_;
  bool shown_ = false;
};

}  // namespace tutti::cli
