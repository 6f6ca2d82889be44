// SPDX-License-Identifier: Apache-2.0
// `tutti bench instruction`: what the barrier makes of an instruction of the vector machine that
// does next to nothing.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/contenders/contender.hpp"
#include "bench/harness/machine.hpp"
#include "bench/harness/record.hpp"
#include "bench/harness/sweeps.hpp"
#include "bench/vcode/instruction.hpp"

namespace tutti::bench {

struct instruction_plan {
  std::vector<contender> contenders;
  std::vector<rank_t> threads;
  // The instructions of a round, and how many rounds; fewer where the time is too short for them.
  std::uint64_t count = 20000;
  run_length length;
};

class instruction_suite {
 public:
  struct result : series_record {
    std::string family, name, wait;
    rank_t threads = 0;
    nop_kind kind = nop_kind::stack;
    // The instructions of its shortest round.
    std::uint64_t instructions = 0;
    std::string not_measured;
  };

  explicit instruction_suite(instruction_plan plan);
  ~instruction_suite();
  void run(const progress& report);
  const std::list<result>& results() const { return results_; }
  const instruction_plan& plan() const { return plan_; }
  // Whether the time was too short for all rounds with all instructions of one that was measured.
  bool is_cut(const result& r) const;

 private:
  class pinned_team;
  class instruction_series;
  // Runs so many instructions and returns the ns of one.
  using round = std::function<double(std::uint64_t count)>;
  const nop_program& program(nop_kind kind, std::uint64_t count);
  std::uint64_t fitting(double instruction_ns) const;
  void add(const contender& who, rank_t threads, nop_kind kind, round run);
  round without_barrier(pinned_team& team, rank_t threads, nop_kind kind);
  round in_process(const contender& who, pinned_team& team, rank_t threads, nop_kind kind);
  void add_openmp(rank_t threads, nop_kind kind);

  const instruction_plan plan_;
  std::map<std::pair<nop_kind, std::uint64_t>, nop_program> programs_;
  std::vector<std::unique_ptr<pinned_team>> teams_;
  std::list<result> results_;
  std::vector<std::unique_ptr<series>> series_;
};

std::string json_lines(const instruction_suite& s, const cli::json& machine);
std::string table(const instruction_suite& s, const cli::json& machine);
// A table of the docs for the first number of threads. Without samples, times are missing.
std::string page_table(const instruction_suite& s);
std::vector<std::string> sentences_of_failures(const instruction_suite& s);

}  // namespace tutti::bench
