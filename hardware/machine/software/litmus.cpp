// SPDX-License-Identifier: Apache-2.0
// What cores may see of each other's accesses: the machine is sequentially consistent, so that
// certain results never occur. Each round runs all tests with other delays. Programs that do not
// end are here, too: the harness must tell who waits for what.
#include "hardware/isa/software/isa.h"
#include "hardware/machine/software/names.hpp"
#include "hardware/machine/software/platform.hpp"
#include "hardware/machine/software/runtime.hpp"

namespace tutti::rtl {
namespace {

gate together;
alignas(128) volatile std::uint32_t x;
alignas(128) volatile std::uint32_t y;
// In one line.
alignas(128) volatile std::uint32_t pair[2];
alignas(128) std::uint32_t total;
alignas(128) std::uint32_t reserved_total;
// What the cores have read: two values each.
struct alignas(128) readings {
  volatile std::uint32_t first, second;
};
readings seen[4];

// Some delays are short, so that the accesses meet; some are as long as a miss.
void wait_some(random_numbers& random) {
  const std::uint32_t r = random();
  delay((r >> 24) >> (r & 3));
}

// Store buffering: both store, then read the other's. They cannot both read the old value.
void store_buffering(std::uint32_t rank, random_numbers& random) {
  wait_some(random);
  if (rank == 0) {
    x = 1;
    seen[0].first = y;
  } else if (rank == 1) {
    y = 1;
    seen[1].first = x;
  }
}
bool store_buffering_is_wrong() { return seen[0].first == 0 && seen[1].first == 0; }

// Message passing: whoever sees the second store sees the first one.
void message_passing(std::uint32_t rank, random_numbers& random) {
  wait_some(random);
  if (rank == 0) {
    x = 1;
    y = 1;
  } else if (rank == 1) {
    seen[1].first = y;
    seen[1].second = x;
  }
}
bool message_passing_is_wrong() { return seen[1].first == 1 && seen[1].second == 0; }

// Load buffering: each reads what the other stores after its reading.
void load_buffering(std::uint32_t rank, random_numbers& random) {
  wait_some(random);
  if (rank == 0) {
    seen[0].first = x;
    y = 1;
  } else if (rank == 1) {
    seen[1].first = y;
    x = 1;
  }
}
bool load_buffering_is_wrong() { return seen[0].first == 1 && seen[1].first == 1; }

// Two readers of two independent stores see them in the same order.
void independent_reads(std::uint32_t rank, random_numbers& random) {
  wait_some(random);
  if (rank == 0) x = 1;
  if (rank == 1) y = 1;
  if (rank == 2) {
    seen[2].first = x;
    seen[2].second = y;
  }
  if (rank == 3) {
    seen[3].first = y;
    seen[3].second = x;
  }
}
bool independent_reads_is_wrong() {
  return seen[2].first == 1 && seen[2].second == 0 && seen[3].first == 1 && seen[3].second == 0;
}

// Stores of different cores to different words of a line: none is lost.
void false_sharing(std::uint32_t rank, random_numbers& random) {
  wait_some(random);
  if (rank < 2) {
    pair[rank] = 1;
    seen[rank].first = pair[0] + pair[1];
  }
}
bool false_sharing_is_wrong() { return pair[0] + pair[1] != 2; }

// Reading a word twice never goes back.
void read_twice(std::uint32_t rank, random_numbers& random) {
  wait_some(random);
  if (rank == 0) {
    x = 1;
    x = 2;
  } else if (rank < 4) {
    seen[rank].first = x;
    seen[rank].second = x;
  }
}
bool read_twice_is_wrong() {
  for (std::uint32_t r = 1; r < 4; ++r)
    if (seen[r].second < seen[r].first) return true;
  return false;
}

struct test {
  void (*run)(std::uint32_t, random_numbers&);
  bool (*wrong)();
};
constexpr test tests[] = {
    {store_buffering, store_buffering_is_wrong}, {message_passing, message_passing_is_wrong},
    {load_buffering, load_buffering_is_wrong},   {independent_reads, independent_reads_is_wrong},
    {false_sharing, false_sharing_is_wrong},     {read_twice, read_twice_is_wrong}};

// Every core adds with amoadd and with lr and sc.
void add(std::uint32_t rank, random_numbers& random) {
  wait_some(random);
  __atomic_fetch_add(&total, rank + 1, __ATOMIC_RELAXED);
  std::uint32_t failed;
  do {
    std::uint32_t old;
    asm volatile("lr.w %0, (%2)\n add %0, %0, %3\n sc.w %1, %0, (%2)"
                 : "=&r"(old), "=&r"(failed)
                 : "r"(&reserved_total), "r"(rank + 1)
                 : "memory");
  } while (failed != 0);
}

void run_tests(std::uint32_t rank) {
  const std::uint32_t n = CORES, rounds = PARAMETER(PARAM_EPISODES);
  random_numbers random(PARAMETER(PARAM_SEED) * 64 + rank);
  // One bit for each pair of first values that has occurred, of each test.
  std::uint32_t occurred[6] = {};
  for (std::uint32_t round = 0; round < rounds; ++round)
    for (std::uint32_t t = 0; t < 6; ++t) {
      if (rank == 0) {
        x = 0;
        y = 0;
        for (std::uint32_t i = 0; i < 2; ++i) pair[i] = 0;
        for (readings& r : seen) {
          r.first = 0;
          r.second = 0;
        }
      }
      together.pass(n);
      tests[t].run(rank, random);
      if (t == 5) add(rank, random);
      together.pass(n);
      if (rank == 0) {
        if (tests[t].wrong()) trace(TRACE_WRONG, t);
        const std::uint32_t a = t == 3 ? 2 : t == 1 || t == 5 ? 1 : 0;
        const std::uint32_t first = seen[a].first,
                            second = t == 1 || t == 3 || t == 5 ? seen[a].second : seen[1].first;
        occurred[t] |= 1u << (4 * first + second);
      }
    }
  if (rank != 0) return;
  for (const std::uint32_t o : occurred) trace(TRACE_VALUE, o);
  if (total != rounds * n * (n + 1) / 2) trace(TRACE_WRONG, 100);
  if (reserved_total != rounds * n * (n + 1) / 2) trace(TRACE_WRONG, 101);
}

// The last core never comes to the barrier, and there is no time-out.
void wait_without_end(std::uint32_t rank) {
  static std::int32_t number;
  if (rank == 0) {
    std::uint8_t list[MOST_CORES];
    for (std::uint32_t i = 0; i < CORES; ++i) list[i] = static_cast<std::uint8_t>(i);
    number = create_barrier(list, CORES, 1u << 20);
  }
  together.pass(CORES);
  if (rank + 1 == CORES) asm volatile("wfi");
  (void)barwait(static_cast<std::uint32_t>(number));
}

void spin_without_end(std::uint32_t rank) {
  while (x != rank + 1) {
  }
}

}  // namespace
}  // namespace tutti::rtl

extern "C" std::uint32_t thread_main(std::uint32_t core) {
  switch (PARAMETER(PARAM_PROGRAM)) {
    case 0: tutti::rtl::run_tests(core); break;
    case 1: tutti::rtl::wait_without_end(core); break;
    default: tutti::rtl::spin_without_end(core);
  }
  return 0;
}
