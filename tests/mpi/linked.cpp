// SPDX-License-Identifier: Apache-2.0
// A user's program with its own MPI: communicators of two participants per process over
// MPI_COMM_WORLD, with the program's own messages on the same communicator.
#include <mpi.h>

#include <cstdio>
#include <thread>

#include "tutti/mpi/calls_of_mpi_h.hpp"
#include "tutti/mpi/communicator.hpp"

int main(int argc, char** argv) {
  int provided = 0, size = 0, rank = 0, got = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Request request;
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
  const tutti::mpi::calls mpi = tutti::mpi::calls_of_mpi_h();
  double sum = 0;
  {
    tutti::mpi::communicator comm(mpi, tutti::mpi::handle_of(MPI_COMM_WORLD), {.threads = 2});
    const auto body = [&](tutti::rank_t thread) {
      auto& me = comm.local(thread);
      me.send((me.rank() + 1) % me.size(), 2.0);
      double received = 0;
      while (me.idle(true) == tutti::idle_result::message) {
        const auto message = me.recv();
        received += message.as<double>();
        me.release(message);
      }
      const auto total = me.idle(true, received / 2 - (me.rank() == 0 ? 1 : 0), tutti::plus{});
      if (thread == 0) sum = total.value;
    };
    std::thread other(body, 1);
    body(0);
    other.join();
  }
  MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  const bool is_right = got == (rank + size - 1) % size && sum == 2.0 * size - 1;
  if (rank == 0) std::printf("sum %.0f of %d participants\n", sum, 2 * size);
  MPI_Finalize();
  return is_right ? 0 : 1;
}
