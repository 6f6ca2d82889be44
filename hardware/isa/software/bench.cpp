// SPDX-License-Identifier: Apache-2.0
// The measured programs, in user mode: episodes back to back, episodes with one late core, and a
// fine-grain stencil, each with barwait, with the software barriers made for this machine, and with
// tutti's own templates unchanged.
#include <new>

#include "barriers.hpp"
#include "tutti/barrier/central.hpp"
#include "tutti/barrier/dissemination.hpp"
#include "tutti/barrier/tournament.hpp"
#include "tutti/wait/spin.hpp"

extern "C" {
#include "isa.h"
}

// tutti's barriers allocate from the shared memory.
static std::uint32_t heap = software::heap_at;
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto align = static_cast<std::uint32_t>(alignment);
  const std::uint32_t at = (heap + align - 1) & ~(align - 1);
  heap = at + size;
  // The kernel reports the trap.
  if (heap > software::flags_at) __builtin_trap();
  return reinterpret_cast<void*>(at);
}
void operator delete(void*, std::align_val_t) noexcept {}

namespace {

enum class kind : std::uint32_t {
  none,
  barwait,
  central,
  tournament,
  dissemination,
  tutti_central,
  tutti_tournament,
  tutti_dissemination
};
enum class program : std::uint32_t { loop, late, stencil, random_lengths };

std::uint32_t barrier_index;
// Number of nonzero results of barwait.
std::uint32_t failures;

struct nothing {
  nothing(std::uint32_t, std::uint32_t) {}
  void prepare() {}
  void arrive_and_wait() { __asm__ volatile("" ::: "memory"); }
};

class instruction {
 public:
  instruction(std::uint32_t, std::uint32_t) {}
  ~instruction() { failures |= failed_; }
  void prepare() {}
  void arrive_and_wait() { failed_ |= barwait(index_); }

 private:
  const std::uint32_t index_ = barrier_index;
  std::uint32_t failed_ = 0;
};

// One object in the shared memory, as on any machine with coherent memory.
template <class Barrier>
class unchanged {
 public:
  unchanged(std::uint32_t n, std::uint32_t rank) : n_(n), rank_(rank) {}
  void prepare() {
    static_assert(sizeof(Barrier) <= software::heap_at - software::object_at);
    new (barrier_) Barrier(n_);
  }
  void arrive_and_wait() { barrier_->arrive_and_wait(rank_); }

 private:
  Barrier* const barrier_ = reinterpret_cast<Barrier*>(software::object_at);
  const std::uint32_t n_, rank_;
};

// All cores start together, whatever is measured.
template <class Barrier>
void begin(Barrier& barrier) {
  if (THIS_CORE == 0) barrier.prepare();
  failures |= barwait(barrier_index);
}

template <class Barrier>
std::uint32_t loop(Barrier& barrier, std::uint32_t episodes) {
  for (std::uint32_t i = 0; i < 4; ++i) barrier.arrive_and_wait();
  const std::uint32_t start = cycles();
  for (std::uint32_t i = 0; i < episodes; ++i) barrier.arrive_and_wait();
  return cycles() - start;
}

void delay(std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) __asm__ volatile("" ::: "memory");
}

volatile std::uint32_t& slot(std::uint32_t rank) {
  return *reinterpret_cast<volatile std::uint32_t*>(software::slots_at + rank * LINE);
}

// Episodes of random length, with plain data that each must publish. Returns how often a core saw
// old data, or data from more than one episode ahead.
template <class Barrier>
std::uint32_t random_lengths(Barrier& barrier, std::uint32_t n, std::uint32_t rank,
                             std::uint32_t episodes) {
  std::uint32_t x = (PARAMETER(PARAM_SEED) + 1) * 2654435761u ^ (rank + 1) * 40503u, errors = 0;
  for (std::uint32_t e = 1; e <= episodes; ++e) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    // Every fourth arrival comes at once.
    if (x >> 30 != 0) delay(x % PARAMETER(PARAM_B));
    slot(rank) = e;
    TRACE(TRACE_ARRIVE) = e;
    barrier.arrive_and_wait();
    TRACE(TRACE_DEPART) = e;
    for (std::uint32_t r = 0; r < n; ++r) errors += slot(r) - e > 1;
  }
  return errors;
}

// In each episode another core comes last, when all others have been waiting for long.
template <class Barrier>
void late(Barrier& barrier, std::uint32_t n, std::uint32_t rank, std::uint32_t episodes) {
  std::uint32_t last = 0;
  for (std::uint32_t e = 1; e <= episodes; ++e) {
    delay(10);
    if (rank == last) delay(150);
    TRACE(TRACE_ARRIVE) = e;
    barrier.arrive_and_wait();
    TRACE(TRACE_DEPART) = e;
    if (++last == n) last = 0;
  }
}

// A bar of `points` cells with fixed ends; each core has a block, and each step ends with a
// barrier. The values are integers, so the result is the same to the last bit for any number of
// cores.
volatile std::uint32_t* cells(std::uint32_t which) {
  return reinterpret_cast<volatile std::uint32_t*>(software::cells_at + which * software::grid);
}

template <class Barrier>
void stencil(Barrier& barrier, std::uint32_t n, std::uint32_t rank, std::uint32_t steps,
             std::uint32_t points) {
  const std::uint32_t first = 1 + points * rank / n, end = 1 + points * (rank + 1) / n;
  for (std::uint32_t which = 0; which < 2; ++which) {
    for (std::uint32_t i = first; i < end; ++i) cells(which)[i] = (i * 2654435761u) >> 12;
    if (rank == 0) cells(which)[0] = 1u << 20;
    if (rank == 0) cells(which)[points + 1] = 0;
  }
  failures |= barwait(barrier_index);
  const std::uint32_t start = cycles();
  for (std::uint32_t step = 0; step < steps; ++step) {
    volatile std::uint32_t* const from = cells(step & 1);
    volatile std::uint32_t* const to = cells(1 - (step & 1));
    std::uint32_t left = from[first - 1], here = from[first];
    for (std::uint32_t i = first; i < end; ++i) {
      const std::uint32_t right = from[i + 1];
      to[i] = (left + 2 * here + right) >> 2;
      left = here;
      here = right;
    }
    barrier.arrive_and_wait();
  }
  TRACE(TRACE_VALUE) = cycles() - start;
  failures |= barwait(barrier_index);
  if (rank == 0) {
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i <= points + 1; ++i) sum = sum * 31 + cells(steps & 1)[i];
    TRACE(TRACE_VALUE) = sum;
  }
}

template <class Barrier>
void measure() {
  const std::uint32_t n = CORES, rank = THIS_CORE, count = PARAMETER(PARAM_EPISODES);
  Barrier barrier(n, rank);
  begin(barrier);
  switch (static_cast<program>(PARAMETER(PARAM_PROGRAM))) {
    case program::loop: TRACE(TRACE_VALUE) = loop(barrier, count); break;
    case program::late: late(barrier, n, rank, count); break;
    case program::random_lengths:
      TRACE(TRACE_VALUE) = random_lengths(barrier, n, rank, count);
      break;
    case program::stencil: stencil(barrier, n, rank, count, PARAMETER(PARAM_B)); break;
  }
}

}  // namespace

extern "C" std::uint32_t thread_main(std::uint32_t) {
  volatile std::uint32_t& index = *reinterpret_cast<volatile std::uint32_t*>(software::index_at);
  if (THIS_CORE == 0) {
    std::uint8_t list[16];
    for (std::uint32_t i = 0; i < CORES; ++i) list[i] = static_cast<std::uint8_t>(i);
    index = static_cast<std::uint32_t>(create_barrier(list, CORES, PARAMETER(PARAM_TIMEOUT))) + 1;
  }
  while (index == 0) {
  }
  barrier_index = index - 1;

  using wait = tutti::spin_wait<tutti::native>;
  switch (static_cast<kind>(PARAMETER(PARAM_A))) {
    case kind::none: measure<nothing>(); break;
    case kind::barwait: measure<instruction>(); break;
    case kind::central: measure<software::central>(); break;
    case kind::tournament: measure<software::tournament>(); break;
    case kind::dissemination: measure<software::dissemination>(); break;
    case kind::tutti_central:
      measure<unchanged<tutti::central_barrier<tutti::native, wait>>>();
      break;
    case kind::tutti_tournament:
      measure<unchanged<tutti::tournament_barrier<tutti::native, wait>>>();
      break;
    case kind::tutti_dissemination:
      measure<unchanged<tutti::dissemination_barrier<tutti::native, wait>>>();
      break;
    default: return 1;
  }
  return failures;
}
