// SPDX-License-Identifier: Apache-2.0
// The only file that instantiates Relacy's contexts and schedulers, once for each number of
// threads.
#include "tests/model/explore.hpp"

#include <algorithm>
#include <cctype>
#include <ostream>
#include <stdexcept>

#include "tests/model/checked.hpp"
#include "tests/model/relacy.hpp"

// Relacy replaces new and delete, so that it owns the heap of an execution, but it does not know
// sized delete.
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete[](void* memory, std::size_t) noexcept { operator delete[](memory); }

namespace tutti::model {
namespace {

// Relacy constructs its suites itself, so they find the program to run here.
const program* running = nullptr;
std::uint64_t executions_left = 0;

template <int Threads>
struct suite : rl::test_suite<suite<Threads>, Threads> {
  std::unique_ptr<scenario> current;

  void before() {
    if (executions_left-- == 0) rl::ctx().rl_until("as many executions as asked for", RL_INFO);
    ++executions_begun;
    current = running->make();
  }
  void thread(unsigned rank) { current->thread(rank); }
  void after() {
    current->after();
    current.reset();
  }
};

// The same as rl::simulate, without its printing and without the second run that collects a
// history: that run would see what threads have learnt in the first (state_of_this_thread).
template <int Threads>
rl::test_result_e simulate(rl::test_params& parameters) {
  using suite_t = suite<Threads>;
  rl::ostringstream state;
  if (parameters.search_type == rl::random_scheduler_type)
    return rl::run_test<suite_t, rl::random_scheduler<Threads>>(parameters, state, false);
  return rl::run_test<suite_t, rl::context_bound_scheduler<Threads>>(parameters, state, false);
}

rl::test_result_e simulate(rank_t threads, rl::test_params& parameters) {
  switch (threads) {
    case 2: return simulate<2>(parameters);
    case 3: return simulate<3>(parameters);
    case 4: return simulate<4>(parameters);
    default: throw std::invalid_argument("a model has 2 to 4 threads");
  }
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

outcome explore(const program& what, const plan& how) {
  rl::test_params parameters;
  parameters.search_type =
      how.how == search::random ? rl::random_scheduler_type : rl::fair_context_bound_scheduler_type;
  parameters.context_bound = how.preemptions;
  // This is far beyond what an execution takes: only a loop that waits in vain reaches it.
  parameters.execution_depth_limit = 20'000;
  parameters.iteration_count = how.first + how.executions - 1;
  parameters.collect_history = how.show;
  std::ostream nowhere(nullptr);
  parameters.progress_stream = &nowhere;
  if (how.how == search::random) {
    parameters.initial_state = rl::string(std::to_string(how.first).c_str());
    parameters.initial_state += ' ';
  }

  running = &what;
  executions_left = how.executions;
  const std::uint64_t begun_before = executions_begun;
  const rl::test_result_e result = simulate(what.threads, parameters);

  outcome told;
  told.executions = executions_begun - begun_before;
  if (result == rl::test_result_success) {
    told.is_complete = how.how == search::bounded;
  } else if (result == rl::test_result_inconsistent_test_suite) {
    told.is = verdict::no_such_mutant;
  } else if (result != rl::test_result_until_condition_hit) {
    told.is = verdict::error;
    told.error = lower_case(rl::test_result_str(result));
  }
  return told;
}

}  // namespace tutti::model
