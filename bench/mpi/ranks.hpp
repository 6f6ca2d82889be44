// SPDX-License-Identifier: Apache-2.0
// The process's own rank in MPI_COMM_WORLD, and how many there are.
#pragma once

#include <mpi.h>

namespace tutti::bench {

inline int my_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

inline int all_ranks() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

}  // namespace tutti::bench
