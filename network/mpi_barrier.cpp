// SPDX-License-Identifier: Apache-2.0
// What a rank runs when `tutti network testbed --mpi` measures MPI_Barrier over TCP between the
// hosts: calls back to back, of which each rank takes the times. Rank 0 prints the times of all
// ranks in ns, one a line.
//   tutti-network-mpi-FAMILY CALLS
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int calls = argc > 1 ? std::max(std::atoi(argv[1]), 1) : 1000;
  constexpr int warm_up = 20;
  for (int i = 0; i < warm_up; ++i) MPI_Barrier(MPI_COMM_WORLD);
  std::vector<std::uint32_t> mine(static_cast<std::size_t>(calls));
  for (std::uint32_t& time : mine) {
    const auto begin = std::chrono::steady_clock::now();
    MPI_Barrier(MPI_COMM_WORLD);
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
    time = static_cast<std::uint32_t>(took.count());
  }
  std::vector<std::uint32_t> all(
      rank == 0 ? static_cast<std::size_t>(ranks) * static_cast<std::size_t>(calls) : 0);
  MPI_Gather(mine.data(), calls, MPI_UINT32_T, all.data(), calls, MPI_UINT32_T, 0, MPI_COMM_WORLD);
  for (const std::uint32_t time : all) std::printf("%u\n", time);
  MPI_Finalize();
}
