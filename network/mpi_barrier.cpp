// SPDX-License-Identifier: Apache-2.0
// What a rank runs when `tutti network testbed --mpi` measures MPI_Barrier between the hosts: calls
// back to back, of which each rank takes the times. Rank 0 prints, in ns and one a line, the times
// of all calls of all ranks, and then of each barrier the time from the last rank's call to the
// last rank's return. The hosts share a clock.
//   tutti-network-mpi-FAMILY CALLS [IMBALANCE_NS]
// With an imbalance one rank works for so long before each call; the ranks take turns.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

std::uint64_t now_ns() {
  const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(now.count());
}

void work(std::uint64_t ns) {
  for (const std::uint64_t end = now_ns() + ns; now_ns() < end;) {
  }
}

// What a rank has measured.
struct stamp {
  std::uint64_t begin = 0, end = 0;
};

void print_times(const std::vector<stamp>& all, std::size_t calls) {
  for (const stamp& one : all)
    std::printf("%llu\n", static_cast<unsigned long long>(one.end - one.begin));
  for (std::size_t call = 0; call < calls; ++call) {
    std::uint64_t last_in = 0, last_out = 0;
    for (std::size_t at = call; at < all.size(); at += calls) {
      last_in = std::max(last_in, all[at].begin);
      last_out = std::max(last_out, all[at].end);
    }
    std::printf("%llu\n", static_cast<unsigned long long>(last_out - last_in));
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int calls = argc > 1 ? std::max(std::atoi(argv[1]), 1) : 1000;
  const std::uint64_t imbalance_ns = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  constexpr int warm_up = 20;
  for (int i = 0; i < warm_up; ++i) MPI_Barrier(MPI_COMM_WORLD);
  std::vector<stamp> mine(static_cast<std::size_t>(calls));
  for (int i = 0; i < calls; ++i) {
    stamp& one = mine[static_cast<std::size_t>(i)];
    if (imbalance_ns != 0 && i % ranks == rank) work(imbalance_ns);
    one.begin = now_ns();
    MPI_Barrier(MPI_COMM_WORLD);
    one.end = now_ns();
  }
  std::vector<stamp> all(
      rank == 0 ? static_cast<std::size_t>(ranks) * static_cast<std::size_t>(calls) : 0);
  MPI_Gather(mine.data(), 2 * calls, MPI_UINT64_T, all.data(), 2 * calls, MPI_UINT64_T, 0,
             MPI_COMM_WORLD);
  if (rank == 0) print_times(all, static_cast<std::size_t>(calls));
  MPI_Finalize();
}
