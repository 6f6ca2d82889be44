// SPDX-License-Identifier: Apache-2.0
// The measured barriers: tutti's templates, unchanged, and those in hardware. Episodes come
// back to back, or one thread comes late in each, or all arrive together.
//
// Parameters: program (0 back to back, 1 one late, 2 together), episodes, algorithm (a number of
// names.hpp, or one of contender), delay: steps that the late thread waits, or cycles between two
// common arrivals.
#include "hardware/machine/software/barwait.hpp"
#include "hardware/machine/software/runtime.hpp"

namespace tutti::rtl {
namespace {

gate start_gate;
alignas(cache_line) void* object;
// When the first common arrival is due; thread 0 decides when all have used the barrier.
alignas(cache_line) std::uint32_t start_time;

struct nothing {
  explicit nothing(rank_t) {}
  bool arrive_and_wait(rank_t) {
    asm volatile("" ::: "memory");
    return true;
  }
};

enum class scenario : std::uint32_t { back_to_back, late, together };

template <class Barrier>
void back_to_back(Barrier& barrier, std::uint32_t rank, std::uint32_t episodes) {
  for (std::uint32_t i = 0; i < 4; ++i) barrier.arrive_and_wait(rank);
  const std::uint32_t start = cycles();
  for (std::uint32_t i = 0; i < episodes; ++i) barrier.arrive_and_wait(rank);
  trace(TRACE_VALUE, cycles() - start);
}

template <class Barrier>
void traced(Barrier& barrier, std::uint32_t rank, std::uint32_t episode) {
  trace(TRACE_ARRIVE, episode);
  barrier.arrive_and_wait(rank);
  trace(TRACE_DEPART, episode);
}

// How far the threads that come last in successive episodes are apart: about half of n, so that
// they are in different sockets, and without a factor in common with n, so that each thread's turn
// comes.
constexpr std::uint32_t stride_of(std::uint32_t n) { return (n / 2 + (n % 4 == 2 ? 2 : 1)) % n; }
static_assert([] {
  for (std::uint32_t n = 1; n <= MOST_CORES; ++n) {
    std::uint32_t turns = 1;
    for (std::uint32_t last = stride_of(n); last != 0; last = (last + stride_of(n)) % n) ++turns;
    if (turns != n) return false;
  }
  return true;
}());

// In each episode another thread comes last, when all others have been waiting for long.
template <class Barrier>
void late(Barrier& barrier, std::uint32_t n, std::uint32_t rank, std::uint32_t episodes) {
  const std::uint32_t steps = PARAMETER(PARAM_DELAY), stride = stride_of(n);
  for (std::uint32_t episode = 0, last = 0; episode < episodes; ++episode) {
    if (rank == last) delay(steps);
    traced(barrier, rank, episode);
    last += stride;
    if (last >= n) last -= n;
  }
}

template <class Barrier>
void together(Barrier& barrier, std::uint32_t n, std::uint32_t rank, std::uint32_t episodes) {
  const std::uint32_t period = PARAMETER(PARAM_DELAY);
  // The gate lets the threads through one after the other.
  if (rank == 0) start_time = TIME_LOW + period + 2'000 + 400 * n;
  start_gate.pass(n);
  std::uint32_t due = start_time;
  for (std::uint32_t episode = 0; episode < episodes; ++episode, due += period) {
    while (static_cast<std::int32_t>(TIME_LOW - due) < 0) {
    }
    traced(barrier, rank, episode);
  }
}

template <class Barrier>
void measure(std::uint32_t rank) {
  const std::uint32_t n = CORES, episodes = PARAMETER(PARAM_EPISODES);
  if (rank == 0) {
    empty_heap();
    object = make<Barrier>(n);
  }
  start_gate.pass(n);
  Barrier& barrier = *static_cast<Barrier*>(object);
  // Every participant has used all words of its part before.
  if (PARAMETER(PARAM_PROGRAM) != 0)
    for (std::uint32_t i = 0; i < 4; ++i) barrier.arrive_and_wait(rank);
  switch (static_cast<scenario>(PARAMETER(PARAM_PROGRAM))) {
    case scenario::back_to_back: back_to_back(barrier, rank, episodes); break;
    case scenario::late: late(barrier, n, rank, episodes); break;
    case scenario::together: together(barrier, n, rank, episodes); break;
  }
  start_gate.pass(n);
}

bool measure_named(std::uint32_t number, std::uint32_t rank) {
  if (number == static_cast<std::uint32_t>(contender::none)) return measure<nothing>(rank), true;
  return with_contender(number, rank, [rank]<class Barrier>() { measure<Barrier>(rank); });
}

}  // namespace
}  // namespace tutti::rtl

extern "C" std::uint32_t thread_main(std::uint32_t core) {
  return tutti::rtl::measure_named(PARAMETER(PARAM_ALGORITHM), core) ? 0 : 1;
}
