// SPDX-License-Identifier: Apache-2.0
// The machine line of a benchmark, and running a suite of one.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "bench/harness/machine.hpp"
#include "cli/errors.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"

namespace tutti::command {

// This machine, and what others took of its processors while `measure` ran: parts from 0 to 1.
template <class Measure>
cli::json machine_during(Measure&& measure) {
  cli::json machine = bench::describe_machine();
  const bench::processor_time begin = bench::read_processor_time();
  std::forward<Measure>(measure)();
  const bench::noise others = bench::noise_between(begin, bench::read_processor_time());
  machine["foreign_load"] = others.foreign_load;
  machine["steal"] = others.steal;
  return machine;
}

// The same while a suite runs, whose progress is shown.
template <class Suite>
cli::json machine_during_run(Suite& suite) {
  return machine_during([&] {
    cli::progress_line line;
    suite.run([&](const std::string& what, double fraction) { line.update(what, fraction); });
  });
}

// Complains about what a suite has not measured, and returns the exit status.
template <class Suite>
int complain_of_failures(const Suite& suite) {
  const std::vector<std::string> sentences = sentences_of_failures(suite);
  for (const auto& each : sentences) cli::complain("tutti", each, cli::failed);
  return sentences.empty() ? cli::success : cli::failed;
}

// Runs a suite and prints what it has measured: lines of JSON or a table.
template <class Suite>
int run_and_print(Suite suite, bool in_json) {
  const auto machine = machine_during_run(suite);
  fmt::print("{}", in_json ? json_lines(suite, machine) : table(suite, machine));
  if constexpr (requires { sentences_of_failures(suite); }) return complain_of_failures(suite);
  return cli::success;
}

}  // namespace tutti::command
