// SPDX-License-Identifier: Apache-2.0
// VCODE, the vector stack machine behind the language NESL: compile, verify, run.
//
//  auto program = tutti::vcode::compile("FUNC MAIN +_REDUCE INT RET");
//  // The result is {{6}}.
//  auto stack = run(program, {std::vector<std::int32_t>{1, 2, 3}, segments{{3}}}).stack;
//
// Every program is verified before it runs: types and stack effects of all functions are known
// then. What only execution can know (lengths, indices, divisors, memory) is checked during
// execution.
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

#include "tutti/team/forward.hpp"
#include "vcode/machine/statistics.hpp"

namespace tutti::vcode {

// The text is not a valid program: it has lexical, syntactic, type or stack errors. what() returns
// "file:line:column: sentence".
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

// The program failed while it ran. what() returns
// "file:line:column: instruction in function: sentence".
class run_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct program_data;

// A verified program. Copies share their data and are cheap.
class program {
 public:
  explicit program(std::shared_ptr<const program_data> data) : data_(std::move(data)) {}
  const program_data& data() const noexcept { return *data_; }
  // Returns what the parser found unusual but accepted, one sentence each.
  const std::vector<std::string>& warnings() const noexcept;
  // Returns the types of the vectors that the entry function takes, deepest first: "INT SEGDES".
  std::string inputs() const;

 private:
  std::shared_ptr<const program_data> data_;
};

// Compiles `text`; messages name `file`. Throws source_error.
program compile(std::string_view text, std::string file = "program");

// Throws source_error if the entry function takes values. Call it for programs that run with an
// empty stack.
void require_no_inputs(const program& code);

// The values that can lie on the stack. BOOL elements are 0 or 1; a segment descriptor is the
// lengths of its segments.
struct segments {
  std::vector<std::int32_t> lengths;
  bool operator==(const segments&) const = default;
};
struct pair;
using vector_value = std::variant<std::vector<std::int32_t>, std::vector<double>,
                                  std::vector<std::uint8_t>, segments, std::shared_ptr<pair>>;
struct pair {
  // Does not recurse: PAIRs may be nested thousands deep.
  ~pair();
  vector_value first;
  vector_value second;
};

class arena;

// Memory for the vectors of several runs, one run at a time. The system clears a page at the first
// write to it; later runs find the page cleared. No data passes from one run to the next.
class kept_memory {
 public:
  // `bytes` of 0 means as much as the machine has and the process's control groups allow. Throws
  // std::invalid_argument if the system refuses.
  explicit kept_memory(std::size_t bytes = 0);
  ~kept_memory();
  kept_memory(const kept_memory&) = delete;
  kept_memory& operator=(const kept_memory&) = delete;
  tutti::vcode::arena& arena() const noexcept { return *arena_; }

 private:
  std::unique_ptr<tutti::vcode::arena> arena_;
};

enum class engine {
  // The default: short vectors stay on one thread; a chain of elementwise instructions is one pass
  // over memory.
  lazy,
  // One thread interprets; every vector instruction is a region of the team.
  workers,
  // Every thread interprets; a barrier ends every instruction.
  spmd,
};

struct run_options {
  // 0 means one thread for each CPU that the process may use.
  unsigned threads = 1;
  // Ranks of the team; 0 means as many as threads. If there are more, they share the threads as
  // fibers.
  unsigned ranks = 0;
  vcode::engine engine = engine::lazy;
  // An existing team, used instead of `threads`, `ranks` and `barrier`; saves time for many short
  // runs.
  tutti::team* team = nullptr;
  // The name of a registered barrier; if empty, the team chooses.
  std::string barrier;
  // Also check what memory safety does not need: see docs/vcode.md.
  bool check = false;
  // Combine FLOAT sums and products strictly from left to right.
  bool strict = false;
  // STOP_TIMER pushes 0.0.
  bool zero_timers = false;
  // Bytes for vectors; 0 means as much as the machine has and the process's control groups allow.
  std::size_t memory = 0;
  // The run fails before the instruction after this many; 0 means no limit.
  std::uint64_t most_instructions = 0;
  // The run fails at the first instruction that begins after this many seconds; 0 means no limit.
  // An instruction that has begun is not interrupted.
  double most_seconds = 0;
  // Memory to use instead of `memory`. Only one run at a time may use it.
  kept_memory* kept = nullptr;
  // For engine lazy: the number of elements from which an instruction uses all threads, and the
  // number from which an elementwise instruction is deferred. docs/vcode.md shows that from half to
  // twice the defaults the time hardly changes.
  std::size_t share_from = 16384;
  std::size_t defer_from = 4096;
  // If not null, receives a line for each instruction.
  std::FILE* trace = nullptr;
  // The program's streams 0, 1 and 2.
  std::FILE* input = stdin;
  std::FILE* output = stdout;
  std::FILE* error = stderr;
  // If not null, the run prints the stack that the program leaves there instead of returning it.
  // That needs no second copy of the vectors.
  std::FILE* result = nullptr;
};

struct run_result {
  // True if the program ended by EXIT; the stack is then empty.
  bool exited = false;
  // Bottom first. Empty if the run printed the stack.
  std::vector<vector_value> stack;
  run_statistics statistics;
};

// Throws run_error, and std::invalid_argument for inputs or options that are not valid.
run_result run(const program& code, std::vector<vector_value> inputs = {},
               const run_options& options = {});

// Engine spmd on the caller's threads and with the caller's barrier, to compare barriers. Each of
// `ranks` threads calls interpret(rank) once, all at the same time.
class spmd_run {
 public:
  class rank_barrier {
   public:
    virtual ~rank_barrier() = default;
    // Returns when all ranks have called it; what any rank wrote before its call is then visible to
    // all.
    virtual void arrive_and_wait(unsigned rank) = 0;
    // Before each arrival a rank tells what it has done since the start, for barriers that simulate
    // the time of that.
    virtual void note_work(unsigned /*rank*/, const run_statistics& /*done*/) {}
  };

  // Ignores the options that make threads. Throws std::invalid_argument for inputs that are not
  // valid.
  spmd_run(const program& code, std::vector<vector_value> inputs, const run_options& options,
           unsigned ranks, rank_barrier& barrier);
  ~spmd_run();

  // Throws run_error on every rank.
  void interpret(unsigned rank);
  // Call this once, after all ranks have returned.
  run_result result();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

// Vector units: the kernels are compiled for several and use the widest that the processor has.
const char* vector_unit();
std::vector<std::string> vector_units();
// Lets all later runs use another one, for instance to compare. Throws std::invalid_argument if the
// processor does not have it.
void force_vector_unit(const std::string& name);

// Returns the text that WRITE and the end of a program print, with the newline. Throws
// std::invalid_argument if a PAIR is a null pointer.
std::string to_text(const vector_value& value);

}  // namespace tutti::vcode
