// SPDX-License-Identifier: Apache-2.0
// Parallel regions with the work of region_work.hpp. Core 0, the master, opens each region, does
// its own part, waits for the others and verifies what they computed.
//
// A barrier in hardware opens a region and ends it. The master/worker barriers of Berger and
// Stamatakis 2010 have regions of their own. Every other barrier ends a region that the master
// opens by one word, as tutti's teams do with a barrier that a program names. contender::fork_join
// is the region of a team that names none, and contender::none is the master's part alone.
//
// Parameters: episodes: the number of regions; algorithm; a: the length of the vectors. Core 0
// tells the cycles of all regions, then the sum, high and low half. A wrong sum, or a core that did
// not take part, is a wrong datum. fork_join.hpp needs it.
#include <initializer_list>

#include "hardware/machine/software/barwait.hpp"
#include "hardware/machine/software/region_work.hpp"
#include "hardware/machine/software/runtime.hpp"
#include "tutti/barrier/master_word.hpp"
#include "tutti/team/fork_join.hpp"

namespace tutti::rtl {
namespace {

gate start_gate;
alignas(cache_line) void* object;
alignas(cache_line) region_vectors* vectors;

struct alignas(cache_line) outcome {
  std::int32_t sum;
  std::uint32_t regions;
};
outcome outcomes[MOST_CORES];

template <class Barrier>
class between_barriers {
 public:
  explicit between_barriers(rank_t n) : barrier_(n) {}
  void open() { barrier_.arrive_and_wait(0); }
  void await(rank_t rank) { barrier_.arrive_and_wait(rank); }
  void collect(rank_t rank) { barrier_.arrive_and_wait(rank); }

 private:
  Barrier barrier_;
};

template <class Barrier>
class before_barrier : public master_word<machine, spin> {
 public:
  explicit before_barrier(rank_t n) : master_word(n), barrier_(n) {}
  void collect(rank_t rank) { barrier_.arrive_and_wait(rank); }

 private:
  Barrier barrier_;
};

class of_team {
 public:
  explicit of_team(rank_t n) : fork_join_(n, false) {}
  void open() { fork_join_.open(0); }
  void await(rank_t rank) {
    std::uint32_t job;
    fork_join_.await(rank, job);
  }
  void collect(rank_t rank) {
    if (rank == 0)
      fork_join_.close();
    else
      fork_join_.arrive(rank);
  }

 private:
  fork_join<std::uint32_t, std::uint32_t, machine, spin> fork_join_;
};

struct alone {
  explicit alone(rank_t) {}
  void open() {}
  void collect(rank_t) {}
};

// The number of the first core whose part is wrong; `n` if none is.
std::uint32_t first_wrong(std::uint32_t n, std::uint32_t regions, std::int32_t sum) {
  for (std::uint32_t rank = 0; rank < n; ++rank)
    if (outcomes[rank].regions != regions || outcomes[rank].sum != sum) return rank;
  return n;
}

void work(std::uint32_t rank, std::uint32_t length) {
  outcome& mine = outcomes[rank];
  if (length > 0) mine.sum = vectors[rank].multiply_and_sum_floors(length);
  ++mine.regions;
}

template <class Region>
void lead(Region& region, std::uint32_t n, std::uint32_t length, std::uint32_t count) {
  // The cores have used all words of the region before, and have their vectors.
  constexpr std::uint32_t before = 4;
  std::uint32_t start = 0, wrong = n;
  for (std::uint32_t i = 0; i < before + count; ++i) {
    if (i == before) start = cycles();
    region.open();
    work(0, length);
    region.collect(0);
    if (length > 0 && wrong == n) wrong = first_wrong(n, i + 1, outcomes[0].sum);
  }
  trace(TRACE_VALUE, cycles() - start);
  if (wrong == n) wrong = first_wrong(n, before + count, outcomes[0].sum);
  if (wrong < n) trace(TRACE_WRONG, wrong);
  const auto sum = static_cast<std::uint32_t>(outcomes[0].sum);
  trace(TRACE_VALUE, sum >> 16);
  trace(TRACE_VALUE, sum & 0xffffu);
}

template <class Region>
void measure(std::uint32_t rank, std::uint32_t members) {
  const std::uint32_t n = CORES, count = PARAMETER(PARAM_EPISODES), length = PARAMETER(PARAM_A);
  if (rank == 0) {
    empty_heap();
    object = make<Region>(n);
    vectors =
        static_cast<region_vectors*>(allocate(sizeof(region_vectors) * n, alignof(region_vectors)));
  }
  start_gate.pass(n);
  Region& region = *static_cast<Region*>(object);
  vectors[rank].begin(length);
  start_gate.pass(n);
  if (rank == 0) return lead(region, members, length, count);
  if constexpr (requires { region.await(rank); }) {
    for (std::uint32_t i = 0; i < 4 + count; ++i) {
      region.await(rank);
      work(rank, length);
      region.collect(rank);
    }
  }
}

template <class Barrier>
void measure_with(std::uint32_t rank) {
  const std::uint32_t n = CORES;
  if constexpr (requires { Barrier::prepare(rank, n); })
    measure<between_barriers<Barrier>>(rank, n);
  else if constexpr (requires(Barrier & b) { b.open(); })
    measure<Barrier>(rank, n);
  else
    measure<before_barrier<Barrier>>(rank, n);
}

bool run(std::uint32_t number, std::uint32_t rank) {
  switch (static_cast<contender>(number)) {
    case contender::none: return measure<alone>(rank, 1), true;
    case contender::fork_join: return measure<of_team>(rank, CORES), true;
    default:
      return with_contender(number, rank, [rank]<class Barrier>() { measure_with<Barrier>(rank); });
  }
}

}  // namespace
}  // namespace tutti::rtl

extern "C" std::uint32_t thread_main(std::uint32_t core) {
  return tutti::rtl::run(PARAMETER(PARAM_ALGORITHM), core) ? 0 : 1;
}
