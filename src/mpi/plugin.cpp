// SPDX-License-Identifier: Apache-2.0
// The functions of one MPI, for programs that do not link to it: libtutti-mpi-openmpi.so,
// libtutti-mpi-mpich.so.
#include "tutti/export.h"
#include "tutti/mpi/calls_of_mpi_h.hpp"

extern "C" TUTTI_API const tutti::mpi::calls* tutti_mpi_calls();

extern "C" const tutti::mpi::calls* tutti_mpi_calls() {
  static const tutti::mpi::calls table = tutti::mpi::calls_of_mpi_h();
  return &table;
}
