// SPDX-License-Identifier: Apache-2.0
// `tutti bench instruction`: what the barrier makes of an instruction of the vector machine that
// does next to nothing.
#pragma once

#include <list>
#include <memory>
#include <string>
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
  // The instructions of a round.
  std::uint64_t count = 20000;
  // In rounds.
  run_length length;
};

class instruction_suite {
 public:
  struct result : series_record {
    std::string family, name, wait;
    rank_t threads = 0;
    nop_kind kind = nop_kind::stack;
  };

  explicit instruction_suite(instruction_plan plan);
  ~instruction_suite();
  void run(const progress& report);
  const std::list<result>& results() const { return results_; }

 private:
  class pinned_team;
  using round = std::function<double()>;
  const nop_program& program(nop_kind kind) const;
  void add(const contender& who, rank_t threads, nop_kind kind, round run);
  round without_barrier(pinned_team& team, rank_t threads, nop_kind kind);
  round in_process(const contender& who, pinned_team& team, rank_t threads, nop_kind kind);
  void add_openmp(rank_t threads, nop_kind kind);

  const instruction_plan plan_;
  const nop_program stack_;
  const nop_program vector_;
  std::vector<std::unique_ptr<pinned_team>> teams_;
  std::list<result> results_;
  std::vector<std::unique_ptr<series>> series_;
};

std::string json_lines(const instruction_suite& s, const cli::json& machine);
std::string table(const instruction_suite& s, const cli::json& machine);
// A table of the docs for the first number of threads. Without samples, times are missing.
std::string page_table(const instruction_suite& s);

}  // namespace tutti::bench
