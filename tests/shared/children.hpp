// SPDX-License-Identifier: Apache-2.0
// Processes for tests of the barrier between processes, and memory that they share with the test.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/shared_memory.hpp"
#include "tutti/barrier/shared.hpp"

namespace tutti::test {

using namespace std::chrono_literals;

using cli::shared_memory;
using cli::shared_object;

// A barrier in anonymous memory.
class place {
 public:
  explicit place(rank_t participants, shared_barrier_options options = {})
      : n_(participants), memory_(shared_barrier::bytes_for(participants)) {
    shared_barrier::build(memory_.base(), memory_.bytes(), n_, options);
  }
  shared_barrier open() const { return shared_barrier::at(memory_.base(), memory_.bytes(), n_); }
  shared_barrier join(rank_t rank) const {
    shared_barrier sync = open();
    sync.join(rank);
    return sync;
  }
  const shared_memory& memory() const noexcept { return memory_; }

 private:
  rank_t n_;
  shared_memory memory_;
};

// Child processes. Those that are left at the end are killed.
class children {
 public:
  children() = default;
  ~children() {
    for (const pid_t child : running_) ::kill(child, SIGKILL);
    for (const pid_t child : running_) waitpid(child, nullptr, 0);
  }
  children(const children&) = delete;
  children& operator=(const children&) = delete;

  // Runs `work`, whose result is the exit status, in a child. An exception is status 99.
  template <class Work>
  pid_t start(Work work) {
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("fork");
    if (child == 0) {
      int status = 99;
      try {
        status = work();
      } catch (const std::exception& e) {
        fprintf(stderr, "child: %s\n", e.what());
      }
      _exit(status);
    }
    running_.push_back(child);
    return child;
  }
  void kill(pid_t child) { ::kill(child, SIGKILL); }

  // Returns the exit status, or minus the number of the signal that ended it.
  int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    std::erase(running_, child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  // Returns the number of children that did not end with status 0.
  int failures() {
    int failed = 0;
    for (const std::vector<pid_t> all = running_; const pid_t child : all)
      failed += wait_for(child) == 0 ? 0 : 1;
    return failed;
  }

 private:
  std::vector<pid_t> running_;
};

// A name that nobody else uses, removed at the end.
class unique_name {
 public:
  explicit unique_name(const std::string& what)
      : name_("tutti_test_" + what + '_' + std::to_string(getpid())) {
    shared_barrier::unlink(name_);
  }
  ~unique_name() { shared_barrier::unlink(name_); }
  unique_name(const unique_name&) = delete;
  unique_name& operator=(const unique_name&) = delete;
  operator std::string_view() const noexcept { return name_; }
  std::string path() const { return "/dev/shm/" + name_; }

 private:
  std::string name_;
};

}  // namespace tutti::test
