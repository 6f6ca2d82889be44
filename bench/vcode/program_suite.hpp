// SPDX-License-Identifier: Apache-2.0
// `tutti bench vcode`: programs of the vector machine on engines and threads, in turn; and what the
// engines move and how often their threads synchronise.
#pragma once

#include <cstdio>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/harness/machine.hpp"
#include "bench/harness/record.hpp"
#include "bench/harness/sweeps.hpp"
#include "bench/vcode/loops.hpp"
#include "tutti/team/team.hpp"
#include "vcode/vcode.hpp"

namespace tutti::bench {

struct named_program {
  std::string name;
  vcode::program code;
};

// How a program is run.
struct engine_setting {
  vcode::engine engine;
  std::string name;
  unsigned threads;
  // Whether the memory is kept from run to run.
  bool is_kept;
  // 0: the defaults of run_options.
  std::size_t share_from = 0, defer_from = 0;
};

struct program_plan {
  std::vector<named_program> programs;
  std::vector<engine_setting> settings;
  // In rounds.
  run_length length;
};

// What programs read and write while they are measured.
class silent_files {
 public:
  silent_files();
  vcode::run_options options() const;

 private:
  struct closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, closer> in_, out_;
};

class program_suite {
 public:
  struct result : series_record {
    std::string program, provider, name, memory;
    unsigned threads = 1;
    // Makes a round and returns its ns.
    std::function<double()> round;
    vcode::run_statistics statistics = {};
  };

  // Throws std::runtime_error if a plain loop computes something else than its program.
  explicit program_suite(program_plan plan);
  void run(const progress& report);
  const std::list<result>& results() const { return results_; }

 private:
  class one_program;
  void add_engine(const named_program& p, const engine_setting& s);
  void add_loop(const named_program& p, const plain_loop& loop);
  team& team_of(unsigned threads);
  vcode::kept_memory& memory_of(const std::string& program);

  const program_plan plan_;
  silent_files silent_;
  std::map<std::string, std::unique_ptr<vcode::kept_memory>> memories_;
  std::map<unsigned, std::unique_ptr<tutti::team>> teams_;
  std::list<result> results_;
};

std::string json_lines(const program_suite& s, const cli::json& machine);
std::string table(const program_suite& s, const cli::json& machine);

// Tables of the docs. Without samples, times and what is made of them are missing.
std::string page_table(const program_suite& s);
// Counts instead of times; without them if only the form is wanted.
std::string table_of_counts(const std::vector<named_program>& programs, bool is_form);

}  // namespace tutti::bench
