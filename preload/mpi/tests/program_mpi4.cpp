// SPDX-License-Identifier: Apache-2.0
// What MPI has had since its version 4: large counts, and sessions in place of MPI_Init.
#include <mpi.h>

#include <vector>

#include "preload/mpi/tests/program.hpp"

namespace program {

#if MPI_VERSION >= 4

// Ranks may call functions with large counts where others call those with small ones.
void large_counts() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  // 1,200 bytes are left to MPI.
  for (const int count : {1, 3, 128, 150})
    for (int i = 0; i < 20; ++i) {
      const int root = i % world_size;
      const bool is_large = (world_rank + i) % 2 == 0;
      const auto values = static_cast<std::size_t>(count);
      std::vector<double> mine(values, world_rank + i), all(values, -1);
      const double sum = world_size * (world_size - 1) / 2 + world_size * i;
      if (is_large)
        MPI_Allreduce_c(mine.data(), all.data(), count, MPI_DOUBLE, MPI_SUM, comm);
      else
        MPI_Allreduce(mine.data(), all.data(), count, MPI_DOUBLE, MPI_SUM, comm);
      for (const double each : all) expect(each == sum, "a sum is wrong");
      if (is_large)
        MPI_Bcast_c(mine.data(), count, MPI_DOUBLE, root, comm);
      else
        MPI_Bcast(mine.data(), count, MPI_DOUBLE, root, comm);
      for (const double each : mine) expect(each == root + i, "a broadcast is wrong");
    }
  // Only one rank makes these mistakes. The last count has 2^64 bytes.
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  double value = world_rank, sum = 0;
  if (world_rank == 0) {
    expect(MPI_Bcast_c(&value, -1, MPI_DOUBLE, 0, comm) != MPI_SUCCESS, "-1 was accepted");
    expect(MPI_Bcast_c(&value, MPI_Count{1} << 61, MPI_DOUBLE, -5, comm) != MPI_SUCCESS,
           "a root that is none was accepted");
    expect(MPI_Allreduce_c(&value, &sum, 1, MPI_DOUBLE, MPI_BXOR, comm) != MPI_SUCCESS,
           "bits of a double were accepted");
  }
  check_sum(comm, 7);
  MPI_Comm_free(&comm);
}

// After the last session has ended, MPICH 4.0.2 cannot begin again.
void sessions() {
  MPI_Session session;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group group;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm comm;
  MPI_Comm_create_from_group(group, "program", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  world_rank = rank_in(comm);
  world_size = size_of(comm);
  MPI_Request request;
  for (int i = 0; i < 10; ++i) {
    MPI_Barrier(comm);
    check_sum(comm, i);
    int value = world_rank == i % world_size ? i : -1;
    MPI_Bcast(&value, 1, MPI_INT, i % world_size, comm);
    expect(value == i, "a broadcast is wrong");
    MPI_Ibarrier(comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Ibarrier(comm, &request);
  MPI_Comm_free(&comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Session_finalize(&session);
}

#else

void large_counts() { fail("this MPI has no large counts"); }
void sessions() { fail("this MPI has no sessions"); }

#endif

}  // namespace program
