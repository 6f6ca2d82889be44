// SPDX-License-Identifier: Apache-2.0
// How ranks tell each other something when a communicator is set up.
#pragma once

#include "preload/mpi/library.hpp"
#include "tutti/platform/native.hpp"

namespace tutti::preload {

// Gathers `bytes` bytes of all ranks. MPI's blocking calls would do, but with more ranks than CPUs
// those of MPICH keep a CPU for a whole slice of the scheduler, some milliseconds each.
inline bool gather(const library& mpi, handle comm, const void* mine, int bytes,
                   void* all) noexcept {
  handle_space request;
  if (mpi.iallgather(mine, bytes, mpi.byte, all, bytes, mpi.byte, comm, &request) != 0)
    return false;
  for (int is_done = 0;;) {
    if (mpi.test(&request, &is_done, mpi.ignored_status) != 0) return false;
    if (is_done != 0) return true;
    native::yield();
  }
}

}  // namespace tutti::preload
