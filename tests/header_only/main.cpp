// SPDX-License-Identifier: Apache-2.0
// Uses tutti::barrier, tutti::reduction and an algorithm without the compiled library, in all ways
// that need no name.
#include <chrono>
#include <cstdio>
#include <thread>
#include <tutti/barrier/barrier.hpp>
#include <tutti/barrier/dissemination.hpp>
#include <tutti/reduce/reduction.hpp>

namespace {

using namespace std::chrono_literals;

int completions = 0;

// The work of two threads. Returns 0 if all results were right.
struct program {
  tutti::barrier<> chosen{2};
  tutti::barrier<> told{2, tutti::barrier_options{.few = 1, .fan = 2, .patience = 20us}};
  tutti::barrier<> dropped{2};
  struct count {
    void operator()() noexcept { ++completions; }
  };
  tutti::barrier<count> completing{2, count{}};
  tutti::dissemination_barrier<> algorithm{2};
  tutti::reduction<int> sum{2};

  int run(tutti::rank_t rank) {
    for (int i = 0; i < 100; ++i) {
      chosen.arrive_and_wait();
      chosen.arrive_and_wait(rank);
      told.arrive_and_wait(rank);
      completing.wait(completing.arrive());
      algorithm.arrive_and_wait(rank);
      if (sum.all(rank, static_cast<int>(rank) + 1) != 3) return 1;
    }
    if (!chosen.arrive_and_wait_for(rank, 60s)) return 2;
    if (rank == 0) {
      dropped.arrive_and_drop();
    } else {
      dropped.arrive_and_wait();
      dropped.arrive_and_wait();
    }
    chosen.set_patience("passive");
    return 0;
  }
};

}  // namespace

int main() {
  program p;
  int other = 0;
  std::thread second([&] { other = p.run(1); });
  const int mine = p.run(0);
  second.join();
  if (mine != 0 || other != 0 || completions != 100) {
    std::fprintf(stderr, "wrong: %d %d %d\n", mine, other, completions);
    return 1;
  }
  return 0;
}
