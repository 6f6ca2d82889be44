// SPDX-License-Identifier: Apache-2.0
#include "sim/vector_program.hpp"

#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sim/simulated.hpp"
#include "vcode/machine/executor.hpp"

namespace tutti::sim {
namespace {

struct closing {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// What a run of a program needs, apart from its threads.
class interpretation {
 public:
  interpretation(const vcode::program& code, unsigned ranks, vcode::spmd_run::rank_barrier& barrier,
                 std::uint64_t most_instructions)
      : nothing_(std::fopen("/dev/null", "r+")),
        run_(code, {}, options(most_instructions), ranks, barrier),
        failures_(ranks) {}

  // Keeps what it throws: an exception must not leave a simulated thread while others still wait.
  void interpret(unsigned rank) {
    try {
      run_.interpret(rank);
    } catch (...) {
      failures_[rank] = std::current_exception();
    }
  }
  void put_result(vector_run& into) {
    for (const std::exception_ptr& failure : failures_)
      if (failure != nullptr) std::rethrow_exception(failure);
    const vcode::run_result result = run_.result();
    into.done = result.statistics;
    for (const vcode::vector_value& value : result.stack) into.result += to_text(value);
  }

 private:
  vcode::run_options options(std::uint64_t most_instructions) const {
    if (nothing_ == nullptr) throw std::runtime_error("/dev/null cannot be opened");
    vcode::run_options how;
    how.zero_timers = true;
    how.most_instructions = most_instructions;
    how.input = how.output = how.error = nothing_.get();
    return how;
  }
  std::unique_ptr<std::FILE, closing> nothing_;
  vcode::spmd_run run_;
  std::vector<std::exception_ptr> failures_;
};

// Before each episode a rank spends the time of what it has computed since the one before.
class barrier_after_work final : public vcode::spmd_run::rank_barrier {
 public:
  barrier_after_work(repeated_object& barrier, unsigned ranks, const interpreting& how)
      : barrier_(barrier), how_(how), ranks_(ranks) {}

  void note_work(unsigned rank, const vcode::run_statistics& done) override {
    of_rank& mine = ranks_[rank];
    const auto size = static_cast<unsigned>(ranks_.size());
    const std::uint64_t elements = done.elements - mine.elements;
    const auto part = static_cast<double>(vcode::part_of(elements, rank, size).size());
    world::current()->spend(picoseconds(how_.instruction_ns + part * how_.element_ns));
    mine.elements = done.elements;
  }
  void arrive_and_wait(unsigned rank) override {
    const sim_time arrived = world::current()->now();
    barrier_.episode(rank);
    ranks_[rank].waited += world::current()->now() - arrived;
  }
  sim_time waited() const {
    sim_time sum = 0;
    for (const of_rank& each : ranks_) sum += each.waited;
    return sum;
  }

 private:
  struct of_rank {
    std::uint64_t elements = 0;
    sim_time waited = 0;
  };
  repeated_object& barrier_;
  const interpreting& how_;
  std::vector<of_rank> ranks_;
};

struct no_barrier final : vcode::spmd_run::rank_barrier {
  void arrive_and_wait(unsigned) override {}
};

}  // namespace

vector_run run_alone(const vcode::program& code, const interpreting& how) {
  no_barrier none;
  interpretation alone(code, 1, none, how.most_instructions);
  alone.interpret(0);
  vector_run result;
  alone.put_result(result);
  result.ns = static_cast<double>(result.done.barriers) * how.instruction_ns +
              static_cast<double>(result.done.elements) * how.element_ns;
  return result;
}

vector_run run_program(const machine& m, const contender& barrier, const run_plan& plan,
                       const vcode::program& code, const interpreting& how) {
  if (!barrier.is_barrier)
    throw std::invalid_argument("'" + barrier.name +
                                "' has a master that starts regions; it is not a barrier");
  refuse_without_part(barrier, m);
  const simulated::making_for here(m);
  const std::unique_ptr<repeated_object> object = barrier.make(plan.threads);
  barrier_after_work all(*object, plan.threads, how);
  interpretation program(code, plan.threads, all, how.most_instructions);
  world w(m, world_options_of(m, barrier, plan));
  const sim_time start = w.now();
  w.run([&] {
    for (rank_t rank = 1; rank < plan.threads; ++rank)
      w.start([&program, rank] { program.interpret(rank); });
    program.interpret(0);
  });
  vector_run result;
  program.put_result(result);
  result.ns = nanoseconds(w.now() - start);
  result.in_barriers = nanoseconds(all.waited()) / result.ns / plan.threads;
  return result;
}

}  // namespace tutti::sim
