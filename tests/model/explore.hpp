// SPDX-License-Identifier: Apache-2.0
// Runs a small concurrent program through many executions under Relacy.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tutti/platform/config.hpp"

namespace tutti::model {

// What the threads of one execution share, and do. Made anew for each execution, inside it.
class scenario {
 public:
  scenario() = default;
  virtual ~scenario() = default;
  scenario(const scenario&) = delete;
  scenario& operator=(const scenario&) = delete;
  virtual void thread(rank_t rank) = 0;
  // After all threads have ended.
  virtual void after() {}
};

struct program {
  std::string name;
  rank_t threads = 2;  // 2 to 4
  std::function<std::unique_ptr<scenario>()> make;
};

enum class search {
  random,   // executions drawn at random, each number its own seed
  bounded,  // every execution with at most so many preemptions
};

struct plan {
  search how = search::random;
  std::uint64_t executions = 1000;  // at most
  std::uint64_t first = 1;          // random: the first seed
  unsigned preemptions = 2;         // bounded
  bool show = false;                // print the history of an execution that fails
};

enum class verdict { no_error, error, no_such_mutant };

struct outcome {
  verdict is = verdict::no_error;
  std::string error;             // "data race", "deadlock", ...
  std::uint64_t executions = 0;  // run, the failing one included
  bool is_complete = false;      // bounded: nothing is left to try
};

outcome explore(const program& what, const plan& how);

}  // namespace tutti::model
