// SPDX-License-Identifier: Apache-2.0
// A deadline that tells which ranks are missing: three of four participants arrive.

#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "tutti/barrier/barrier.hpp"

int main() {
  using namespace std::chrono_literals;
  tutti::barrier sync(4);
  std::vector<std::jthread> threads;
  for (tutti::rank_t rank : {1u, 3u})
    threads.emplace_back([&, rank] { sync.arrive_and_wait(rank); });

  auto outcome = sync.arrive_and_wait_for(0, 100ms);
  if (!outcome)
    for (tutti::rank_t rank : outcome.missing_ranks) std::printf("rank %u is missing\n", rank);

  threads.emplace_back([&] { sync.arrive_and_wait(2); });
  // The arrival of rank 0 still counts, so it only waits again.
  outcome = sync.wait_for(outcome.phase, 10s);
  std::printf("%s\n", outcome ? "all have arrived" : "a rank is still missing");
  return outcome ? 0 : 1;
}
