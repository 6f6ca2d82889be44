// SPDX-License-Identifier: Apache-2.0
// Runs a small concurrent program through many executions under Relacy.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tutti/platform/config.hpp"
#include "tutti/platform/interface_base.hpp"

namespace tutti::model {

// What the threads of one execution share and do. It is made anew for each execution, inside it.
class scenario : public interface_base {
 public:
  virtual void thread(rank_t rank) = 0;
  // Called after all threads have ended.
  virtual void after() {}
};

struct program {
  std::string name;
  // 2 to 4.
  rank_t threads = 2;
  std::function<std::unique_ptr<scenario>()> make;
};

enum class search {
  // Executions drawn at random; each number is its own seed.
  random,
  // Every execution with at most this many preemptions.
  bounded,
};

struct plan {
  search how = search::random;
  // The largest number of executions.
  std::uint64_t executions = 1000;
  // For random: the first seed.
  std::uint64_t first = 1;
  // For bounded.
  unsigned preemptions = 2;
  // Whether to print the history of an execution that fails.
  bool show = false;
};

enum class verdict { no_error, error, no_such_mutant };

struct outcome {
  verdict is = verdict::no_error;
  // For example "data race" or "deadlock".
  std::string error;
  // The executions that ran, including the failing one.
  std::uint64_t executions = 0;
  // For bounded: nothing is left to try.
  bool is_complete = false;
};

outcome explore(const program& what, const plan& how);

}  // namespace tutti::model
