// SPDX-License-Identifier: Apache-2.0
// What single accesses of the memory cost on this machine: the numbers that a model of it needs.
//
// Parameters: program (names.hpp: cost), cores, episodes: repetitions, A: the other core.
#include "hardware/machine/software/names.hpp"
#include "hardware/machine/software/platform.hpp"
#include "hardware/machine/software/runtime.hpp"

extern "C" char heap_begin[];

namespace tutti::rtl {
namespace {

using shared_word = std::atomic<std::uint32_t>;

gate start_gate;
// Consecutive lines of memory that no program has touched, whose homes are therefore different.
shared_word& line(std::uint32_t i) {
  return *reinterpret_cast<shared_word*>(heap_begin + i * CACHE_LINE);
}

void value(std::uint32_t v) { trace(TRACE_VALUE, v); }

// Cycles of one access, with those of reading the counter twice, which `cycles_of_nothing` gives.
// They are in assembly, because the compiler may put a jump between the readings.
std::uint32_t cycles_of_nothing() {
  std::uint32_t start, end;
  asm volatile("rdcycle %0\n\trdcycle %1" : "=r"(start), "=r"(end) : : "memory");
  return end - start;
}
std::uint32_t cycles_of_load(shared_word& w) {
  std::uint32_t start, end, unused;
  asm volatile("rdcycle %0\n\tlw %2, 0(%3)\n\trdcycle %1"
               : "=&r"(start), "=r"(end), "=&r"(unused)
               : "r"(&w)
               : "memory");
  return end - start;
}
std::uint32_t cycles_of_store(shared_word& w, std::uint32_t v) {
  std::uint32_t start, end;
  asm volatile("rdcycle %0\n\tsw %2, 0(%3)\n\trdcycle %1"
               : "=&r"(start), "=r"(end)
               : "r"(v), "r"(&w)
               : "memory");
  return end - start;
}
std::uint32_t cycles_of_add(shared_word& w) {
  std::uint32_t start, end;
  asm volatile("rdcycle %0\n\tamoadd.w zero, %2, (%3)\n\trdcycle %1"
               : "=&r"(start), "=r"(end)
               : "r"(1), "r"(&w)
               : "memory");
  return end - start;
}

// relaxed in all of this file: the accesses themselves are measured, and the start_gate order the
// phases. The core makes one access after the other.
std::uint32_t load(const shared_word& w) { return w.load(relaxed); }
// g++ 12 makes an amoswap of an atomic store, which costs a cycle more than a store.
void store(shared_word& w, std::uint32_t v) {
  asm volatile("sw %0, 0(%1)" : : "r"(v), "r"(&w) : "memory");
}

// A word goes forth and back between core 0 and another one, in one line after the other, since
// they have different homes.
constexpr std::uint32_t ping_pong_lines = 16;
void ping_pong(std::uint32_t core, std::uint32_t rounds) {
  const std::uint32_t other = PARAMETER(PARAM_A);
  for (std::uint32_t l = 0; l < ping_pong_lines; ++l) {
    shared_word& word = line(l);
    if (core == 0) store(word, 0);
    start_gate.pass(CORES);
    if (core == 0) {
      const std::uint32_t start = cycles();
      for (std::uint32_t i = 0; i < rounds; ++i) {
        store(word, 2 * i + 1);
        while (load(word) != 2 * i + 2) {
        }
      }
      value(cycles() - start);
    } else if (core == other) {
      for (std::uint32_t i = 0; i < rounds; ++i) {
        while (load(word) != 2 * i + 1) {
        }
        store(word, 2 * i + 2);
      }
    }
    start_gate.pass(CORES);
  }
}

// All cores add to one word.
void add(std::uint32_t rounds) {
  shared_word& word = line(0);
  if (this_core() == 0) store(word, 0);
  start_gate.pass(CORES);
  const std::uint32_t start = cycles();
  for (std::uint32_t i = 0; i < rounds; ++i) word.fetch_add(1, relaxed);
  value(cycles() - start);
  start_gate.pass(CORES);
  if (this_core() == 0 && load(word) != rounds * CORES) trace(TRACE_WRONG, load(word));
}

// A poll of a line that stays in the own cache.
void poll(std::uint32_t core, std::uint32_t rounds) {
  if (core != 0) return;
  shared_word& word = line(0);
  store(word, 0);
  std::uint32_t left = rounds;
  const std::uint32_t start = cycles();
  while (load(word) == 0 && --left != 0) {
  }
  value(cycles() - start);
}

// Core 0 writes a line that all others have. Quiet: they read it once. Otherwise they poll it, and
// all note when they have seen the new value; core 0 notes when it began to write.
void invalidate(std::uint32_t core, std::uint32_t rounds, bool quiet) {
  for (std::uint32_t i = 0; i < rounds; ++i) {
    shared_word& word = line(i);
    if (core == 0) store(word, 0);
    start_gate.pass(CORES);
    (void)load(word);
    start_gate.pass(CORES);
    if (core == 0) {
      // All the others poll by now.
      delay(200 + 40 * CORES);
      trace(TRACE_ARRIVE, i);
      value(cycles_of_store(word, 1));
    } else if (!quiet) {
      while (load(word) == 0) {
      }
    }
    if (!quiet || core == 0) trace(TRACE_DEPART, i);
    start_gate.pass(CORES);
  }
}

// One access of core 0 to a line in a known state.
void access(std::uint32_t core, std::uint32_t rounds, cost what) {
  const std::uint32_t other = PARAMETER(PARAM_A);
  for (std::uint32_t i = 0; i < rounds; ++i) {
    shared_word& word = line(i);
    if (core == other) {
      if (what == cost::load_dirty || what == cost::store_dirty || what == cost::add_dirty)
        store(word, 7);
      if (what == cost::load_shared || what == cost::store_shared) (void)load(word);
    }
    start_gate.pass(CORES);
    if (core == 0) {
      if (what == cost::load_hit || what == cost::store_shared) (void)load(word);
      if (what == cost::store_hit || what == cost::add_hit) store(word, 1);
      switch (what) {
        case cost::nothing: value(cycles_of_nothing()); break;
        case cost::load_hit:
        case cost::load_memory:
        case cost::load_shared:
        case cost::load_dirty: value(cycles_of_load(word)); break;
        case cost::store_hit:
        case cost::store_memory:
        case cost::store_shared:
        case cost::store_dirty: value(cycles_of_store(word, 9)); break;
        default: value(cycles_of_add(word)); break;
      }
    }
    start_gate.pass(CORES);
  }
}

void run(std::uint32_t core) {
  const auto what = static_cast<cost>(PARAMETER(PARAM_PROGRAM));
  const std::uint32_t rounds = PARAMETER(PARAM_EPISODES);
  switch (what) {
    case cost::ping_pong: return ping_pong(core, rounds);
    case cost::contended_add: return add(rounds);
    case cost::local_poll: return poll(core, rounds);
    case cost::invalidate: return invalidate(core, rounds, true);
    case cost::release: return invalidate(core, rounds, false);
    default: return access(core, rounds, what);
  }
}

}  // namespace
}  // namespace tutti::rtl

extern "C" std::uint32_t thread_main(std::uint32_t core) {
  tutti::rtl::run(core);
  return 0;
}
