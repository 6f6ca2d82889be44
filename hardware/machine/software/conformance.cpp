// SPDX-License-Identifier: Apache-2.0
// The conformance program: tutti's barrier templates, unchanged, on this machine. Each case is one
// object for n threads: they publish plain data, arrive, depart, and check what all others have
// published, with random delays and one thread that comes late. The harness checks the trace
// (tests/conformance/trace.hpp). Without its last thread, a wait with a deadline must give up.
//
// Parameters: program 0 checks, 1 is the mutant, whose barrier does nothing; algorithm (one past
// the last: all), episodes, delay, seed, A: the number of threads (0: 1, 2, 3, 5, 8, 16, 32 and
// all).
#include "hardware/machine/software/algorithms.hpp"
#include "hardware/machine/software/runtime.hpp"
#include "tutti/wait/deadline.hpp"

namespace tutti::rtl {
namespace {

struct sheet {
  std::uint32_t text[2];
};
// Plain data: two boards in turn. Nobody writes one again before all have read it and met at the
// other. Two neighbours share a line in the first, and none in the second.
alignas(cache_line) sheet packed_board[MOST_CORES];
alignas(cache_line) padded<sheet> padded_board[MOST_CORES];
gate start_gate;
// The object of the case.
alignas(cache_line) void* object;

volatile std::uint32_t* board(std::uint32_t rank, std::uint32_t episode) {
  return episode % 2 == 0 ? packed_board[rank].text : padded_board[rank].value.text;
}
std::uint32_t text_of(std::uint32_t rank, std::uint32_t episode, std::uint32_t place) {
  return (episode << 8 | rank) ^ (place == 0 ? 0 : 0x5a5a5a5au);
}

struct nothing {
  explicit nothing(rank_t) {}
  template <class Deadline = no_deadline>
  bool arrive_and_wait(rank_t, Deadline = {}) {
    return true;
  }
};

// Returns the number of errors that this thread has seen.
template <class Barrier>
std::uint32_t attend(Barrier& barrier, std::uint32_t n, std::uint32_t rank, std::uint32_t seed) {
  const std::uint32_t episodes = PARAMETER(PARAM_EPISODES), longest = PARAMETER(PARAM_DELAY);
  random_numbers random(seed + rank);
  std::uint32_t errors = 0;
  // One participant comes late, another one in each case.
  if (rank == seed % n) delay(8 * longest);
  for (std::uint32_t episode = 0; episode < episodes; ++episode) {
    const std::uint32_t kind = random() >> 16;
    // Half of the arrivals come at once.
    if (kind % 2 == 0 && longest != 0) delay(random() % longest);
    volatile std::uint32_t* const mine = board(rank, episode);
    mine[0] = text_of(rank, episode, 0);
    mine[1] = text_of(rank, episode, 1);
    trace(TRACE_ARRIVE, episode);
    const bool is_complete = barrier.arrive_and_wait(rank);
    trace(TRACE_DEPART, episode);
    errors += !is_complete;
    for (std::uint32_t other = 0; other < n; ++other)
      for (std::uint32_t place = 0; place < 2; ++place)
        errors += board(other, episode)[place] != text_of(other, episode, place);
  }
  return errors;
}

template <class Barrier>
void check(std::uint32_t number, std::uint32_t n, std::uint32_t rank) {
  const std::uint32_t seed = PARAMETER(PARAM_SEED) + 64 * number + n;
  if (rank == 0) {
    empty_heap();
    object = make<Barrier>(n);
    trace(TRACE_CASE, number << 8 | n);
  }
  start_gate.pass(CORES);
  if (rank < n) {
    const std::uint32_t errors = attend(*static_cast<Barrier*>(object), n, rank, seed);
    if (errors != 0) trace(TRACE_WRONG, errors);
  }
  start_gate.pass(CORES);
  // Another object, at which the last thread does not arrive.
  if (rank == 0) object = make<Barrier>(n);
  start_gate.pass(CORES);
  if (rank + 1 < n) {
    const bool is_complete = static_cast<Barrier*>(object)->arrive_and_wait(
        rank, basic_deadline<machine>(machine::now_ns() + 2000));
    if (is_complete) trace(TRACE_WRONG, 0xfffffffu);
  }
  start_gate.pass(CORES);
}

template <class Each>
void for_each_size(Each each) {
  const std::uint32_t asked = PARAMETER(PARAM_A), all = CORES;
  if (asked != 0) return each(asked < all ? asked : all);
  constexpr std::uint32_t sizes[] = {1, 2, 3, 5, 8, 16, 32};
  for (const std::uint32_t n : sizes)
    if (n < all) each(n);
  each(all);
}

void run(std::uint32_t rank) {
  for_each_size([rank](std::uint32_t n) {
    if (PARAMETER(PARAM_PROGRAM) == 1) return check<nothing>(algorithm_count, n, rank);
    for (std::uint32_t number = 0; number < algorithm_count; ++number) {
      const std::uint32_t asked = PARAMETER(PARAM_ALGORITHM);
      if (asked != algorithm_count && asked != number) continue;
      with_algorithm(number, [&]<class Barrier>() { check<Barrier>(number, n, rank); });
    }
  });
}

}  // namespace
}  // namespace tutti::rtl

extern "C" std::uint32_t thread_main(std::uint32_t core) {
  tutti::rtl::run(core);
  return 0;
}
