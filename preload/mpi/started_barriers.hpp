// SPDX-License-Identifier: Apache-2.0
// MPI_Ibarrier: a request of MPI (a generalized request) that is complete when all ranks of the
// communicator have started the barrier. MPI itself asks whether that is so, whenever it makes
// progress: Open MPI by a function that is registered for that purpose, MPICH by its extension of
// generalized requests. So the request may be given to every function of MPI that takes one, from
// every language.
#pragma once

#include "preload/mpi/communicator.hpp"

namespace tutti::preload {

// Starts a barrier and makes its request. Returns MPI's error code. Never waits.
int start_barrier(const library& mpi, communicator& comm, void* request) noexcept;

// Call this before MPI_Request_get_status. MPICH does not ask there whether the barrier is over.
void complete_before_status(const library& mpi, handle request) noexcept;

// MPI knows these requests as some of the program's own, with which the program may do what it may
// not do with a collective operation's. Whether `request` is one of them:
bool is_started_barrier(const library& mpi, handle request) noexcept;
// Returns the error with which MPI refuses to free its own request of a barrier, if it does; 0 for
// all other requests. `request` is an MPI_Request*.
int refuse_free(const library& mpi, const void* request) noexcept;

}  // namespace tutti::preload
