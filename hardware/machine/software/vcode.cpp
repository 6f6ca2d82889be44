// SPDX-License-Identifier: Apache-2.0
// Programs of the vector machine with tutti's barriers or those in hardware.
//
// Parameters: program: a vector_program; episodes: how often it is executed; algorithm: as for
// bench.cpp, and without a barrier (contender::none) only those that need none; a: the elements of
// the vector that it gets. Each core tells the cycles of all runs; core 0 then tells the
// instructions and barriers of one run and the hash of the result, high and low half. A program
// that fails is a wrong datum with the machine's failure.
#include "hardware/machine/software/barwait.hpp"
#include "hardware/machine/software/runtime.hpp"
#include "hardware/machine/software/vector_machine.hpp"

namespace tutti::rtl {
namespace {

gate start_gate;
alignas(cache_line) void* object;
alignas(cache_line) vector_memory* memory;

constexpr auto nothing = code_of_nothing.linked();
constexpr auto invert = code_of_invert.linked();
constexpr auto sort = code_of_sort.linked();

const vector_instruction* code_of(vector_program program) {
  switch (program) {
    case vector_program::nothing: return nothing.all;
    case vector_program::invert: return invert.all;
    case vector_program::sort: return sort.all;
  }
  return nullptr;
}

struct no_barrier {
  explicit no_barrier(rank_t) {}
  void arrive_and_wait(rank_t) { asm volatile("" ::: "memory"); }
};

template <class Barrier>
void execute(std::uint32_t rank) {
  const std::uint32_t n = CORES, count = PARAMETER(PARAM_EPISODES), elements = PARAMETER(PARAM_A);
  const auto program = static_cast<vector_program>(PARAMETER(PARAM_PROGRAM));
  if (rank == 0) {
    empty_heap();
    object = make<Barrier>(n);
    memory = static_cast<vector_memory*>(allocate(sizeof(vector_memory), alignof(vector_memory)));
  }
  start_gate.pass(n);
  Barrier& barrier = *static_cast<Barrier*>(object);
  const auto meet = [&] { barrier.arrive_and_wait(rank); };
  vector_machine machine(*memory, rank, n, meet);
  std::uint32_t spent = 0;
  // The first run finds nothing in the caches.
  for (std::uint32_t i = 0; i <= count; ++i) {
    const auto failed = machine.run(code_of(program), elements, [program](std::uint32_t k) {
      return vector_input(program, k);
    });
    if (failed != decltype(machine)::failure::none) {
      trace(TRACE_WRONG, static_cast<std::uint32_t>(failed));
      return;
    }
    if (i > 0) spent += machine.cycles();
    start_gate.pass(n);
  }
  trace(TRACE_VALUE, spent);
  start_gate.pass(n);
  if (rank != 0) return;
  trace(TRACE_VALUE, machine.instructions());
  trace(TRACE_VALUE, machine.meets());
  std::uint32_t hash = vector_hash_begin;
  for (std::uint32_t i = 0; i < machine.length(); ++i) hash = vector_hash(hash, machine.element(i));
  trace(TRACE_VALUE, hash >> 16);
  trace(TRACE_VALUE, hash & 0xffffu);
}

bool run(std::uint32_t number, std::uint32_t rank) {
  if (number == static_cast<std::uint32_t>(contender::none)) return execute<no_barrier>(rank), true;
  return with_contender(number, rank, [rank]<class Barrier>() { execute<Barrier>(rank); });
}

}  // namespace
}  // namespace tutti::rtl

extern "C" std::uint32_t thread_main(std::uint32_t core) {
  return tutti::rtl::run(PARAMETER(PARAM_ALGORITHM), core) ? 0 : 1;
}
