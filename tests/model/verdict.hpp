// SPDX-License-Identifier: Apache-2.0
// Judges a subject: there must be no error as it is written, and an error with each memory order
// weakened.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/model/sites.hpp"
#include "tests/model/subjects.hpp"

namespace tutti::model {

struct effort {
  // Random executions of each program as it is written.
  std::uint64_t executions = 20'000;
  // Random executions of each program with a weakened order.
  std::uint64_t mutant_executions = 3'000;
  // Systematic executions of each program as it is written.
  std::uint64_t bounded_executions = 0;
  // Preemptions in the systematic executions.
  unsigned preemptions = 2;
};

// A weakened order and the result.
struct trial {
  mutant what;
  bool is_caught = false;
  // If caught: "data race", ...
  std::string error;
  // If caught: the program.
  std::string program;
  // If caught: the number of the execution in that program.
  std::uint64_t execution = 0;
  const exception* excuse = nullptr;

  bool is_right() const { return is_caught == (excuse == nullptr); }
};

struct report {
  std::string subject;
  std::uint64_t programs = 0;
  // Executions as written.
  std::uint64_t executions = 0;
  // Programs of which every execution within the bound was run.
  std::uint64_t exhausted = 0;
  std::vector<site> sites;
  std::vector<trial> trials;
  // Empty, or the program and its error as written.
  std::string failure;

  bool is_right() const;
};

report judge(const subject& what, const effort& how);

struct control_report {
  std::string name;
  // Empty: not seen.
  std::string error;
  std::uint64_t execution = 0;
  bool is_sound_passed = false;

  bool is_right() const { return !error.empty() && is_sound_passed; }
};

control_report judge(const control& what, const effort& how);

}  // namespace tutti::model
