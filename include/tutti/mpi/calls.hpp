// SPDX-License-Identifier: Apache-2.0
// What tutti needs of an MPI library, as a table of functions: one build serves Open MPI and MPICH, and is linked to
// neither. The table of an MPI is made from its mpi.h by calls_of_mpi_h.hpp; a program that links an MPI makes it there
// and then, the command `tutti` loads it from a plugin (src/mpi/plugin.cpp) when a launcher of that MPI has started it.
//
// Every function but `text` returns MPI's own error code; 0 is success.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti::mpi {

// An MPI_Comm, MPI_Request or MPI_Win of whichever MPI: a pointer in one library and an int in another.
struct handle {
  std::uint64_t raw = 0;
};

// What has arrived.
struct arrival {
  int source = -1;
  int bytes = 0;
};

// The ranks of a shared window see it where `base` says, each at an address of its own.
struct shared_window {
  handle window;
  void* base = nullptr;  // of the part that rank 0 has allocated
};

inline constexpr int any_source = -1;

struct calls {
  // Raised whenever this table changes: a plugin of another version is refused.
  static constexpr std::uint32_t current_version = 2;

  std::uint32_t version;
  const char* family;  // "openmpi", "mpich", "mpi"
  handle world;        // MPI_COMM_WORLD

  // MPI_Init_thread. `several_threads`: MPI_THREAD_SERIALIZED is needed, not only FUNNELED. Does nothing if MPI runs.
  int (*init)(bool several_threads);
  int (*finalize)();
  int (*state)(bool* runs,
               bool* serialized);  // between init and finalize; whether threads may take turns

  int (*size)(handle comm, int* size);
  int (*rank)(handle comm, int* rank);
  int (*duplicate)(handle comm, handle* result);  // the result returns errors instead of aborting
  int (*of_group)(handle comm, int count, const int* ranks, int tag, handle* result);
  int (*free_communicator)(handle* comm);

  int (*send)(const void* data, int bytes, int to, handle comm, handle* request);  // MPI_Isend
  int (*receive)(void* data, int bytes, int from, handle comm, handle* request);   // MPI_Irecv
  int (*test)(handle* request, bool* done, arrival* result);
  int (*cancel)(handle* request);  // of a receive; returns when it is done or cancelled
  int (*all_gather)(const void* mine, int bytes, void* all, handle comm);
  int (*broadcast)(void* data, int bytes, int root, handle comm);

  int (*same_node)(handle comm, handle* result);  // those of comm that can share memory
  int (*share)(std::size_t bytes, handle comm, shared_window* result);  // bytes: 0 but on rank 0
  int (*unshare)(shared_window* window);

  void (*abort)(handle comm, int status);
  void (*text)(int error, char* buffer, std::size_t size);  // what an error code means
};

}  // namespace tutti::mpi
