// SPDX-License-Identifier: Apache-2.0
// VCODE, the vector stack machine behind NESL: parse, verify, run.
//
//   auto program = tutti::vcode::compile("FUNC MAIN +_REDUCE INT RET");
//   auto stack = run(program, {std::vector<std::int32_t>{1, 2, 3}, segments{{3}}}).stack;   // {{6}}
//
// Nothing runs that has not been verified: types and stack effects of every function are known before
// execution, and what only execution can know (lengths, indices, divisors, memory) is checked there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "machine/statistics.hpp"

namespace tutti {
class team;  // tutti/team/team.hpp
}

namespace tutti::vcode {

// The text is not a program: lexical, syntactic, type and stack errors. what() is "file:line:column: sentence".
class source_error : public std::runtime_error {
 public:
  source_error(const std::string& file, std::size_t line, std::size_t column,
               const std::string& sentence);
  std::size_t line() const noexcept { return line_; }
  std::size_t column() const noexcept { return column_; }

 private:
  std::size_t line_;
  std::size_t column_;
};

// The program went wrong: what() is "file:line: instruction in function: sentence".
class run_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct program_data;

// A verified program. Cheap to copy: copies share it.
class program {
 public:
  explicit program(std::shared_ptr<const program_data> data) : data_(std::move(data)) {}
  const program_data& data() const noexcept { return *data_; }
  // What the parser found odd but could read, a sentence each.
  const std::vector<std::string>& warnings() const noexcept;
  // Types of the vectors that the entry function takes, deepest first: "INT SEGDES".
  std::string inputs() const;

 private:
  std::shared_ptr<const program_data> data_;
};

// `file` is only for messages. Throws source_error.
program compile(std::string_view text, std::string file = "program");

// Throws source_error if the entry function takes something: for programs that are run with an empty stack.
void require_no_inputs(const program& code);

// What can lie on the stack. BOOL elements are 0 or 1; a segment descriptor is the lengths of its segments.
struct segments {
  std::vector<std::int32_t> lengths;
  bool operator==(const segments&) const = default;
};
struct pair;
using vector_value = std::variant<std::vector<std::int32_t>, std::vector<double>,
                                  std::vector<std::uint8_t>, segments, std::shared_ptr<pair>>;
struct pair {
  vector_value first;
  vector_value second;
};

class arena;

// Memory for the vectors of several runs, one run at a time: the system clears a page for whoever writes to it first,
// and later runs find it cleared. Nothing of a run stays behind for the next.
class kept_memory {
 public:
  // 0 bytes: as much as the machine has. Throws std::invalid_argument if the system refuses.
  explicit kept_memory(std::size_t bytes = 0);
  ~kept_memory();
  kept_memory(const kept_memory&) = delete;
  kept_memory& operator=(const kept_memory&) = delete;
  tutti::vcode::arena& arena() const noexcept { return *arena_; }

 private:
  std::unique_ptr<tutti::vcode::arena> arena_;
};

enum class engine {
  lazy,  // the default: short vectors stay on one thread, elementwise chains are one pass over memory
  workers,  // one thread interprets, every vector instruction is a region of the team
  spmd,     // every thread interprets, a barrier agrees on every instruction
};

struct run_options {
  unsigned threads = 1;  // 0: one for each core that the process may use
  // Ranks of the team, 0: as many as threads. More share the threads as fibers.
  unsigned ranks = 0;
  vcode::engine engine = engine::lazy;
  // Threads that are there already: instead of `threads`, `ranks` and `barrier`, for many short runs.
  tutti::team* team = nullptr;
  std::string barrier;       // a name of the registry; empty: the team's choice
  bool check = false;        // also what memory safety does not need: see docs/vcode.md
  bool strict = false;       // FLOAT sums and products strictly from left to right
  bool zero_timers = false;  // STOP_TIMER pushes 0.0
  std::size_t memory = 0;    // bytes of the arena; 0: as much as the machine has
  // Instead of `memory`. Only one run at a time may have it.
  kept_memory* kept = nullptr;
  // Of engine lazy: elements from which an instruction is worth all threads, and from which deferring an elementwise
  // one is worth the bookkeeping. docs/vcode.md has what other values cost: little, from a half to twice the defaults.
  std::size_t share_from = 16384;
  std::size_t defer_from = 4096;
  std::FILE* trace = nullptr;  // a line for each instruction
  // The program's streams 0, 1 and 2.
  std::FILE* input = stdin;
  std::FILE* output = stdout;
  std::FILE* error = stderr;
};

struct run_result {
  bool exited = false;              // by EXIT: then the stack is empty
  std::vector<vector_value> stack;  // bottom first
  run_statistics statistics;
};

// Throws run_error, and std::invalid_argument for inputs or options that do not fit.
run_result run(const program& code, std::vector<vector_value> inputs = {},
               const run_options& options = {});

// Engine spmd on threads and with a barrier of the caller's own: for comparing barriers. Each of `ranks` threads calls
// interpret(rank) once, all at the same time.
class spmd_run {
 public:
  class meeting {
   public:
    virtual ~meeting() = default;
    // Returns when all ranks have called it, and then makes visible what they wrote before.
    virtual void arrive_and_wait(unsigned rank) = 0;
  };

  // Of the options those that make threads are ignored. Throws std::invalid_argument for inputs that do not fit.
  spmd_run(const program& code, std::vector<vector_value> inputs, const run_options& options,
           unsigned ranks, meeting& barrier);
  ~spmd_run();

  void interpret(unsigned rank);  // throws run_error, on every rank
  run_result result();            // once, after all ranks have returned

 private:
  struct state;
  std::unique_ptr<state> state_;
};

// As WRITE and the end of a program print it, with the newline.
std::string to_text(const vector_value& value);

}  // namespace tutti::vcode
