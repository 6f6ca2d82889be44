// SPDX-License-Identifier: Apache-2.0
// Programs of the vector machine that fail, on all cores at the same instruction.
//
// Parameters: program: a vector_failure; a: the elements of the vector that it gets. Each core
// tells the machine's failure.
#include "hardware/machine/software/barwait.hpp"
#include "hardware/machine/software/runtime.hpp"
#include "hardware/machine/software/vector_machine.hpp"

namespace tutti::rtl {
namespace {

gate start_gate;
alignas(cache_line) vector_memory* memory;

constexpr auto permute = code_of_permute.linked();

bool run(std::uint32_t rank) {
  const std::uint32_t n = CORES;
  if (!mask_barrier::prepare(rank, n)) return false;
  if (rank == 0) {
    empty_heap();
    memory = static_cast<vector_memory*>(allocate(sizeof(vector_memory), alignof(vector_memory)));
  }
  start_gate.pass(n);
  mask_barrier barrier(n);
  const auto meet = [&] { barrier.arrive_and_wait(rank); };
  vector_machine machine(*memory, rank, n, meet);
  const auto how = static_cast<vector_failure>(PARAMETER(PARAM_PROGRAM));
  const auto failed = machine.run(permute.all, PARAMETER(PARAM_A),
                                  [how](std::uint32_t i) { return failing_input(how, i); });
  trace(TRACE_VALUE, static_cast<std::uint32_t>(failed));
  return true;
}

}  // namespace
}  // namespace tutti::rtl

extern "C" std::uint32_t thread_main(std::uint32_t core) { return tutti::rtl::run(core) ? 0 : 1; }
