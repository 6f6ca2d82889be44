// SPDX-License-Identifier: Apache-2.0
// Jacobi relaxation of a rod between two fixed temperatures. Every point needs its neighbours'
// values of the previous step, so all threads synchronise once per step. There are many short
// steps, so most of the time is spent in the barrier.
#pragma once

#include <cmath>
#include <cstddef>
#include <thread>
#include <vector>

#include "tutti/barrier/barrier.hpp"

namespace example {

// Relaxes `rod` for `steps` steps on `threads` threads. The two ends do not change.
inline void relax(std::vector<double>& rod, int steps, unsigned threads) {
  std::vector<double> next = rod;
  tutti::barrier sync(threads);

  const auto work = [&](tutti::rank_t rank) {
    const std::size_t inner = rod.size() - 2;
    const std::size_t begin = 1 + inner * rank / threads;
    const std::size_t end = 1 + inner * (rank + 1) / threads;
    for (int step = 0; step < steps; ++step) {
      const std::vector<double>& from = step % 2 == 0 ? rod : next;
      std::vector<double>& to = step % 2 == 0 ? next : rod;
      for (std::size_t i = begin; i < end; ++i) to[i] = (from[i - 1] + from[i + 1]) / 2;
      sync.arrive_and_wait(rank);
    }
  };

  std::vector<std::jthread> others;
  for (unsigned rank = 1; rank < threads; ++rank) others.emplace_back(work, rank);
  work(0);
  others.clear();
  if (steps % 2 != 0) rod = next;
}

}  // namespace example
