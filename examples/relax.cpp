// SPDX-License-Identifier: Apache-2.0
// Relaxes a rod of 1,002 points on one thread and on THREADS threads, and compares the results.
//   relax [THREADS]

#include "relax.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

std::vector<double> cold_rod() {
  std::vector<double> rod(1002, 0.0);
  rod.back() = 1.0;
  return rod;
}

double seconds(std::vector<double>& rod, int steps, unsigned threads) {
  const auto start = std::chrono::steady_clock::now();
  example::relax(rod, steps, threads);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  const int asked = argc > 1 ? std::atoi(argv[1]) : 2;
  if (asked < 1 || asked > 1000) {
    std::fprintf(stderr, "relax: THREADS must be 1 to 1000, not '%s'\n", argv[1]);
    return 2;
  }
  const auto threads = static_cast<unsigned>(asked);
  constexpr int steps = 20'000;

  std::vector<double> alone = cold_rod(), together = cold_rod();
  const double serial = seconds(alone, steps, 1);
  const double parallel = seconds(together, steps, threads);
  std::printf("1 thread   %6.3f s\n%u threads  %6.3f s   %s\n", serial, threads, parallel,
              alone == together ? "same bits" : "DIFFERENT");
  return alone == together ? 0 : 1;
}
