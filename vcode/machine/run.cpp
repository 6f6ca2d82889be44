// SPDX-License-Identifier: Apache-2.0
// Runs programs on the native platform.
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
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
#include "vcode/machine/first_threads.hpp"
#include "vcode/vcode.hpp"

namespace tutti::vcode {
namespace {

// Checks the name now: the team is made later or never, and would report the error late.
void require_barrier(const std::string& name) {
  if (name.empty() || is_barrier_name(name)) return;
  throw std::invalid_argument("'" + name + "' is not a barrier of the registry or of a provider");
}

// Ordinary threads do not keep one with a real-time policy from a CPU.
bool is_real_time() {
  const int policy = sched_getscheduler(0);
  return policy == SCHED_FIFO || policy == SCHED_RR;
}

// Reads how many threads of the machine want a CPU now.
bool has_cpus(unsigned mine, unsigned wanted) {
  if (is_real_time()) return true;
  static const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  char text[128] = {};
  const int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  long running = 0;
  if (length <= 0 || std::sscanf(text, "%*s %*s %*s %ld/", &running) != 1) return true;
  return std::max(0L, running - static_cast<long>(mine)) + static_cast<long>(wanted) <= cpus ||
         static_cast<long>(wanted) > cpus;
}

bool shares_short_vectors(const run_options& options) {
  return options.share_from < run_options{}.share_from;
}

// Callers that want shorter vectors to be shared get threads earlier.
sharing_decision decision_for(const run_options& options) {
  return shares_short_vectors(options) ? sharing_decision(options.share_from * 1024, 0, has_cpus)
                                       : sharing_decision(has_cpus);
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
  how.threads = options.threads != 0 ? options.threads : native::cpus();
  how.ranks = options.ranks;
  how.barrier = options.barrier;
  // Do not report fibers that block in a system call: while a program waits for a file or for
  // another program, the other ranks have nothing to do.
  how.fibers.checks = false;
  using threads = engines::team_threads<native>;
  if (options.team != nullptr) {
    threads given(*options.team);
    return engines::run(code, std::move(inputs), options, given);
  }
  engines::first_threads first(how.threads);
  const bool begins_late = options.engine == engine::lazy && !shares_short_vectors(options);
  threads own(how, decision_for(options), begins_late ? &first : nullptr);
  return engines::run(code, std::move(inputs), options, own);
}

}  // namespace tutti::vcode
