// SPDX-License-Identifier: Apache-2.0
// The functions that the loader finds in place of MPI's.
//
// Both names of each are here. A program calls MPI_Barrier. A profiler that stands before the
// preload takes that call and calls PMPI_Barrier, as Open MPI's Fortran interface does. Whoever
// calls MPI_Barrier while a profiler stands behind the preload is sent there first, and that
// profiler calls PMPI_Barrier. So a profiler sees every call, on either side of the preload, and
// the preload serves every call.
//
// None is noexcept, because MPI's error handlers may throw.
#include <dlfcn.h>

#include "preload/mpi/calls.hpp"
#include "preload/mpi/library.hpp"

namespace tutti::preload {
namespace {

template <class Function, class... Arguments>
int leave_to_unknown(const char* name, Arguments... given) {
  return reinterpret_cast<Function>(unserved(name))(given...);
}

// What the entries of both names do. `mpi` is null if the library is of neither family.
int barrier(const library* mpi, handle comm) {
  if (mpi == nullptr) return leave_to_unknown<int (*)(handle)>("PMPI_Barrier", comm);
  return serve_barrier(*mpi, comm, [=] { return mpi->barrier(comm); });
}

int ibarrier(const library* mpi, handle comm, void* request) {
  if (mpi == nullptr)
    return leave_to_unknown<int (*)(handle, void*)>("PMPI_Ibarrier", comm, request);
  return serve_ibarrier(*mpi, comm, request, [=] { return mpi->ibarrier(comm, request); });
}

int bcast(const library* mpi, void* data, int count, handle type, int root, handle comm) {
  if (mpi == nullptr)
    return leave_to_unknown<int (*)(void*, int, handle, int, handle)>("PMPI_Bcast", data, count,
                                                                      type, root, comm);
  return serve_bcast(
      *mpi, data, count, type, root, comm,
      [=] { return mpi->bcast(data, count, type, root, comm); },
      [=](int error) {
        mpi->comm_call_errhandler(comm, error);
        return error;
      });
}

int allreduce(const library* mpi, const void* mine, void* result, int count, handle type, handle op,
              handle comm) {
  if (mpi == nullptr)
    return leave_to_unknown<int (*)(const void*, void*, int, handle, handle, handle)>(
        "PMPI_Allreduce", mine, result, count, type, op, comm);
  return serve_allreduce(*mpi, mine, result, count, type, op, comm,
                         [=] { return mpi->allreduce(mine, result, count, type, op, comm); });
}

}  // namespace

namespace {

using get_status = int (*)(handle, int*, void*);

// The profiler's function behind the preload, or MPI's.
get_status next_get_status(const char* name) {
  void* const next = dlsym(RTLD_NEXT, name);
  return reinterpret_cast<get_status>(next != nullptr ? next : unserved("PMPI_Request_get_status"));
}
int request_get_status(get_status next, handle request, int* is_done, void* status) {
  if (const library* const mpi = library::get(); mpi != nullptr)
    complete_before_status(*mpi, request);
  return next(request, is_done, status);
}

}  // namespace

// The names that programs call. Handles of both families fit into the register's type.
#define TUTTI_ENTRY extern "C" [[gnu::visibility("default")]]

TUTTI_ENTRY int tutti_pmpi_barrier(handle comm) asm("PMPI_Barrier");
TUTTI_ENTRY int tutti_mpi_barrier(handle comm) asm("MPI_Barrier");
TUTTI_ENTRY int tutti_pmpi_ibarrier(handle comm, void* request) asm("PMPI_Ibarrier");
TUTTI_ENTRY int tutti_mpi_ibarrier(handle comm, void* request) asm("MPI_Ibarrier");
TUTTI_ENTRY int tutti_pmpi_bcast(void* data, int count, handle type, int root,
                                 handle comm) asm("PMPI_Bcast");
TUTTI_ENTRY int tutti_mpi_bcast(void* data, int count, handle type, int root,
                                handle comm) asm("MPI_Bcast");
TUTTI_ENTRY int tutti_pmpi_allreduce(const void* mine, void* result, int count, handle type,
                                     handle op, handle comm) asm("PMPI_Allreduce");
TUTTI_ENTRY int tutti_mpi_allreduce(const void* mine, void* result, int count, handle type,
                                    handle op, handle comm) asm("MPI_Allreduce");

int tutti_pmpi_barrier(handle comm) { return barrier(library::get(), comm); }
int tutti_mpi_barrier(handle comm) {
  const library* const mpi = library::get();
  return mpi != nullptr && mpi->next_barrier != nullptr ? mpi->next_barrier(comm)
                                                        : barrier(mpi, comm);
}

int tutti_pmpi_ibarrier(handle comm, void* request) {
  return ibarrier(library::get(), comm, request);
}
int tutti_mpi_ibarrier(handle comm, void* request) {
  const library* const mpi = library::get();
  return mpi != nullptr && mpi->next_ibarrier != nullptr ? mpi->next_ibarrier(comm, request)
                                                         : ibarrier(mpi, comm, request);
}

int tutti_pmpi_bcast(void* data, int count, handle type, int root, handle comm) {
  return bcast(library::get(), data, count, type, root, comm);
}
int tutti_mpi_bcast(void* data, int count, handle type, int root, handle comm) {
  const library* const mpi = library::get();
  return mpi != nullptr && mpi->next_bcast != nullptr
             ? mpi->next_bcast(data, count, type, root, comm)
             : bcast(mpi, data, count, type, root, comm);
}

int tutti_pmpi_allreduce(const void* mine, void* result, int count, handle type, handle op,
                         handle comm) {
  return allreduce(library::get(), mine, result, count, type, op, comm);
}
int tutti_mpi_allreduce(const void* mine, void* result, int count, handle type, handle op,
                        handle comm) {
  const library* const mpi = library::get();
  return mpi != nullptr && mpi->next_allreduce != nullptr
             ? mpi->next_allreduce(mine, result, count, type, op, comm)
             : allreduce(mpi, mine, result, count, type, op, comm);
}

TUTTI_ENTRY int tutti_pmpi_request_get_status(handle request, int* is_done,
                                              void* status) asm("PMPI_Request_get_status");
TUTTI_ENTRY int tutti_mpi_request_get_status(handle request, int* is_done,
                                             void* status) asm("MPI_Request_get_status");
int tutti_pmpi_request_get_status(handle request, int* is_done, void* status) {
  static const get_status next = next_get_status("PMPI_Request_get_status");
  return request_get_status(next, request, is_done, status);
}
int tutti_mpi_request_get_status(handle request, int* is_done, void* status) {
  static const get_status next = next_get_status("MPI_Request_get_status");
  return request_get_status(next, request, is_done, status);
}

}  // namespace tutti::preload
