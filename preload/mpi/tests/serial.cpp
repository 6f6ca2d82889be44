// SPDX-License-Identifier: Apache-2.0
// A library that replaces MPI in programs of one process, as scientific programs bring them: it has
// no name that begins with PMPI_. As it is loaded, it calls MPI_Barrier as a program would.
#include <cstdio>

extern "C" int MPI_Barrier(int) {
  std::puts("alone at a barrier");
  return 0;
}

[[gnu::constructor]] static void call() { MPI_Barrier(0); }
