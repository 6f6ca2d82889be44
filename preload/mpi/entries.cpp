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

#include <type_traits>

#include "preload/mpi/calls.hpp"
#include "preload/mpi/library.hpp"

namespace tutti::preload {
namespace {

template <class Function, class... Arguments>
int leave_to_unknown(const char* name, Arguments... given) {
  return reinterpret_cast<Function>(unserved(name))(given...);
}

// Tells the program of an error, by the handler of a communicator.
int report(const library& mpi, handle comm, int error) {
  mpi.comm_call_errhandler(comm, error);
  return error;
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

// Leaves a call to `small`, or if its count is a large one, to `large`. A library before MPI 4 has
// only the first one; a program that looked the second one up found the preload's.
template <class Count, class Small, class Large, class Call>
int leave_by(const char* name, Small small, Large large, Count count, Call call) {
  if constexpr (std::is_same_v<Count, int>) {
    return call(small, count);
  } else {
    if (large != nullptr) return call(large, count);
    const int as_int = static_cast<int>(count);
    return as_int == count ? call(small, as_int)
                           : call(reinterpret_cast<Large>(unserved(name)), count);
  }
}

template <class Count>
int bcast(const library* mpi, const char* name, void* data, Count count, handle type, int root,
          handle comm) {
  if (mpi == nullptr)
    return leave_to_unknown<bcast_function<Count>>(name, data, count, type, root, comm);
  return serve_bcast(
      *mpi, data, count, type, root, comm,
      [=] {
        return leave_by(name, mpi->bcast, mpi->bcast_c, count,
                        [=](auto own, auto values) { return own(data, values, type, root, comm); });
      },
      [=](int error) { return report(*mpi, comm, error); });
}

// One function for both of its entries, as long as nobody has measured that copies are faster.
template <class Count>
[[gnu::noinline]] int allreduce(const library* mpi, const char* name, const void* mine,
                                void* result, Count count, handle type, handle op, handle comm) {
  if (mpi == nullptr)
    return leave_to_unknown<allreduce_function<Count>>(name, mine, result, count, type, op, comm);
  return serve_allreduce(*mpi, mine, result, count, type, op, comm, [=] {
    return leave_by(name, mpi->allreduce, mpi->allreduce_c, count, [=](auto own, auto values) {
      return own(mine, result, values, type, op, comm);
    });
  });
}

// --- requests ------------------------------------------------------------------------------------

using get_status = int (*)(handle request, int* is_done, void* status);
using free_request = int (*)(void* request);
using complete_request = int (*)(handle request);

// The profiler's function behind the preload, or MPI's.
template <class Function>
Function next_of(const char* name) {
  void* const next = dlsym(RTLD_NEXT, name);
  return reinterpret_cast<Function>(next != nullptr ? next : unserved(name));
}
int request_get_status(get_status next, handle request, int* is_done, void* status) {
  if (const library* const mpi = library::get(); mpi != nullptr)
    complete_before_status(*mpi, request);
  return next(request, is_done, status);
}
// MPI reports the errors of a request of no communicator by the world's handler.
int request_free(free_request next, void* request) {
  const library* const mpi = library::get();
  const int error = mpi == nullptr ? 0 : refuse_free(*mpi, request);
  return error == 0 ? next(request) : report(*mpi, mpi->world, error);
}
int grequest_complete(complete_request next, handle request) {
  const library* const mpi = library::get();
  return mpi != nullptr && is_started_barrier(*mpi, request)
             ? report(*mpi, mpi->world, mpi->wrong_request)
             : next(request);
}

// --- communicators -------------------------------------------------------------------------------

// MPI_Comm_free and MPI_Comm_disconnect, which take an MPI_Comm*.
using free_communicator = int (*)(void* comm);

int comm_free(free_communicator next, void* comm) {
  const library* const mpi = library::get();
  if (mpi == nullptr || comm == nullptr) return next(comm);
  const handle freed = mpi->read(comm);
  communicator::begin_to_free(*mpi, freed);
  const int error = next(comm);
  communicator::end_of_freeing(*mpi, freed, error == 0);
  return error;
}

// --- the end -------------------------------------------------------------------------------------

using finalize_mpi = int (*)();

int finalize(finalize_mpi next) {
  const int error = next();
  if (error == 0 && library::if_found() != nullptr) communicator::end_of_world();
  return error;
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
TUTTI_ENTRY int tutti_pmpi_bcast_c(void* data, large_count count, handle type, int root,
                                   handle comm) asm("PMPI_Bcast_c");
TUTTI_ENTRY int tutti_mpi_bcast_c(void* data, large_count count, handle type, int root,
                                  handle comm) asm("MPI_Bcast_c");
TUTTI_ENTRY int tutti_pmpi_allreduce_c(const void* mine, void* result, large_count count,
                                       handle type, handle op, handle comm) asm("PMPI_Allreduce_c");
TUTTI_ENTRY int tutti_mpi_allreduce_c(const void* mine, void* result, large_count count,
                                      handle type, handle op, handle comm) asm("MPI_Allreduce_c");
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
  return bcast(library::get(), "PMPI_Bcast", data, count, type, root, comm);
}
int tutti_mpi_bcast(void* data, int count, handle type, int root, handle comm) {
  const library* const mpi = library::get();
  return mpi != nullptr && mpi->next_bcast != nullptr
             ? mpi->next_bcast(data, count, type, root, comm)
             : bcast(mpi, "PMPI_Bcast", data, count, type, root, comm);
}
int tutti_pmpi_bcast_c(void* data, large_count count, handle type, int root, handle comm) {
  return bcast(library::get(), "PMPI_Bcast_c", data, count, type, root, comm);
}
int tutti_mpi_bcast_c(void* data, large_count count, handle type, int root, handle comm) {
  const library* const mpi = library::get();
  return mpi != nullptr && mpi->next_bcast_c != nullptr
             ? mpi->next_bcast_c(data, count, type, root, comm)
             : bcast(mpi, "PMPI_Bcast_c", data, count, type, root, comm);
}

int tutti_pmpi_allreduce(const void* mine, void* result, int count, handle type, handle op,
                         handle comm) {
  return allreduce(library::get(), "PMPI_Allreduce", mine, result, count, type, op, comm);
}
int tutti_mpi_allreduce(const void* mine, void* result, int count, handle type, handle op,
                        handle comm) {
  const library* const mpi = library::get();
  return mpi != nullptr && mpi->next_allreduce != nullptr
             ? mpi->next_allreduce(mine, result, count, type, op, comm)
             : allreduce(mpi, "PMPI_Allreduce", mine, result, count, type, op, comm);
}
int tutti_pmpi_allreduce_c(const void* mine, void* result, large_count count, handle type,
                           handle op, handle comm) {
  return allreduce(library::get(), "PMPI_Allreduce_c", mine, result, count, type, op, comm);
}
int tutti_mpi_allreduce_c(const void* mine, void* result, large_count count, handle type, handle op,
                          handle comm) {
  const library* const mpi = library::get();
  return mpi != nullptr && mpi->next_allreduce_c != nullptr
             ? mpi->next_allreduce_c(mine, result, count, type, op, comm)
             : allreduce(mpi, "PMPI_Allreduce_c", mine, result, count, type, op, comm);
}

TUTTI_ENTRY int tutti_pmpi_request_get_status(handle request, int* is_done,
                                              void* status) asm("PMPI_Request_get_status");
TUTTI_ENTRY int tutti_mpi_request_get_status(handle request, int* is_done,
                                             void* status) asm("MPI_Request_get_status");
int tutti_pmpi_request_get_status(handle request, int* is_done, void* status) {
  static const auto next = next_of<get_status>("PMPI_Request_get_status");
  return request_get_status(next, request, is_done, status);
}
int tutti_mpi_request_get_status(handle request, int* is_done, void* status) {
  static const auto next = next_of<get_status>("MPI_Request_get_status");
  return request_get_status(next, request, is_done, status);
}

TUTTI_ENTRY int tutti_pmpi_request_free(void* request) asm("PMPI_Request_free");
TUTTI_ENTRY int tutti_mpi_request_free(void* request) asm("MPI_Request_free");
int tutti_pmpi_request_free(void* request) {
  static const auto next = next_of<free_request>("PMPI_Request_free");
  return request_free(next, request);
}
int tutti_mpi_request_free(void* request) {
  static const auto next = next_of<free_request>("MPI_Request_free");
  return request_free(next, request);
}

TUTTI_ENTRY int tutti_pmpi_grequest_complete(handle request) asm("PMPI_Grequest_complete");
TUTTI_ENTRY int tutti_mpi_grequest_complete(handle request) asm("MPI_Grequest_complete");
int tutti_pmpi_grequest_complete(handle request) {
  static const auto next = next_of<complete_request>("PMPI_Grequest_complete");
  return grequest_complete(next, request);
}
int tutti_mpi_grequest_complete(handle request) {
  static const auto next = next_of<complete_request>("MPI_Grequest_complete");
  return grequest_complete(next, request);
}

TUTTI_ENTRY int tutti_pmpi_comm_free(void* comm) asm("PMPI_Comm_free");
TUTTI_ENTRY int tutti_mpi_comm_free(void* comm) asm("MPI_Comm_free");
int tutti_pmpi_comm_free(void* comm) {
  static const auto next = next_of<free_communicator>("PMPI_Comm_free");
  return comm_free(next, comm);
}
int tutti_mpi_comm_free(void* comm) {
  static const auto next = next_of<free_communicator>("MPI_Comm_free");
  return comm_free(next, comm);
}

TUTTI_ENTRY int tutti_pmpi_comm_disconnect(void* comm) asm("PMPI_Comm_disconnect");
TUTTI_ENTRY int tutti_mpi_comm_disconnect(void* comm) asm("MPI_Comm_disconnect");
int tutti_pmpi_comm_disconnect(void* comm) {
  static const auto next = next_of<free_communicator>("PMPI_Comm_disconnect");
  return comm_free(next, comm);
}
int tutti_mpi_comm_disconnect(void* comm) {
  static const auto next = next_of<free_communicator>("MPI_Comm_disconnect");
  return comm_free(next, comm);
}

TUTTI_ENTRY int tutti_pmpi_finalize() asm("PMPI_Finalize");
TUTTI_ENTRY int tutti_mpi_finalize() asm("MPI_Finalize");
int tutti_pmpi_finalize() {
  static const auto next = next_of<finalize_mpi>("PMPI_Finalize");
  return finalize(next);
}
int tutti_mpi_finalize() {
  static const auto next = next_of<finalize_mpi>("MPI_Finalize");
  return finalize(next);
}

}  // namespace tutti::preload
