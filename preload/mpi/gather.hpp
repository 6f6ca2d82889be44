// SPDX-License-Identifier: Apache-2.0
// How ranks tell each other something when a communicator is set up.
#pragma once

#include "preload/mpi/library.hpp"
#include "tutti/platform/clock.hpp"
#include "tutti/platform/native.hpp"

namespace tutti::preload {

struct never {
  std::uint64_t deadline_ns = UINT64_MAX;
  void report() const noexcept {}
};

// Gathers `bytes` bytes of all ranks; calls late.report() if that takes until late.deadline_ns.
// MPI's blocking calls would do, but with more ranks than CPUs those of MPICH keep a CPU for a
// whole slice of the scheduler, some milliseconds each.
template <class Late = never>
bool gather(const library& mpi, handle comm, const void* mine, int bytes, void* all,
            Late late = {}) noexcept {
  handle_space request;
  if (mpi.iallgather(mine, bytes, mpi.byte, all, bytes, mpi.byte, comm, &request) != 0)
    return false;
  for (int is_done = 0;;) {
    if (mpi.test(&request, &is_done, mpi.ignored_status) != 0) return false;
    if (is_done != 0) return true;
    if (late.deadline_ns != UINT64_MAX && platform::now_ns() > late.deadline_ns) late.report();
    native::yield();
  }
}

}  // namespace tutti::preload
