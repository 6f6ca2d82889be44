// SPDX-License-Identifier: Apache-2.0
// MPI_Ibarrier, tested and waited for in every way.
#include <mpi.h>
#include <unistd.h>

#include <vector>

#include "preload/mpi/tests/program.hpp"

namespace program {

// Started barriers: several at once, beside other calls, tested and waited for in every way, and
// on a communicator that is freed before.
void started() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  // The first use, before the communicator is set up.
  MPI_Request first;
  MPI_Ibarrier(comm, &first);
  MPI_Wait(&first, MPI_STATUS_IGNORE);
  MPI_Barrier(comm);
  for (int i = 0; i < 100; ++i) {
    MPI_Request all[4];
    for (MPI_Request& one : all) MPI_Ibarrier(comm, &one);
    if (i % 3 == 0) check_sum(comm, i);
    int token = world_rank, from = -1;
    const int next = (world_rank + 1) % world_size,
              before = (world_rank + world_size - 1) % world_size;
    MPI_Sendrecv(&token, 1, MPI_INT, next, 1, &from, 1, MPI_INT, before, 1, comm,
                 MPI_STATUS_IGNORE);
    expect(from == before, "a message is wrong");
    if (i % 4 == 0) {
      MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
    } else if (i % 4 == 1) {
      for (int is_done = 0; is_done == 0;) MPI_Testall(4, all, &is_done, MPI_STATUSES_IGNORE);
    } else if (i % 4 == 2) {
      for (int k = 0; k < 4; ++k) {
        int which = -1;
        MPI_Waitany(4, all, &which, MPI_STATUS_IGNORE);
        expect(which >= 0 && which < 4, "MPI_Waitany found no request");
      }
    } else {
      for (int k = 3; k >= 0; --k)
        for (int is_done = 0; is_done == 0;) {
          MPI_Status status;
          MPI_Test(&all[k], &is_done, &status);
        }
    }
    for (const MPI_Request& one : all) expect(one == MPI_REQUEST_NULL, "a request is left over");
  }
  // A barrier must not end before the last rank has started it.
  MPI_Request late;
  if (world_rank == world_size - 1) usleep(30'000);
  const double start = MPI_Wtime();
  MPI_Ibarrier(comm, &late);
  MPI_Wait(&late, MPI_STATUS_IGNORE);
  if (world_rank == 0) expect(MPI_Wtime() - start > 0.01, "a started barrier ended too early");
  MPI_Comm_free(&comm);
}

// A barrier on a communicator that is freed before it ends. Without the preload, Open MPI 4.1.4
// ends with a segmentation fault here.
void freed() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Barrier(comm);
  MPI_Request request;
  if (world_rank == world_size - 1) usleep(30'000);
  const double start = MPI_Wtime();
  MPI_Ibarrier(comm, &request);
  MPI_Comm_free(&comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (world_rank == 0) expect(MPI_Wtime() - start > 0.01, "a started barrier ended too early");
}

// A rank that waits for a started barrier alone goes on sending a message for which another one
// waits before it starts the barrier; and its state may be asked for without a test.
void started_alone() {
  MPI_Barrier(MPI_COMM_WORLD);
  std::vector<char> data(8 << 20);
  const int bytes = static_cast<int>(data.size());
  MPI_Request barrier, message = MPI_REQUEST_NULL;
  if (world_rank == 0) MPI_Isend(data.data(), bytes, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &message);
  if (world_rank == 1) {
    usleep(3'000);
    MPI_Recv(data.data(), bytes, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
  MPI_Wait(&barrier, MPI_STATUS_IGNORE);
  MPI_Wait(&message, MPI_STATUS_IGNORE);
  MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
  for (int is_over = 0; is_over == 0;) MPI_Request_get_status(barrier, &is_over, MPI_STATUS_IGNORE);
  MPI_Wait(&barrier, MPI_STATUS_IGNORE);
}

}  // namespace program
