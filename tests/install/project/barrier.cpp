// SPDX-License-Identifier: Apache-2.0
// A user's source that needs only the barrier: two threads hand a plain variable to and fro. With
// TUTTI_SECOND_SOURCE it is linked into another program.
#include <cstdio>
#include <thread>
#include <tutti/barrier/barrier.hpp>

#ifdef TUTTI_SECOND_SOURCE
#define main second_source
int second_source();
#endif

int main() {
  tutti::barrier barrier(2);
  int turns = 0;
  const auto take_turns = [&](unsigned rank) {
    for (unsigned turn = 0; turn < 200; ++turn) {
      if (turn % 2 == rank) ++turns;
      barrier.arrive_and_wait(rank);
    }
  };
  std::thread other(take_turns, 1);
  take_turns(0);
  other.join();
  if (turns != 200) return 1;
  std::puts("barrier: met");
  return 0;
}
