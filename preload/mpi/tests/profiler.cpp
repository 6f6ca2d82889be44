// SPDX-License-Identifier: Apache-2.0
// A profiler as MPI intends it: it defines MPI_Barrier and calls PMPI_Barrier. preload_test.cpp
// loads it before and behind tutti's library, and both must count the same barriers.
#include <mpi.h>

#include <cstdio>

namespace {
int barriers = 0;
}

extern "C" int MPI_Barrier(MPI_Comm comm) {
  ++barriers;
  return PMPI_Barrier(comm);
}

extern "C" int MPI_Finalize() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::fprintf(stderr, "the profiler saw %d barriers\n", barriers);
  return PMPI_Finalize();
}
