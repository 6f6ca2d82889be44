// SPDX-License-Identifier: Apache-2.0
// Open MPI gives its objects by address, which is what a handle of Open MPI is everywhere else.
#include "preload/mpi/open_mpi/served.h"

#include <atomic>

#include "preload/mpi/calls.hpp"
#include "preload/mpi/library.hpp"

extern "C" int PMPI_Initialized(int* is_so);

namespace {

using tutti::preload::handle;
using tutti::preload::library;

handle handle_of(const void* object) noexcept { return reinterpret_cast<handle>(object); }

// Returns the library, or null as long as MPI_Init has not ended: there Open MPI connects the ranks
// that MPI_Comm_spawn has started, by collective calls, and no function of MPI may be called yet.
const library* library_after_init() noexcept {
  static std::atomic<bool> has_ended{false};
  // relaxed: publishes nothing; what it says stays true.
  if (!has_ended.load(tutti::relaxed)) {
    int is_initialized = 0;
    PMPI_Initialized(&is_initialized);
    if (is_initialized == 0) return nullptr;
    // relaxed: as above.
    has_ended.store(true, tutti::relaxed);
  }
  return library::get();
}

}  // namespace

void tutti_served_begin(void) { tutti::preload::communicator::frees_are_told = true; }

void tutti_served_end(ompi_communicator_t* comm) {
  if (const library* const mpi = library_after_init(); mpi != nullptr)
    tutti::preload::communicator::forget(*mpi, handle_of(comm));
}

int tutti_served_barrier(const tutti_next_functions* next, ompi_communicator_t* comm) {
  const auto leave = [&] { return next->barrier(comm, next->barrier_module); };
  const library* const mpi = library_after_init();
  return mpi == nullptr ? leave() : tutti::preload::serve_barrier(*mpi, handle_of(comm), leave);
}

int tutti_served_bcast(const tutti_next_functions* next, void* data, int count,
                       ompi_datatype_t* type, int root, ompi_communicator_t* comm) {
  const auto leave = [&] { return next->bcast(data, count, type, root, comm, next->bcast_module); };
  const library* const mpi = library_after_init();
  return mpi == nullptr
             ? leave()
             : tutti::preload::serve_bcast(*mpi, data, count, handle_of(type), root,
                                           handle_of(comm), leave, [](int error) { return error; });
}

int tutti_served_allreduce(const tutti_next_functions* next, const void* mine, void* result,
                           int count, ompi_datatype_t* type, ompi_op_t* op,
                           ompi_communicator_t* comm) {
  const auto leave = [&] {
    return next->allreduce(mine, result, count, type, op, comm, next->allreduce_module);
  };
  const library* const mpi = library_after_init();
  return mpi == nullptr
             ? leave()
             : tutti::preload::serve_allreduce(*mpi, mine, result, count, handle_of(type),
                                               handle_of(op), handle_of(comm), leave);
}

int tutti_served_ibarrier(const tutti_next_functions* next, ompi_communicator_t* comm,
                          ompi_request_t** request) {
  const auto leave = [&] { return next->ibarrier(comm, request, next->ibarrier_module); };
  const library* const mpi = library_after_init();
  return mpi == nullptr ? leave()
                        : tutti::preload::serve_ibarrier(*mpi, handle_of(comm), request, leave);
}
