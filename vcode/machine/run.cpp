// SPDX-License-Identifier: Apache-2.0
// Runs programs on the native platform.
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tutti/barrier/any.hpp"
#include "tutti/platform/clock.hpp"
#include "tutti/platform/usable_cpus.hpp"
#include "tutti/team/team.hpp"
#include "vcode/machine/engines.hpp"
#include "vcode/vcode.hpp"

namespace tutti::vcode {
namespace {

// Checks the name now: the team is made later or never, and would report the error late.
void require_barrier(const std::string& name) {
  if (name.empty() || is_barrier_name(name)) return;
  throw std::invalid_argument("'" + name + "' is not a barrier of the registry or of a provider");
}

}  // namespace

kept_memory::kept_memory(std::size_t bytes)
    : arena_(std::make_unique<tutti::vcode::arena>(bytes)) {}
kept_memory::~kept_memory() = default;

struct spmd_run::state {
  state(const program& code, std::vector<vector_value> inputs, const run_options& options,
        unsigned size, rank_barrier& all)
      : shared(code, std::move(inputs), options, &native::now_ns),
        board(size),
        ranks(size),
        barrier(all) {}
  engines::shared_run shared;
  spmd_board board;
  unsigned ranks;
  rank_barrier& barrier;
};

spmd_run::spmd_run(const program& code, std::vector<vector_value> inputs,
                   const run_options& options, unsigned ranks, rank_barrier& barrier)
    : state_(std::make_unique<state>(code, std::move(inputs), options, ranks, barrier)) {}
spmd_run::~spmd_run() = default;

void spmd_run::interpret(unsigned rank) {
  engines::interpret_spmd(state_->shared, state_->board, state_->ranks, rank, state_->barrier);
}

run_result spmd_run::result() { return std::move(state_->shared.result); }

run_result run(const program& code, std::vector<vector_value> inputs, const run_options& options) {
  require_barrier(options.barrier);
  team_options how;
  how.threads = options.threads != 0 ? options.threads : platform::usable_cpus();
  how.ranks = options.ranks;
  how.barrier = options.barrier;
  // Do not report fibers that block in a system call: while a program waits for a file or for
  // another program, the other ranks have nothing to do.
  how.fibers.checks = false;
  using threads = engines::team_threads<native>;
  threads used = options.team != nullptr ? threads(*options.team) : threads(how);
  return engines::run(code, std::move(inputs), options, used);
}

}  // namespace tutti::vcode
