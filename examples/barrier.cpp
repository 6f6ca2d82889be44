// SPDX-License-Identifier: Apache-2.0
// A barrier of four threads: after it all threads see what each thread wrote before it.

#include "tutti/barrier/barrier.hpp"

#include <cstdio>
#include <thread>
#include <vector>

int main() {
  tutti::barrier sync(4);  // instead of std::barrier
  std::vector<int> seen(4), sum(4);
  auto work = [&](unsigned rank) {
    seen[rank] = 10 * (static_cast<int>(rank) + 1);
    sync.arrive_and_wait();  // all threads see all writes before it
    for (int s : seen) sum[rank] += s;
  };
  std::vector<std::jthread> threads;
  for (unsigned rank = 0; rank < 4; ++rank) threads.emplace_back(work, rank);
  threads.clear();
  std::printf("%d %d %d %d\n", sum[0], sum[1], sum[2], sum[3]);
  return sum == std::vector<int>(4, 100) ? 0 : 1;
}
