// SPDX-License-Identifier: Apache-2.0
// The collective calls: which are served, and which are left to MPI. Whoever stands in the way of a
// call gives the function that leaves it: entries.cpp stands before MPI's functions, open_mpi/
// among Open MPI's own components.
//
// All ranks call the same operation with the same count, type and operation (MPI requires it), so
// all decide the same: to serve it, or to leave it to MPI.
#pragma once

#include <cstddef>

#include "preload/mpi/communicator.hpp"
#include "preload/mpi/inside_a_call.hpp"
#include "preload/mpi/library.hpp"
#include "preload/mpi/started_barriers.hpp"

namespace tutti::preload {

// The first barrier of a communicator, and each of one that is not served.
template <class Leave>
[[gnu::noinline]] int serve_first_barrier(const library& mpi, handle comm, Leave leave) noexcept {
  const inside_a_call now;
  communicator* const served = communicator::of(mpi, comm);
  return served == nullptr ? leave() : served->barrier();
}

template <class Leave>
int serve_barrier(const library& mpi, handle comm, Leave leave) noexcept {
  if (inside_a_call::already()) return leave();
  communicator* const known = communicator::of_if_known(mpi, comm);
  return known != nullptr ? known->barrier() : serve_first_barrier(mpi, comm, leave);
}

template <class Leave>
int serve_ibarrier(const library& mpi, handle comm, void* request, Leave leave) noexcept {
  if (inside_a_call::already()) return leave();
  const inside_a_call now;
  communicator* const served = communicator::of_if_known(mpi, comm);
  if (served == nullptr) return leave();
  if (served->polls_barriers()) return start_barrier(mpi, *served, request);
  served->note_passed_on();
  return leave();
}

// Broadcasts data that lies scattered: MPI packs and unpacks it.
int bcast_packed(const library& mpi, communicator& served, void* data, int count, handle type,
                 int root, handle comm, std::size_t bytes, bool is_root) noexcept;

template <class Leave>
int serve_bcast(const library& mpi, void* data, int count, handle type, int root, handle comm,
                Leave leave) noexcept {
  if (inside_a_call::already()) return leave();
  const inside_a_call now;
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

template <class Leave>
int serve_allreduce(const library& mpi, const void* mine, void* result, int count, handle type,
                    handle op, handle comm, Leave leave) noexcept {
  if (inside_a_call::already()) return leave();
  const inside_a_call now;
  communicator* const served = communicator::of(mpi, comm);
  if (served == nullptr) return leave();
  const reduction asked = served->reduction_by(type, op);
  const std::size_t bytes = count <= 0 ? 0 : static_cast<std::size_t>(count) * asked.bytes_each;
  if (asked.op == nullptr || bytes == 0 || bytes > room::most_bytes || result == nullptr) {
    served->note_passed_on();
    return leave();
  }
  return served->allreduce(mine == mpi.in_place ? result : mine, result,
                           static_cast<std::size_t>(count), bytes, asked.op, type, op);
}

}  // namespace tutti::preload
