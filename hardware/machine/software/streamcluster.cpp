// SPDX-License-Identifier: Apache-2.0
// StreamCluster's gain steps (gain_steps.hpp) with tutti's barriers or the barrier instruction.
//
// Parameters: episodes: the number of steps; algorithm: as for bench.cpp. Each core tells the
// cycles of all steps; core 0 then tells the fingerprint of the clustering, high and low half, and
// the number of centres that were opened.
#include "hardware/machine/software/barwait.hpp"
#include "hardware/machine/software/gain_steps.hpp"
#include "hardware/machine/software/runtime.hpp"

namespace tutti::rtl {
namespace {

gate start_gate;
alignas(cache_line) void* object;
alignas(cache_line) gain_steps* steps;

template <class Barrier>
void cluster(std::uint32_t rank) {
  const std::uint32_t n = CORES, count = PARAMETER(PARAM_EPISODES);
  if (rank == 0) {
    empty_heap();
    object = make<Barrier>(n);
    steps = static_cast<gain_steps*>(allocate(sizeof(gain_steps), alignof(gain_steps)));
    steps->begin();
  }
  start_gate.pass(n);
  Barrier& barrier = *static_cast<Barrier*>(object);
  const auto meet = [&] { barrier.arrive_and_wait(rank); };
  // Every rank has used all words of its part of the barrier before.
  for (std::uint32_t i = 0; i < 4; ++i) meet();
  const std::uint32_t start = cycles();
  for (std::uint32_t i = 0; i < count; ++i)
    steps->try_to_open(rank, n, gain_steps::candidate(i), meet);
  trace(TRACE_VALUE, cycles() - start);
  start_gate.pass(n);
  if (rank != 0) return;
  const std::uint32_t fingerprint = steps->fingerprint();
  trace(TRACE_VALUE, fingerprint >> 16);
  trace(TRACE_VALUE, fingerprint & 0xffffu);
  trace(TRACE_VALUE, steps->gains());
}

bool run(std::uint32_t number, std::uint32_t rank) {
  return with_contender(number, rank, [rank]<class Barrier>() { cluster<Barrier>(rank); });
}

}  // namespace
}  // namespace tutti::rtl

extern "C" std::uint32_t thread_main(std::uint32_t core) {
  return tutti::rtl::run(PARAMETER(PARAM_ALGORITHM), core) ? 0 : 1;
}
