// SPDX-License-Identifier: Apache-2.0
// The functions of an MPI library that tutti uses, as a table. One build of tutti serves Open MPI
// and MPICH and links to neither. calls_of_mpi_h.hpp makes the table of an MPI from its mpi.h. A
// program that links an MPI makes the table itself; the command `tutti` loads it from a plugin
// (src/mpi/plugin.cpp) when a launcher of that MPI has started it.
//
// Every function except `abort` and `text` returns MPI's own error code; 0 is success.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti::mpi {

// An MPI_Comm, MPI_Request or MPI_Win of any MPI: a pointer in one library, an int in another.
struct handle {
  std::uint64_t raw = 0;
};

// The source and size of a packet that has arrived.
struct arrival {
  int source = -1;
  int bytes = 0;
};

// A window of shared memory. Every rank sees it at a different address, which `base` holds.
struct shared_window {
  handle window;
  // The part that rank 0 has allocated.
  void* base = nullptr;
};

inline constexpr int any_source = -1;

// The table of functions.
struct calls {
  // Increased whenever this table changes; a plugin of another version is refused.
  static constexpr std::uint32_t current_version = 4;

  std::uint32_t version;
  // "openmpi", "mpich" or "mpi".
  const char* family;
  // MPI_COMM_WORLD.
  handle world;

  // Calls MPI_Init_thread; does nothing if MPI is already initialized. `several_threads` requests
  // MPI_THREAD_SERIALIZED instead of MPI_THREAD_FUNNELED.
  int (*init)(bool several_threads);
  int (*finalize)();
  // Sets `runs` to whether MPI is initialized and not finalized, and `serialized` to whether
  // threads may take turns.
  int (*state)(bool* runs, bool* serialized);

  int (*size)(handle comm, int* size);
  int (*rank)(handle comm, int* rank);
  // Sets `is_so` to whether the communicator connects two groups (MPI_Comm_test_inter).
  int (*is_intercommunicator)(handle comm, bool* is_so);
  // The communicators that these two make return errors instead of aborting. Only the processes of
  // `comm` that `ranks` lists call of_group() (MPI_Comm_create_group).
  int (*duplicate)(handle comm, handle* result);
  int (*of_group)(handle comm, int count, const int* ranks, int tag, handle* result);
  int (*free_communicator)(handle* comm);

  // MPI_Isend.
  int (*send)(const void* data, int bytes, int to, handle comm, handle* request);
  // MPI_Irecv; `from` may be any_source.
  int (*receive)(void* data, int bytes, int from, handle comm, handle* request);
  // Sets `done` to whether the request has completed. `result` is for receives; it may be null.
  int (*test)(handle* request, bool* done, arrival* result);
  // Cancels a receive; returns when it has completed or is cancelled.
  int (*cancel)(handle* request);
  int (*all_gather)(const void* mine, int bytes, void* all, handle comm);

  // Makes a communicator of the processes of `comm` that can share memory.
  int (*same_node)(handle comm, handle* result);
  // `bytes` must be 0 except on rank 0.
  int (*share)(std::size_t bytes, handle comm, shared_window* result);
  int (*unshare)(shared_window* window);

  void (*abort)(handle comm, int status);
  // Writes the meaning of an error code to `buffer`.
  void (*text)(int error, char* buffer, std::size_t size);
};

}  // namespace tutti::mpi
