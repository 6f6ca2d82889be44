// SPDX-License-Identifier: Apache-2.0
// Runs a command line as a user's shell does, for the tests of programs.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <string>
#include <utility>

namespace tutti::test {

struct output {
  // -1: the program did not start, or a signal ended it.
  int status = -1;
  std::string text;
};

inline output run_shell(const std::string& command) {
  output result;
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return result;
  char buffer[4096];
  while (const std::size_t n = fread(buffer, 1, sizeof buffer, pipe)) result.text.append(buffer, n);
  const int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

// A program that is run again and again.
class program {
 public:
  explicit program(std::string path) : path_(std::move(path)) {}

  // The output on standard output only, or on standard error only.
  output standard_output(const std::string& arguments) const {
    return run_shell(path_ + " " + arguments + " 2>/dev/null");
  }
  output standard_error(const std::string& arguments) const {
    return run_shell(path_ + " " + arguments + " 2>&1 >/dev/null");
  }

 private:
  std::string path_;
};

}  // namespace tutti::test
