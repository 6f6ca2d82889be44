// SPDX-License-Identifier: Apache-2.0
// The engines: who interprets, and who helps.
#include <algorithm>
#include <optional>

#include "io/file_table.hpp"
#include "machine/host.hpp"
#include "machine/interpreter.hpp"
#include "machine/random_stream.hpp"
#include "tutti/team/team.hpp"
#include "vcode.hpp"

namespace tutti::vcode {
namespace {

// Elements from which a vector instruction of the lazy engine is worth a region.
constexpr std::size_t region_from = 16384;
// And from which deferring an elementwise instruction is worth the bookkeeping.
constexpr std::size_t defer_from = 4096;

// What all threads of a run see.
struct shared_run {
  const prepared_program& program;
  const std::vector<vector_value>& inputs;
  const run_options& options;
  const arena& memory;
  file_table& files;
  run_result result;
};

// One interpreter from beginning to end.
template <class MakeCrew>
void interpret(shared_run& shared, bool is_first, std::size_t defer, MakeCrew&& make_crew) {
  run_statistics statistics;
  store memory(shared.memory);
  crew workers = make_crew(statistics, memory.memory());
  random_stream random;
  run_options options = shared.options;
  if (!is_first) options.trace = nullptr;
  context c{memory, workers, statistics, options, random, shared.files, 0, defer};
  interpreter machine(shared.program, c);
  const bool finished = machine.run(shared.inputs);
  if (!is_first) return;
  shared.result.exited = !finished;
  if (finished) shared.result.stack = machine.stack();
  statistics.arena_peak = memory.memory().peak();
  shared.result.statistics = statistics;
}

class team_threads : public crew_threads {
 public:
  explicit team_threads(team& threads) : team_(threads) {}
  void region(void (*phase)(void* object, unsigned rank), void* object) override {
    team_.run([phase, object](member& me) { phase(object, me.rank()); });
  }
  void barrier() override {}  // The end of a region is one.

 private:
  team& team_;
};

class member_threads : public crew_threads {
 public:
  explicit member_threads(member& me) : me_(me) {}
  void region(void (*phase)(void* object, unsigned rank), void* object) override {
    phase(object, me_.rank());
    barrier();
  }
  void barrier() override { me_.barrier(); }

 private:
  member& me_;
};

void run_spmd(shared_run& shared, team& threads) {
  spmd_board board(threads.size());
  threads.run([&](member& me) {
    member_threads mine(me);
    interpret(shared, me.rank() == 0, 0, [&](run_statistics& statistics, allocator& memory) {
      return crew(statistics, mine, me.size(), me.rank(), board, memory);
    });
  });
}

void run_master(shared_run& shared, team* threads, bool is_lazy) {
  const std::size_t defer = is_lazy ? defer_from : 0;
  if (threads == nullptr) {
    interpret(shared, true, defer,
              [](run_statistics& statistics, allocator&) { return crew(statistics); });
    return;
  }
  team_threads workers(*threads);
  interpret(shared, true, defer, [&](run_statistics& statistics, allocator&) {
    return crew(statistics, workers, threads->size(), is_lazy ? region_from : 0);
  });
}

}  // namespace

run_result run(const program& code, std::vector<vector_value> inputs, const run_options& options) {
  const program_data& data = code.data();
  require_inputs(data.functions[data.entry], inputs);
  const prepared_program prepared = prepare(data);
  const arena memory(options.memory);
  file_table files(options.input, options.output, options.error);
  shared_run shared{prepared, inputs, options, memory, files, {}};

  const bool is_lazy = options.engine == engine::lazy;
  std::optional<team> own;
  team* threads = options.team;
  if (threads != nullptr) {
    // Nothing to make.
  } else if (!is_lazy || options.threads != 1 || options.ranks > 1) {
    team_options how;
    how.threads = options.threads;
    how.ranks = options.ranks;
    how.barrier = options.barrier;
    // A program may wait for a file or for another program: nobody has anything to do meanwhile.
    how.fibers.checks = false;
    threads = &own.emplace(how);
  }
  if (options.engine == engine::spmd) {
    run_spmd(shared, *threads);
  } else {
    run_master(shared, threads, is_lazy);
  }
  return std::move(shared.result);
}

}  // namespace tutti::vcode
