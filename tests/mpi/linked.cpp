// SPDX-License-Identifier: Apache-2.0
// A user's program with its own MPI: communicators of two participants per process over
// MPI_COMM_WORLD, with the program's own messages on the same communicator.
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "tutti/mpi/calls_of_mpi_h.hpp"
#include "tutti/mpi/communicator.hpp"

// Whether a communicator between two groups of processes is refused.
static bool is_intercommunicator_refused(const tutti::mpi::calls& mpi, int rank) {
  MPI_Comm half, between;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &between);
  bool is_refused = false;
  try {
    tutti::mpi::communicator(mpi, tutti::mpi::handle_of(between));
  } catch (const std::invalid_argument& error) {
    is_refused = std::strstr(error.what(), "connects two groups of processes") != nullptr;
  }
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
  return is_refused;
}

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
  const bool is_refused = is_intercommunicator_refused(mpi, rank);
  const bool is_right = is_refused && got == (rank + size - 1) % size && sum == 2.0 * size - 1;
  if (rank == 0) std::printf("sum %.0f of %d participants\n", sum, 2 * size);
  MPI_Finalize();
  return is_right ? 0 : 1;
}
