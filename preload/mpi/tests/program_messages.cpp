// SPDX-License-Identifier: Apache-2.0
// Large messages, which move while their senders make collective calls.
#include <mpi.h>
#include <unistd.h>

#include <cstddef>
#include <vector>

#include "preload/mpi/tests/program.hpp"

namespace program {

// A large message that the receiver wants before it comes to the barrier in which the sender is.
void rendezvous() {
  const std::size_t bytes = 16 << 20;
  std::vector<char> data(bytes, static_cast<char>(world_rank));
  for (int i = 0; i < 3; ++i) {
    if (world_rank == 0) {
      MPI_Request request;
      MPI_Isend(data.data(), static_cast<int>(bytes), MPI_CHAR, 1, 5, MPI_COMM_WORLD, &request);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      if (world_rank == 1) {
        usleep(20'000);
        MPI_Recv(data.data(), static_cast<int>(bytes), MPI_CHAR, 0, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        expect(data.front() == 0 && data.back() == 0, "a large message is wrong");
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

// A large message of a rank that never waits, because it works before each call and so comes last,
// or because it is the root.
void sent_by_the_last() {
  for (const bool by_broadcasts : {false, true}) {
    std::vector<char> data(2 << 20, static_cast<char>(world_rank));
    const int bytes = static_cast<int>(data.size());
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0) MPI_Isend(data.data(), bytes, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &request);
    if (world_rank == 1) MPI_Irecv(data.data(), bytes, MPI_CHAR, 0, 5, MPI_COMM_WORLD, &request);
    int has_arrived = 0;
    for (int turn = 0; turn < 40; ++turn) {
      if (world_rank == 0) usleep(15'000);
      if (world_rank == 1) MPI_Test(&request, &has_arrived, MPI_STATUS_IGNORE);
      int value = turn, all = 0;
      if (by_broadcasts)
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
      else if (turn % 2 == 0)
        MPI_Allreduce(&value, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      else
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (world_rank == 1)
      expect(has_arrived != 0, "a message of a rank that does not wait stands still");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

}  // namespace program
