// SPDX-License-Identifier: Apache-2.0
// The functions that the loader finds in place of MPI's.
//
// Both names of each are here. A program calls MPI_Barrier. A profiler that stands before the
// preload takes that call and calls PMPI_Barrier, as Open MPI's Fortran interface does. Whoever
// calls MPI_Barrier while a profiler stands behind the preload is sent there first, and that
// profiler calls PMPI_Barrier. So a profiler sees every call, on either side of the preload, and
// the preload serves every call.
//
// All ranks call the same operation with the same count, type and operation (MPI requires it), so
// all decide the same: to serve it, or to leave it to MPI.
#include <cstdint>

#include "preload/mpi/communicator.hpp"
#include "preload/mpi/library.hpp"
#include "preload/mpi/started_barriers.hpp"

namespace tutti::preload {
namespace {

// MPI's own functions may call each other by the names that are here; those calls are its own.
thread_local int depth = 0;
class inside_a_call {
 public:
  inside_a_call() noexcept { ++depth; }
  ~inside_a_call() { --depth; }
  inside_a_call(const inside_a_call&) = delete;
  inside_a_call& operator=(const inside_a_call&) = delete;
};

template <class Function, class... Arguments>
int leave_to_unknown(const char* name, Arguments... given) noexcept {
  return reinterpret_cast<Function>(unserved(name))(given...);
}

int barrier(const library& mpi, handle comm) noexcept {
  if (depth > 0) return mpi.barrier(comm);
  const inside_a_call now;
  communicator* const served = communicator::of(mpi, comm);
  return served == nullptr ? mpi.barrier(comm) : served->barrier();
}

int ibarrier(const library& mpi, handle comm, void* request) noexcept {
  if (depth > 0) return mpi.ibarrier(comm, request);
  const inside_a_call now;
  communicator* const served = communicator::of_if_known(mpi, comm);
  if (served == nullptr) return mpi.ibarrier(comm, request);
  if (served->polls_barriers()) return start_barrier(mpi, *served, request);
  served->note_passed_on();
  return mpi.ibarrier(comm, request);
}

// A broadcast of data that lies scattered: MPI packs and unpacks it.
int bcast_packed(const library& mpi, communicator& served, void* data, int count, handle type,
                 int root, handle comm, std::size_t bytes, bool is_root) noexcept {
  std::byte packed[room::most_bytes];
  const int size = static_cast<int>(bytes);
  int position = 0;
  if (is_root) {
    const int error = mpi.pack(data, count, type, packed, size, &position, comm);
    if (error != 0) return error;
  }
  const int error = served.bcast(packed, bytes, root);
  if (error != 0 || is_root) return error;
  position = 0;
  return mpi.unpack(packed, size, &position, data, count, type, comm);
}

int bcast(const library& mpi, void* data, int count, handle type, int root, handle comm) noexcept {
  if (depth > 0) return mpi.bcast(data, count, type, root, comm);
  const inside_a_call now;
  const auto leave = [&] { return mpi.bcast(data, count, type, root, comm); };
  const kind k = mpi.kind_of(type);
  int size = static_cast<int>(size_of(k));
  if (count <= 0 || (k == kind::none && mpi.type_size(type, &size) != 0)) return leave();
  const std::size_t bytes = static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
  communicator* const served = communicator::of(mpi, comm);
  if (served == nullptr) return leave();
  // Ranks may describe the same data by different types, but all find the same number of bytes.
  const bool is_valid = root >= 0 && root < served->size();
  if (bytes == 0 || bytes > room::most_bytes || !is_valid) {
    served->note_passed_on();
    return leave();
  }
  if (k != kind::none) return served->bcast(data, bytes, root);
  return bcast_packed(mpi, *served, data, count, type, root, comm, bytes, served->rank() == root);
}

int allreduce(const library& mpi, const void* mine, void* result, int count, handle type, handle op,
              handle comm) noexcept {
  if (depth > 0) return mpi.allreduce(mine, result, count, type, op, comm);
  const inside_a_call now;
  const kind k = mpi.kind_of(type);
  const combine combination = find_combine(mpi.operation_of(op), k);
  const std::size_t bytes = count <= 0 ? 0 : static_cast<std::size_t>(count) * size_of(k);
  communicator* const served = communicator::of(mpi, comm);
  if (served == nullptr) return mpi.allreduce(mine, result, count, type, op, comm);
  if (combination == nullptr || bytes == 0 || bytes > room::most_bytes || result == nullptr) {
    served->note_passed_on();
    return mpi.allreduce(mine, result, count, type, op, comm);
  }
  return served->allreduce(mine == mpi.in_place ? result : mine, result,
                           static_cast<std::size_t>(count), bytes, combination, count, type, op);
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

int tutti_pmpi_barrier(handle comm) noexcept {
  const library* const mpi = library::get();
  return mpi == nullptr ? leave_to_unknown<int (*)(handle)>("PMPI_Barrier", comm)
                        : barrier(*mpi, comm);
}
int tutti_mpi_barrier(handle comm) noexcept {
  const library* const mpi = library::get();
  return mpi != nullptr && mpi->next_barrier != nullptr ? mpi->next_barrier(comm)
                                                        : tutti_pmpi_barrier(comm);
}

int tutti_pmpi_ibarrier(handle comm, void* request) noexcept {
  const library* const mpi = library::get();
  return mpi == nullptr ? leave_to_unknown<int (*)(handle, void*)>("PMPI_Ibarrier", comm, request)
                        : ibarrier(*mpi, comm, request);
}
int tutti_mpi_ibarrier(handle comm, void* request) noexcept {
  const library* const mpi = library::get();
  return mpi != nullptr && mpi->next_ibarrier != nullptr ? mpi->next_ibarrier(comm, request)
                                                         : tutti_pmpi_ibarrier(comm, request);
}

int tutti_pmpi_bcast(void* data, int count, handle type, int root, handle comm) noexcept {
  const library* const mpi = library::get();
  return mpi == nullptr ? leave_to_unknown<int (*)(void*, int, handle, int, handle)>(
                              "PMPI_Bcast", data, count, type, root, comm)
                        : bcast(*mpi, data, count, type, root, comm);
}
int tutti_mpi_bcast(void* data, int count, handle type, int root, handle comm) noexcept {
  const library* const mpi = library::get();
  return mpi != nullptr && mpi->next_bcast != nullptr
             ? mpi->next_bcast(data, count, type, root, comm)
             : tutti_pmpi_bcast(data, count, type, root, comm);
}

int tutti_pmpi_allreduce(const void* mine, void* result, int count, handle type, handle op,
                         handle comm) noexcept {
  const library* const mpi = library::get();
  return mpi == nullptr
             ? leave_to_unknown<int (*)(const void*, void*, int, handle, handle, handle)>(
                   "PMPI_Allreduce", mine, result, count, type, op, comm)
             : allreduce(*mpi, mine, result, count, type, op, comm);
}
int tutti_mpi_allreduce(const void* mine, void* result, int count, handle type, handle op,
                        handle comm) noexcept {
  const library* const mpi = library::get();
  return mpi != nullptr && mpi->next_allreduce != nullptr
             ? mpi->next_allreduce(mine, result, count, type, op, comm)
             : tutti_pmpi_allreduce(mine, result, count, type, op, comm);
}

}  // namespace tutti::preload
