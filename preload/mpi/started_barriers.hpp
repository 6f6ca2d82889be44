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

}  // namespace tutti::preload
