// SPDX-License-Identifier: Apache-2.0
// The functions that the loader finds in place of MPI's.
//
// Both names of each are here. A program calls MPI_Barrier. A profiler that stands before the
// preload takes that call and calls PMPI_Barrier, as Open MPI's Fortran interface does. Whoever
// calls MPI_Barrier while a profiler stands behind the preload is sent there first, and that
// profiler calls PMPI_Barrier. So a profiler sees every call, on either side of the preload, and
// the preload serves every call.
#include "preload/mpi/calls.hpp"
#include "preload/mpi/library.hpp"

namespace tutti::preload {
namespace {

template <class Function, class... Arguments>
int leave_to_unknown(const char* name, Arguments... given) noexcept {
  return reinterpret_cast<Function>(unserved(name))(given...);
}

// What the entries of both names do. `mpi` is null if the library is of neither family.
int barrier(const library* mpi, handle comm) noexcept {
  if (mpi == nullptr) return leave_to_unknown<int (*)(handle)>("PMPI_Barrier", comm);
  return serve_barrier(*mpi, comm, [=] { return mpi->barrier(comm); });
}

int ibarrier(const library* mpi, handle comm, void* request) noexcept {
  if (mpi == nullptr)
    return leave_to_unknown<int (*)(handle, void*)>("PMPI_Ibarrier", comm, request);
  return serve_ibarrier(*mpi, comm, request, [=] { return mpi->ibarrier(comm, request); });
}

int bcast(const library* mpi, void* data, int count, handle type, int root, handle comm) noexcept {
  if (mpi == nullptr)
    return leave_to_unknown<int (*)(void*, int, handle, int, handle)>("PMPI_Bcast", data, count,
                                                                      type, root, comm);
  return serve_bcast(*mpi, data, count, type, root, comm,
                     [=] { return mpi->bcast(data, count, type, root, comm); });
}

int allreduce(const library* mpi, const void* mine, void* result, int count, handle type, handle op,
              handle comm) noexcept {
  if (mpi == nullptr)
    return leave_to_unknown<int (*)(const void*, void*, int, handle, handle, handle)>(
        "PMPI_Allreduce", mine, result, count, type, op, comm);
  return serve_allreduce(*mpi, mine, result, count, type, op, comm,
                         [=] { return mpi->allreduce(mine, result, count, type, op, comm); });
}

}  // namespace

// The names that programs call. Handles of both families fit into the register's type.
#define TUTTI_ENTRY extern "C" [[gnu::visibility("default")]]

TUTTI_ENTRY int tutti_pmpi_barrier(handle comm) noexcept asm("PMPI_Barrier");
TUTTI_ENTRY int tutti_mpi_barrier(handle comm) noexcept asm("MPI_Barrier");
TUTTI_ENTRY int tutti_pmpi_ibarrier(handle comm, void* request) noexcept asm("PMPI_Ibarrier");
TUTTI_ENTRY int tutti_mpi_ibarrier(handle comm, void* request) noexcept asm("MPI_Ibarrier");
TUTTI_ENTRY int tutti_pmpi_bcast(void* data, int count, handle type, int root, handle comm) noexcept
    asm("PMPI_Bcast");
TUTTI_ENTRY int tutti_mpi_bcast(void* data, int count, handle type, int root, handle comm) noexcept
    asm("MPI_Bcast");
TUTTI_ENTRY int tutti_pmpi_allreduce(const void* mine, void* result, int count, handle type,
                                     handle op, handle comm) noexcept asm("PMPI_Allreduce");
TUTTI_ENTRY int tutti_mpi_allreduce(const void* mine, void* result, int count, handle type,
                                    handle op, handle comm) noexcept asm("MPI_Allreduce");

int tutti_pmpi_barrier(handle comm) noexcept { return barrier(library::get(), comm); }
int tutti_mpi_barrier(handle comm) noexcept {
  const library* const mpi = library::get();
  return mpi != nullptr && mpi->next_barrier != nullptr ? mpi->next_barrier(comm)
                                                        : barrier(mpi, comm);
}

int tutti_pmpi_ibarrier(handle comm, void* request) noexcept {
  return ibarrier(library::get(), comm, request);
}
int tutti_mpi_ibarrier(handle comm, void* request) noexcept {
  const library* const mpi = library::get();
  return mpi != nullptr && mpi->next_ibarrier != nullptr ? mpi->next_ibarrier(comm, request)
                                                         : ibarrier(mpi, comm, request);
}

int tutti_pmpi_bcast(void* data, int count, handle type, int root, handle comm) noexcept {
  return bcast(library::get(), data, count, type, root, comm);
}
int tutti_mpi_bcast(void* data, int count, handle type, int root, handle comm) noexcept {
  const library* const mpi = library::get();
  return mpi != nullptr && mpi->next_bcast != nullptr
             ? mpi->next_bcast(data, count, type, root, comm)
             : bcast(mpi, data, count, type, root, comm);
}

int tutti_pmpi_allreduce(const void* mine, void* result, int count, handle type, handle op,
                         handle comm) noexcept {
  return allreduce(library::get(), mine, result, count, type, op, comm);
}
int tutti_mpi_allreduce(const void* mine, void* result, int count, handle type, handle op,
                        handle comm) noexcept {
  const library* const mpi = library::get();
  return mpi != nullptr && mpi->next_allreduce != nullptr
             ? mpi->next_allreduce(mine, result, count, type, op, comm)
             : allreduce(mpi, mine, result, count, type, op, comm);
}

}  // namespace tutti::preload
