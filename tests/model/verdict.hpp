// SPDX-License-Identifier: Apache-2.0
// Judges a subject: no error as it is written, and an error with each memory order weakened.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sites.hpp"
#include "subjects.hpp"

namespace tutti::model {

struct effort {
  std::uint64_t executions = 20'000;        // at random, of each program as it is written
  std::uint64_t mutant_executions = 3'000;  // at random, of each program with a weakened order
  std::uint64_t bounded_executions = 0;     // systematic, of each program as it is written
  unsigned preemptions = 2;                 // in those
};

// An order weakened, and what came of it.
struct trial {
  mutant what;
  bool is_caught = false;
  std::string error;            // caught: "data race", ...
  std::string program;          // caught: where
  std::uint64_t execution = 0;  // caught: the number of the execution, in that program
  const exception* excuse = nullptr;

  bool is_right() const { return is_caught == (excuse == nullptr); }
};

struct report {
  std::string subject;
  std::uint64_t programs = 0;
  std::uint64_t executions = 0;  // as written
  std::uint64_t exhausted = 0;   // programs of which every execution within the bound was run
  std::vector<site> sites;
  std::vector<trial> trials;
  std::string failure;  // as written: empty, or program and error

  bool is_right() const;
};

report judge(const subject& what, const effort& how);

struct control_report {
  std::string name;
  std::string error;  // empty: not seen
  std::uint64_t execution = 0;
  bool is_sound_passed = false;

  bool is_right() const { return !error.empty() && is_sound_passed; }
};

control_report judge(const control& what, const effort& how);

}  // namespace tutti::model
