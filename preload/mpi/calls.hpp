// SPDX-License-Identifier: Apache-2.0
// The collective calls: which are served, and which are left to MPI. Whoever stands in the way of a
// call gives the function that leaves it: entries.cpp stands before MPI's functions, open_mpi/
// among Open MPI's own components.
//
// All ranks call the same operation with the same count, type and operation (MPI requires it), so
// all decide the same: to serve it, or to leave it to MPI.
//
// Only a call that is served sets its communicator up. A call with a mistake is left to MPI before
// that: perhaps only this rank makes it, and MPI tells it so. Communicators that have been freed
// are the exception, because MPI tells only by an error that they are such: then the call returns
// this error, so that the program is not told twice. The same holds for types that are not
// committed.
//
// No scope is open when MPI gets a call or may find a mistake, because an error handler may leave
// it by a jump or an exception.
#pragma once

#include <cstddef>

#include "preload/mpi/communicator.hpp"
#include "preload/mpi/inside_a_call.hpp"
#include "preload/mpi/library.hpp"
#include "preload/mpi/started_barriers.hpp"

namespace tutti::preload {

// Returns the communicator of a call if it is served; sets it up if this is its first call. `error`
// is what the call must return, if it is not 0: MPI has told the program that there is none.
communicator* find_or_set_up(const library& mpi, handle comm, int& error);

// The first barrier of a communicator, and each of one that is not served.
template <class Leave>
[[gnu::noinline]] int serve_first_barrier(const library& mpi, handle comm, Leave leave) {
  int error = 0;
  communicator* const served = find_or_set_up(mpi, comm, error);
  if (error != 0) return error;
  return served == nullptr ? leave() : served->barrier();
}

template <class Leave>
int serve_barrier(const library& mpi, handle comm, Leave leave) {
  if (inside_a_call::already()) return leave();
  communicator* const known = communicator::of_if_known(mpi, comm);
  return known != nullptr ? known->barrier() : serve_first_barrier(mpi, comm, leave);
}

template <class Leave>
int serve_ibarrier(const library& mpi, handle comm, void* request, Leave leave) {
  if (inside_a_call::already()) return leave();
  communicator* const served = communicator::of_if_known(mpi, comm);
  // Without a place for the request no barrier is started.
  if (served == nullptr || request == nullptr) return leave();
  if (served->polls_barriers()) {
    const inside_a_call now;
    return start_barrier(mpi, *served, request);
  }
  served->note_passed_on();
  return leave();
}

// The bytes of `count` values of `each` bytes, or one byte more than the preload serves if there
// are too many or less than none: the product of large counts and sizes fits into no number.
inline std::size_t bytes_of(large_count count, std::size_t each) noexcept {
  const auto values = static_cast<std::size_t>(count);
  return values > room::most_bytes ? room::most_bytes + 1 : values * each;
}

// A broadcast as the preload sees it.
struct broadcast {
  void* data;
  large_count count;
  handle type;
  int root;
  handle comm;
  // Ranks may describe the same data by different types, but all find the same number of bytes.
  std::size_t bytes = 0;
  // What the root has sent: another number if the program is wrong.
  std::size_t sent = 0;
  int error = 0;
};

// Performs it; returns false if it is left to MPI.
bool perform(const library& mpi, broadcast& b);

// `report` tells the program of a mistake that MPI has not seen, and returns the code.
template <class Leave, class Report>
int serve_bcast(const library& mpi, void* data, large_count count, handle type, int root,
                handle comm, Leave leave, Report report) {
  broadcast b{data, count, type, root, comm};
  if (inside_a_call::already() || !perform(mpi, b)) return leave();
  if (b.sent == b.bytes || b.error != 0) [[likely]]
    return b.error;
  if (b.sent > b.bytes) return report(mpi.truncated);
  // A larger buffer than the root's is a mistake, too, but Open MPI does not say so.
  return mpi.by == family::mpich ? report(mpi.other_error) : 0;
}

// Whether a reduction is one of those that the preload serves.
bool can_serve(const library& mpi, large_count count, handle type, handle op) noexcept;

template <class Leave>
int serve_allreduce(const library& mpi, const void* mine, void* result, large_count count,
                    handle type, handle op, handle comm, Leave leave) {
  if (inside_a_call::already()) return leave();
  const bool has_buffers =
      mine != nullptr && result != nullptr && mine != result && result != mpi.in_place;
  communicator* served = communicator::of_if_known(mpi, comm);
  if (served == nullptr) [[unlikely]] {
    int error = 0;
    if (has_buffers && can_serve(mpi, count, type, op)) served = find_or_set_up(mpi, comm, error);
    if (error != 0) return error;
  }
  if (served == nullptr) return leave();
  const reduction asked = served->reduction_by(type, op);
  const std::size_t bytes = bytes_of(count, asked.bytes_each);
  if (asked.op == nullptr || bytes == 0 || bytes > room::most_bytes || !has_buffers) {
    served->note_passed_on();
    return leave();
  }
  const inside_a_call now;
  return served->allreduce(mine == mpi.in_place ? result : mine, result,
                           static_cast<std::size_t>(count), bytes, asked.op, type, op);
}

}  // namespace tutti::preload
